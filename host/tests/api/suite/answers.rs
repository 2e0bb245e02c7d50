//! NumPy's answers, read from their file.

use std::sync::LazyLock;

use serde_json::{Map, Value};
use warpfold::{Buffer, Device, Error, View};

use super::number::Number;

/// The file's lines.
static LINES: LazyLock<Vec<Map<String, Value>>> = LazyLock::new(|| {
    // Included, because the program may run on a machine without the file.
    let text = include_str!("../../data/numpy/answers.jsonl");
    let parse = |line| serde_json::from_str(line).expect("every line is an object");
    text.lines().map(parse).collect()
});

/// An array of `T` with the answers for its parts.
pub struct Array<T: Number> {
    pub name: &'static str,
    pub elements: Vec<T>,
    pub parts: Vec<Part>,
}

/// The answers for some elements of an array.
pub struct Part {
    pub start: usize,
    pub n: usize,
    answers: &'static Map<String, Value>,
}

/// All arrays of `T`.
pub fn arrays<T: Number>() -> Vec<Array<T>> {
    let mut arrays: Vec<Array<T>> = vec![];
    let mut has_type = false;
    for line in LINES.iter() {
        if let Some(name) = line.get("type") {
            has_type = name == T::NAME;
            if has_type {
                arrays.push(Array {
                    name: line["set"].as_str().expect("a name"),
                    elements: numbers(&line["elements"]),
                    parts: vec![],
                });
            }
        } else if has_type {
            let integer = |key: &str| line[key].as_u64().expect("an integer") as usize;
            let array = arrays.last_mut().expect("an array precedes its answers");
            array.parts.push(Part {
                start: integer("start"),
                n: integer("n"),
                answers: line,
            });
        }
    }
    assert!(!arrays.is_empty(), "no arrays of {}", T::NAME);
    arrays
}

fn numbers<T: Number>(value: &Value) -> Vec<T> {
    let text = value.as_str().expect("a text of numbers");
    text.split(' ').map(T::parse).collect()
}

impl<T: Number> Array<T> {
    pub fn of(&self, part: &Part) -> &[T] {
        &self.elements[part.start..part.start + part.n]
    }

    pub fn upload(&self, device: &Device) -> Result<Buffer<T>, Error> {
        device.upload(&self.elements)
    }
}

impl Part {
    pub fn view<'a, T: Number>(&self, buffer: &'a Buffer<T>) -> Result<View<'a, T>, Error> {
        buffer.view(self.start..self.start + self.n)
    }

    /// A number; `None` if NumPy has no result, or if several results are right.
    pub fn number<N: Number>(&self, name: &str) -> Option<N> {
        match self.answer(name) {
            Value::Null => None,
            value => Some(N::parse(value.as_str().expect("a number's bits"))),
        }
    }

    /// An index or a count; `None` if NumPy has no result.
    pub fn count(&self, name: &str) -> Option<usize> {
        match self.answer(name) {
            Value::Null => None,
            value => Some(value.as_u64().expect("an integer") as usize),
        }
    }

    /// True or false.
    pub fn truth(&self, name: &str) -> bool {
        self.answer(name).as_bool().expect("true or false")
    }

    /// A number for each cell.
    pub fn cells<N: Number>(&self, name: &str) -> Vec<N> {
        let cells = self.answer(name).as_array().expect("one number per cell");
        let parse = |value: &Value| N::parse(value.as_str().expect("a number's bits"));
        cells.iter().map(parse).collect()
    }

    fn answer(&self, name: &str) -> &Value {
        let answer = self.answers.get(name);
        answer.unwrap_or_else(|| panic!("make.py has no answer `{name}`"))
    }
}
