//! The results of all parts: as a table, as JSON, and as a file.

use std::path::Path;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::failure::Failure;
use crate::parts::Named;

/// Up to so many results are all printed, as by NumPy.
const ALL: usize = 1000;

/// Of more results, so many first and last ones along each axis are printed.
const EDGE: usize = 3;

/// The length of a line, as NumPy's.
const LINE: usize = 75;

/// A result for each part: one number, or several with names.
#[derive(Debug)]
pub struct Results {
    pub shape: Vec<usize>,
    columns: Vec<Named>,
}

impl Results {
    /// Without a shape they have one dimension.
    pub fn new(shape: Option<Vec<usize>>, columns: Vec<Named>) -> Self {
        let len = columns.first().map_or(0, |(_, column)| column.len());
        let shape = shape.unwrap_or_else(|| vec![len]);
        Self { shape, columns }
    }

    /// The number of results.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    /// Writes the first number of each result.
    pub fn write(&self, output: &Path) -> Result<(), Failure> {
        match self.columns.first() {
            Some((_, column)) => column.write(&self.shape, output),
            None => Ok(()),
        }
    }

    /// The number of results that the table leaves out.
    pub fn left_out(&self) -> usize {
        let shown = self.shape.iter().map(|len| match self.is_shown(*len) {
            true => *len,
            false => 2 * EDGE,
        });
        self.len() - shown.product::<usize>().min(self.len())
    }

    /// Whether the table has all indices of an axis of this length.
    fn is_shown(&self, len: usize) -> bool {
        self.len() <= ALL || len <= 2 * EDGE
    }

    /// A table of each column; the numbers of a single result are on one line.
    pub fn lines(&self) -> Vec<String> {
        if self.shape.is_empty() {
            let numbers = self
                .columns
                .iter()
                .map(|(_, column)| shown(column.value(0)));
            return vec![numbers.collect::<Vec<_>>().join(" ")];
        }
        let mut lines = vec![];
        for (name, column) in &self.columns {
            if !name.is_empty() {
                lines.push((*name).to_owned());
            }
            let cell = |index| shown(column.value(index));
            let widths = self.indices().map(|index| cell(index).len());
            let width = widths.max().unwrap_or(0);
            lines.extend(self.table(0, 0, &|index| format!("{:>width$}", cell(index))));
        }
        lines
    }

    /// The indices of the results in the table.
    fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        let mut strides = vec![1; self.shape.len()];
        for axis in (1..self.shape.len()).rev() {
            strides[axis - 1] = strides[axis] * self.shape[axis];
        }
        let mut indices = vec![0];
        for (len, stride) in self.shape.iter().zip(strides) {
            let own = self.shown(*len);
            let inner = |outer: usize| own.iter().flatten().map(move |i| outer + i * stride);
            indices = indices.into_iter().flat_map(inner).collect();
        }
        indices.into_iter()
    }

    /// The indices of an axis in the table; `None` stands for those that are left out.
    fn shown(&self, len: usize) -> Vec<Option<usize>> {
        match self.is_shown(len) {
            true => (0..len).map(Some).collect(),
            false => {
                let (first, last) = (0..EDGE, len - EDGE..len);
                let first = first.map(Some).chain([None]);
                first.chain(last.map(Some)).collect()
            }
        }
    }

    /// The lines of the table of axis `axis` and those inside it, as NumPy prints them; `start` is the index of the first
    /// result.
    fn table(&self, axis: usize, start: usize, cell: &dyn Fn(usize) -> String) -> Vec<String> {
        let stride: usize = self.shape[axis + 1..].iter().product();
        let own = self.shown(self.shape[axis]);
        let at = |index: usize| start + index * stride;
        let mut lines: Vec<String> = vec![];
        if axis + 1 == self.shape.len() {
            let mut line = String::new();
            for index in own {
                let next = index.map_or("...".into(), |index| cell(at(index)));
                if !line.is_empty() && line.len() + 1 + next.len() + 2 * (axis + 1) > LINE {
                    lines.push(std::mem::take(&mut line));
                }
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(&next);
            }
            lines.push(line);
        } else {
            for (number, index) in own.into_iter().enumerate() {
                // Blank lines between blocks of more than one dimension.
                let blank = if number == 0 {
                    0
                } else {
                    self.shape.len() - axis - 2
                };
                lines.extend(std::iter::repeat_n(String::new(), blank));
                match index {
                    Some(index) => lines.extend(self.table(axis + 1, at(index), cell)),
                    None => lines.push("...".into()),
                }
            }
        }
        let last = lines.len().saturating_sub(1);
        let lines = lines.into_iter().enumerate();
        lines
            .map(|(number, line)| {
                let open = match (number, line.is_empty() && last > 0) {
                    (0, _) => "[",
                    (_, true) => "",
                    (_, false) => " ",
                };
                let close = if number == last { "]" } else { "" };
                format!("{open}{line}{close}")
            })
            .collect()
    }
}

