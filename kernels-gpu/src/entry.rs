//! The tables from which generic bodies become named entry points: a family of kernels, a file.
//!
//! The host launches by the names in these tables, so a name cannot drift; a test holds them
//! against the PTX. Each family becomes modules of PTX by itself, one for each type of element, so
//! that the driver compiles no more than a program uses.
//!
//! The entries of [`ENTRIES`] are named `<kernel>_<operator>_<element>`, `reduce_2_sum_i32`, and
//! have the same four parameters, the scalars that Rust-CUDA's `#[kernel]` makes of a slice and of
//! a pointer with its length:
//!
//! ```text
//! input: *const T, input_len: u64, output: *mut O::Acc, output_len: u64
//! ```
//!
//! A family with parameters of its own has its own type of row, in its own file.
//!
//! On the host the tables are all there is, and the entry points only where the feature `simulator` asks
//! for them: they are many, and a program that launches them on a GPU needs their names alone.

#![cfg_attr(
    not(any(feature = "simulator", target_arch = "nvptx64")),
    allow(unused_imports, dead_code, reason = "what only the entry points use")
)]

#[macro_use]
mod product;

pub mod copy;
pub mod kepler;
pub mod keyed;
pub mod ladder;
pub mod single_pass;
pub mod triple;

use crate::needs::{Load, Needs};

/// All reductions.
pub const ENTRIES: &[Entry] = flat!(&[ladder::ENTRIES], &[kepler::ENTRIES]);

/// All families, reductions or not.
pub const FAMILIES: &[Family] = &[
    family!(ladder),
    family!(kepler),
    family!(keyed),
    family!(copy),
    family!(triple),
    family!(single_pass),
];

/// The entry points of a file of this folder, whatever their parameters.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The file's name: `"ladder"`.
    pub name: &'static str,
    /// Its entry points.
    pub symbols: &'static [Symbol],
}

/// Where an entry point is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Symbol {
    /// The name in the module: `"reduce_2_sum_i32"`.
    pub name: &'static str,
    /// The module of PTX: `"ladder_i32"`.
    pub module: &'static str,
}

/// An entry point on the host, whatever its element type: the input and the output, each by its
/// address and its number of elements.
///
/// # Safety
///
/// Both are aligned and as long as they say, the input of the entry's element type and the output of
/// its operator's accumulators; the rest is as the kernel's generic body asks.
#[cfg(feature = "simulator")]
pub type Function = unsafe fn(*const (), usize, *mut (), usize);

/// What a launch of a single pass is given, whatever the types: where it is, and for how many elements.
#[cfg(feature = "simulator")]
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    /// The input.
    pub input: *const (),
    /// The second input of those that read two.
    pub other: *const (),
    /// The elements of the input, and of the other.
    pub len: usize,
    /// The value of those that read one.
    pub value: *const (),
    /// The words of the partials.
    pub partials: *mut u64,
    /// For how many partials there is room.
    pub partials_len: usize,
    /// From which blocks draw their numbers.
    pub tickets: *mut u32,
    /// The cell of the result.
    pub result: *mut (),
}

/// One entry point of the PTX modules.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The symbol in the module: `"reduce_2_sum_i32"`.
    pub name: &'static str,
    /// The module of PTX that has it: `"ladder_i32"`.
    pub module: &'static str,
    /// The kernel: `"reduce_2"`.
    pub kernel: &'static str,
    /// The operator: `"sum"`; [`Op::NAME`](crate::op::Op::NAME).
    pub op: &'static str,
    /// The element type: `"i32"`; [`Element::NAME`](crate::element::Element::NAME).
    pub element: &'static str,
    /// How many bytes an element has.
    pub element_bytes: usize,
    /// How many bytes an accumulator has: an element of the output, and of scratch.
    pub acc_bytes: usize,
    /// What the kernel needs of its launch.
    pub needs: Needs,
    /// The very function that the module's entry was made from, for simulators.
    #[cfg(feature = "simulator")]
    pub function: Function,
}

impl Entry {
    /// How many elements a load brings.
    pub fn load_elements(&self) -> usize {
        match self.needs.load {
            Load::Element => 1,
            Load::Bytes(bytes) => bytes / self.element_bytes,
            Load::Elements(elements) => elements,
        }
    }

    /// How many elements after another the input may start.
    pub fn start_elements(&self) -> usize {
        match self.needs.load {
            Load::Bytes(bytes) => bytes / self.element_bytes,
            Load::Element | Load::Elements(_) => 1,
        }
    }
}

/// What a kernel needs of its launch, whatever the operator and the element.
pub fn needs(kernel: &str) -> Option<Needs> {
    let entry = ENTRIES.iter().find(|entry| entry.kernel == kernel)?;
    Some(entry.needs)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::{ENTRIES, Entry, FAMILIES};
    use std::collections::BTreeSet;
    use std::format;

    #[test]
    fn names_are_made_of_their_parts_and_differ() {
        let mut seen = BTreeSet::new();
        for Entry {
            name,
            kernel,
            op,
            element,
            needs,
            ..
        } in ENTRIES
        {
            assert_eq!(super::needs(kernel), Some(*needs), "two of {kernel}");
            assert_eq!(*name, format!("{kernel}_{op}_{element}"));
            assert!(seen.insert(name), "{name} stands twice in the table");
        }
    }

    #[test]
    fn every_reduction_is_of_one_family_and_no_symbol_of_two() {
        let mut symbols = BTreeSet::new();
        for family in FAMILIES {
            for symbol in family.symbols {
                let name = symbol.name;
                assert!(symbols.insert(name), "{name} stands twice in the tables");
                assert!(symbol.module.starts_with(family.name), "{symbol:?}");
            }
        }
        for Entry { name, .. } in ENTRIES {
            assert!(symbols.contains(name), "{name} is of no family");
        }
    }
}
