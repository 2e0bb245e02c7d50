//! Which kernels are profiled.

use anyhow::Result;
use warpfold::Algorithm;

use crate::options::BadOption;

/// An entry point: the sum of one element type by one rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub algorithm: Algorithm,
    pub element: Element,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Element {
    const ALL: [Element; 6] = [
        Element::I32,
        Element::U32,
        Element::I64,
        Element::U64,
        Element::F32,
        Element::F64,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Element::I32 => "i32",
            Element::U32 => "u32",
            Element::I64 => "i64",
            Element::U64 => "u64",
            Element::F32 => "f32",
            Element::F64 => "f64",
        }
    }
}

impl Entry {
    /// Its symbol, as `reduce_2_sum_i32`.
    pub fn name(self) -> String {
        format!(
            "{}_sum_{}",
            self.algorithm.kernel_name(),
            self.element.name()
        )
    }

    /// The entry that is called `name`.
    pub fn named(name: &str) -> Result<Entry> {
        let all = Algorithm::LADDER
            .iter()
            .flat_map(|&algorithm| Element::ALL.map(|element| Entry { algorithm, element }));
        let found = all.into_iter().find(|entry| entry.name() == name);
        found.ok_or_else(|| {
            BadOption::new(format!(
                "no rung of the ladder has an entry {name}; entries are named as reduce_2_sum_i32"
            ))
            .into()
        })
    }

    /// Every rung on `i32`; on `f32` and `f64` those whose trees differ, by which the rules of the
    /// banks can be told apart.
    pub fn ladder() -> Vec<Entry> {
        let with = |element| move |&algorithm| Entry { algorithm, element };
        let trees = [
            Algorithm::Reduce0,
            Algorithm::Reduce1,
            Algorithm::Reduce2,
            Algorithm::Reduce4,
        ];
        Algorithm::LADDER
            .iter()
            .map(with(Element::I32))
            .chain(trees.iter().map(with(Element::F32)))
            .chain(trees.iter().map(with(Element::F64)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_found_by_its_name() {
        for entry in Entry::ladder() {
            assert_eq!(Entry::named(&entry.name()).unwrap(), entry);
        }
        for name in ["", "reduce_9_sum_i32", "reduce_2_sum_i16", "reduce_2"] {
            let error = Entry::named(name).unwrap_err();
            assert!(error.is::<BadOption>(), "{error}");
        }
    }

    #[test]
    fn the_ladder_has_every_rung_once() {
        let names: Vec<_> = Entry::ladder().iter().map(|entry| entry.name()).collect();
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        for algorithm in Algorithm::LADDER {
            assert!(names.contains(&format!("{}_sum_i32", algorithm.kernel_name())));
        }
    }
}