/// A number; `-` if there is none.
fn shown(value: Option<crate::value::Value>) -> String {
    value.map_or("-".into(), |value| value.to_string())
}

/// Nested arrays of the results' shape. A result with names is an object; one that does not exist is null.
impl Serialize for Results {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Nested {
            results: self,
            axis: 0,
            start: 0,
        }
        .serialize(serializer)
    }
}

/// The results from index `start` on, of axis `axis` and those inside it.
struct Nested<'a> {
    results: &'a Results,
    axis: usize,
    start: usize,
}

impl Serialize for Nested<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Results { shape, columns } = self.results;
        if let Some(len) = shape.get(self.axis) {
            let stride: usize = shape[self.axis + 1..].iter().product();
            let mut sequence = serializer.serialize_seq(Some(*len))?;
            for index in 0..*len {
                sequence.serialize_element(&Nested {
                    results: self.results,
                    axis: self.axis + 1,
                    start: self.start + index * stride,
                })?;
            }
            return sequence.end();
        }
        let values = columns
            .iter()
            .map(|(name, column)| (*name, column.value(self.start)));
        let values: Vec<_> = values.collect();
        match values[..] {
            [(_, value)] => value.serialize(serializer),
            _ if values.iter().any(|(_, value)| value.is_none()) => serializer.serialize_none(),
            _ => {
                let mut map = serializer.serialize_map(Some(values.len()))?;
                for (name, value) in values {
                    map.serialize_entry(name, &value)?;
                }
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::column;

    fn results(shape: &[usize]) -> Results {
        let n: usize = shape.iter().product();
        let numbers: Vec<Option<i32>> = (0..n as i32).map(Some).collect();
        Results::new(Some(shape.into()), vec![column("", numbers)])
    }

    /// What NumPy prints for `np.arange(n).reshape(shape)`.
    #[test]
    fn tables_are_those_of_numpy() {
        let lines = |shape: &[usize]| results(shape).lines().join("\n");
        assert_eq!(lines(&[]), "0");
        assert_eq!(lines(&[0]), "[]");
        assert_eq!(lines(&[11]), "[ 0  1  2  3  4  5  6  7  8  9 10]");
        assert_eq!(lines(&[2, 3]), "[[0 1 2]\n [3 4 5]]");
        assert_eq!(lines(&[2, 2, 1]), "[[[0]\n  [1]]\n\n [[2]\n  [3]]]");
        assert_eq!(
            lines(&[30]),
            "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n 24 25 26 27 28 29]"
        );
        assert_eq!(lines(&[1001]), "[   0    1    2 ...  998  999 1000]");
        assert_eq!(
            lines(&[501, 2]),
            "[[   0    1]\n [   2    3]\n [   4    5]\n ...\n [ 996  997]\n [ 998  999]\n [1000 1001]]"
        );
        assert_eq!(results(&[501, 2]).left_out(), 1002 - 12);
        assert_eq!(results(&[1000]).left_out(), 0);
        assert_eq!(results(&[1001]).left_out(), 995);
    }

    #[test]
    fn json_has_the_shape() {
        let json = |shape: &[usize]| serde_json::to_string(&results(shape)).unwrap();
        assert_eq!(json(&[]), "0");
        assert_eq!(json(&[2, 0]), "[[],[]]");
        assert_eq!(json(&[2, 1, 2]), "[[[0,1]],[[2,3]]]");
        let both = vec![
            column("index", vec![Some(3i64), None]),
            column("value", vec![Some(0.5f32), None]),
        ];
        let both = Results::new(None, both);
        assert_eq!(
            serde_json::to_string(&both).unwrap(),
            r#"[{"index":3,"value":0.5},null]"#
        );
        assert_eq!(both.lines(), ["index", "[3 -]", "value", "[0.5   -]"]);
    }
}
