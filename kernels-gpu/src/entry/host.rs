//! The host side of entry points: table rows, and the traits that connect operators with rows.

use crate::element::Element;
use crate::items::Items;
use crate::keyed::Key;
use crate::needs::{Load, Needs};
use crate::op::Op;

/// A list of entry points, made by [`kernels!`](crate::kernels).
#[derive(Debug)]
pub struct Kernels {
    /// The name of the package that contains the kernels.
    pub name: &'static str,
    /// The rows; `entries[i].index` is `i`.
    pub entries: &'static [Entry],
}

/// A row of the table: one entry point.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The symbol in its module, such as `"reduce_2_sum_i32"`.
    pub name: &'static str,
    /// The PTX module, such as `"ladder_i32"`.
    pub module: &'static str,
    /// The kernel, such as `"reduce_2"`.
    pub kernel: &'static str,
    /// The operator, such as `"sum"`; empty for copies and runs.
    pub op: &'static str,
    /// The items, such as `"i32"` or `"f32_f32"`.
    pub items: &'static str,
    /// The type of the keys; empty without keys.
    pub key: &'static str,
    /// The bytes of an element of each input array, keys first; 0 for no array.
    pub read_bytes: [usize; 3],
    /// The bytes of an accumulator, which is an element of the output.
    pub acc_bytes: usize,
    /// The number of arrays of values of a keyed kernel; 1 for all others.
    pub arrays: usize,
    /// The exponent of the lowest digit's lowest bit, for an exact sum; 0 for all others.
    pub lowest: i32,
    /// The requirements on the launch.
    pub needs: Needs,
    /// The parameters, in order.
    pub parameters: &'static [Parameter],
    /// The function from which the entry point was made, if the simulator can call it.
    pub function: Option<Function>,
    /// The list that contains the row.
    pub set: &'static Kernels,
    /// The index of the row in its list.
    pub index: usize,
}

/// An entry point on the host. Its argument has the address of each parameter's value, in order, as for
/// `cuLaunchKernel`.
///
/// # Safety
///
/// The values exist and have the types of the row's [parameters](Entry::parameters). The memory that they point
/// to is as the kernel's generic body requires.
pub type Function = unsafe fn(*const *const ());

/// A parameter of an entry point, or two that form a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A read-only slice: address and number of elements; with the bytes of an element.
    Input(&'static str, usize),
    /// A slice that is written: address and number of elements; with the bytes of an element.
    Output(&'static str, usize),
    /// The address of a cell, with its bytes.
    Cell(&'static str, usize),
    /// An operator, with its bytes; no parameter if it has none.
    Value(usize),
    /// A structure of numbers, with its bytes.
    Plain(&'static str, usize),
    /// A number of 64 bits.
    Number(&'static str),
}

/// A reader for the values of an entry point's parameters.
#[doc(hidden)]
#[cfg(feature = "simulator")]
#[derive(Debug)]
pub struct Values(pub *const *const ());

#[cfg(feature = "simulator")]
impl Values {
    /// Reads the next value.
    ///
    /// # Safety
    ///
    /// There is another value, and it has this type.
    pub unsafe fn take<T: Copy>(&mut self) -> T {
        // SAFETY: the caller's contract.
        unsafe {
            let value = (*self.0).cast::<T>().read_unaligned();
            self.0 = self.0.add(1);
            value
        }
    }

    /// Reads the next two values as a slice.
    ///
    /// # Safety
    ///
    /// They are the address and the length of a slice.
    pub unsafe fn slice<'a, T>(&mut self) -> &'a [T] {
        // SAFETY: the caller's contract.
        unsafe {
            let (start, len) = (self.take(), self.take());
            core::slice::from_raw_parts(start, len)
        }
    }

    /// Reads the next value as an operator, unless the operator has no bytes.
    ///
    /// # Safety
    ///
    /// There is another value, and it has this type.
    pub unsafe fn operator<O: crate::op::Value>(&mut self) -> O {
        if size_of::<O>() == 0 {
            // SAFETY: a type of size 0 has one value, and reading it accesses no memory.
            return unsafe { core::ptr::NonNull::<O>::dangling().read() };
        }
        // SAFETY: the caller's contract.
        unsafe { self.take() }
    }
}

/// An operator with a single-pass kernel for these items, as `warpfold::Device::reduce` requires.
/// [`kernels!`](crate::kernels) implements it.
///
/// ```
/// use kernels_gpu::entry::SinglePass;
/// use kernels_gpu::prelude::*;
///
/// /// The largest absolute value.
/// #[derive(Clone, Copy, Debug, Value)]
/// pub struct Largest;
///
/// impl Op<f32> for Largest {
///     type Acc = f32;
///     type Output = f32;
///
///     fn identity(&self) -> f32 {
///         0.0
///     }
///
///     fn lift(&self, x: f32, _index: u64) -> f32 {
///         x.abs()
///     }
///
///     fn combine(&self, a: f32, b: f32) -> f32 {
///         if a < b { b } else { a }
///     }
///
///     fn finish(&self, acc: f32) -> f32 {
///         acc
///     }
/// }
///
/// kernels! {
///     /// The kernels of this crate.
///     pub static KERNELS:
///     single_pass { Largest: f32; }
/// }
///
/// fn main() {
///     assert_eq!(<Largest as SinglePass<f32>>::ENTRY.name, "single_pass_largest_f32");
///     assert_eq!(KERNELS.entries.len(), 1);
/// }
/// ```
///
/// A combination without a kernel does not compile:
///
/// ```compile_fail,E0277
/// use kernels_gpu::entry::SinglePass;
/// use kernels_gpu::op::And;
///
/// fn reduce<O: SinglePass<f32>>(op: O) {}
///
/// reduce(And); // `And` is not defined for floats
/// ```
///
/// An accumulator of more than 128 bytes does not compile either:
///
/// ```compile_fail,E0080
/// # use kernels_gpu::prelude::*;
/// # #[derive(Clone, Copy, Debug, Value)]
/// # pub struct Histogram;
/// impl Op<u8> for Histogram {
///     type Acc = [u64; 17]; // 136 bytes
/// #   type Output = [u64; 17];
/// #   fn identity(&self) -> [u64; 17] { [0; 17] }
/// #   fn lift(&self, _: u8, _: u64) -> [u64; 17] { [0; 17] }
/// #   fn combine(&self, a: [u64; 17], _: [u64; 17]) -> [u64; 17] { a }
/// #   fn finish(&self, acc: [u64; 17]) -> [u64; 17] { acc }
///     // ...
/// }
///
/// kernels! { pub static KERNELS: single_pass { Histogram: u8; } }
/// # fn main() {}
/// ```
///
/// # Safety
///
/// `ENTRY` is an entry point for this operator over these items.
#[diagnostic::on_unimplemented(
    message = "there is no single-pass kernel for `{Self}` over `{I}`",
    label = "no kernel reduces `{I}` by `{Self}`",
    note = "add the line `{Self}: {I};` to the family `single_pass` of a `kernels!` list, in the crate that \
            defines the operator or the element"
)]
pub unsafe trait SinglePass<I: Items>: Op<I> {
    /// The row.
    const ENTRY: &'static Entry;
}

/// An operator with kernels for segments of these items, as `warpfold::Device::reduce_segments` requires.
///
/// # Safety
///
/// `ENTRIES` are the two entry points for this operator over these items.
#[diagnostic::on_unimplemented(
    message = "there is no kernel that reduces segments of `{I}` by `{Self}`",
    label = "no kernel for segments",
    note = "add the line `{Self}: {I};` to the family `segments` of a `kernels!` list, in the crate that \
            defines the operator or the element"
)]
pub unsafe trait Segments<I: Items>: Op<I> {
    /// The rows, one for each kernel.
    const ENTRIES: &'static [Entry];
}

/// An element whose runs a kernel finds, as `warpfold::Device::reduce_runs` requires.
///
/// The library has the kernels for `u32`, `i32`, `u64` and `i64`; a crate adds its own elements by `runs { PartialEq: Name;
/// }` in a `kernels!` list. Two elements are equal if `==` says so.
///
/// ```
/// use kernels_gpu::entry::RunKey;
/// use kernels_gpu::prelude::*;
///
/// #[derive(Clone, Copy, Debug, PartialEq, Element)]
/// #[repr(C)]
/// pub struct Cell {
///     row: u32,
///     column: u32,
/// }
///
/// kernels! {
///     /// The kernels of this crate.
///     pub static KERNELS:
///     runs { PartialEq: Cell; }
/// }
///
/// fn main() {
///     assert_eq!(<Cell as RunKey>::ENTRY.name, "find_runs_cell");
/// }
/// ```
///
/// # Safety
///
/// `ENTRY` is the entry point for this element, or for one of the same size that is equal if and only if its bits are.
#[diagnostic::on_unimplemented(
    message = "there is no kernel that finds runs of `{Self}`",
    label = "no kernel for runs of this key",
    note = "keys may be `u32`, `i32`, `u64` or `i64`; for an element of yours, add the line `PartialEq: {Self};` to the \
            family `runs` of a `kernels!` list, in the crate that defines the element"
)]
pub unsafe trait RunKey: Element {
    /// The row.
    const ENTRY: &'static Entry;
}

#[cfg(feature = "library")]
macro_rules! signed_run_keys {
    ($($key:ident as $unsigned:ident),*) => { $(
        // SAFETY: the entry point is for numbers of the same size, which are equal if their bits are.
        unsafe impl RunKey for $key {
            const ENTRY: &'static Entry = <$unsigned as RunKey>::ENTRY;
        }
    )* };
}

#[cfg(feature = "library")]
signed_run_keys!(i32 as u32, i64 as u64);

/// An operator with kernels for axes of arrays of these items, as `warpfold::Device::reduce_axis` requires. It also needs those
/// for [segments](Segments), because the innermost axes of an array are rows.
///
/// # Safety
///
/// `ENTRIES` are the two entry points for this operator over these items.
#[diagnostic::on_unimplemented(
    message = "there is no kernel that reduces axes of `{I}` by `{Self}`",
    label = "no kernel for axes",
    note = "add the line `{Self}: {I};` to the families `segments` and `axes` of a `kernels!` list, in the crate that \
            defines the operator or the element"
)]
pub unsafe trait Axes<I: Items>: Segments<I> {
    /// The rows, one for each kernel.
    const ENTRIES: &'static [Entry];
}

/// An operator with the kernels of the Harris ladder and of the Kepler families.
///
/// These kernels change the order of the elements, so the operator must be commutative:
///
/// ```compile_fail,E0080
/// # use kernels_gpu::prelude::*;
/// # #[derive(Clone, Copy, Debug, Value)]
/// # pub struct First;
/// impl Op<u64> for First {
///     const COMMUTATIVE: bool = false;
/// #   type Acc = u64;
/// #   type Output = u64;
/// #   fn identity(&self) -> u64 { 0 }
/// #   fn lift(&self, x: u64, _: u64) -> u64 { x }
/// #   fn combine(&self, a: u64, b: u64) -> u64 { if a == 0 { b } else { a } }
/// #   fn finish(&self, acc: u64) -> u64 { acc }
///     // ...
/// }
/// # impl AtomicOp<u64> for First {
/// #   unsafe fn combine_atomic_device(&self, _: *mut u64, _: u64) {}
/// #   unsafe fn combine_atomic_block(&self, _: *mut u64, _: u64) {}
/// # }
///
/// kernels! { pub static KERNELS: ladder { First: u64; } }
/// # fn main() {}
/// ```
///
/// # Safety
///
/// `ENTRIES` are entry points for this operator over this element.
#[diagnostic::on_unimplemented(
    message = "there are no ladder kernels for `{Self}` over `{T}`",
    label = "no rung reduces `{T}` by `{Self}`",
    note = "add the line `{Self}: {T};` to the family `ladder` of a `kernels!` list, in the crate that \
            defines the operator or the element"
)]
pub unsafe trait Ladder<T: Items>: Op<T, Acc = T> {
    /// The rows, one for each kernel.
    const ENTRIES: &'static [Entry];
}

/// An operator with the read-ceiling kernel.
///
/// # Safety
///
/// `ENTRIES` is its entry point for this operator over this element.
#[diagnostic::on_unimplemented(
    message = "there is no read-ceiling kernel for `{T}`",
    note = "there are kernels for `i32`, `i64`, `f32` and `f64`"
)]
pub unsafe trait Ceiling<T: Items>: Op<T, Acc = T> {
    /// The row.
    const ENTRIES: &'static [Entry];
}

/// An operator with kernels for reduction by key.
///
/// A list names keys of `u32` and `u64`. The kernels by `u32` also accept keys of 8 and 16 bits, and both accept
/// signed keys.
///
#[cfg_attr(feature = "library", doc = "```")]
#[cfg_attr(not(feature = "library"), doc = "```ignore")]
/// use kernels_gpu::entry::Keyed;
/// use kernels_gpu::op::Sum;
///
/// assert_eq!(<Sum as Keyed<i32, f32>>::ENTRIES[0].name, "keyed_atomic_sum_f32_by_u32");
/// assert_eq!(<Sum as Keyed<u8, f32>>::ENTRIES[0].name, "keyed_atomic_sum_f32_by_u32");
/// ```
///
/// A combination without a kernel does not compile:
///
/// ```compile_fail,E0277
/// use kernels_gpu::entry::Keyed;
/// use kernels_gpu::op::Sum;
///
/// fn reduce<O: Keyed<i32, i16>>(op: O) {}
///
/// reduce(Sum); // no kernel has cells of `i16`
/// ```
///
/// # Safety
///
/// `ENTRIES` are entry points for this operator over this element that accept keys of this size.
#[diagnostic::on_unimplemented(
    message = "there is no kernel that reduces `{T}` by `{Self}` with keys of `{K}`",
    label = "no kernel for these types",
    note = "add the line `{Self}: {T} by {K};` to the family `keyed` of a `kernels!` list, in the crate \
            that defines the operator or the element"
)]
pub unsafe trait Keyed<K: Key, T: Items>: Op<T, Acc = T> {
    /// The rows, one for each kernel.
    const ENTRIES: &'static [Entry];
}

macro_rules! other_keys {
    ($($key:ident as $wide:ident),*) => { $(
        // SAFETY: the entry points by `u32` load keys of the width that the launch gives, and those by `u64` keys of
        // 64 bits. They read a negative key as a number that is not below `MOST_CELLS`.
        unsafe impl<T: Items, O: Keyed<$wide, T>> Keyed<$key, T> for O {
            const ENTRIES: &'static [Entry] = <O as Keyed<$wide, T>>::ENTRIES;
        }
    )* };
}

other_keys!(
    u8 as u32, i8 as u32, u16 as u32, i16 as u32, i32 as u32, i64 as u64
);

/// An operator with kernels for triples.
///
/// # Safety
///
/// `ENTRIES` are entry points for this operator over this element.
#[diagnostic::on_unimplemented(
    message = "there is no kernel that reduces triples of `{T}` by `{Self}`",
    note = "there are kernels for sums of `i32`, `f32` and `f64`"
)]
pub unsafe trait Triple<T: Items>: Op<T, Acc = T> {
    /// The rows, one for each kernel.
    const ENTRIES: &'static [Entry];
}

impl Entry {
    /// The default values of a row; the family's macro sets the others.
    #[doc(hidden)]
    pub const EMPTY: Self = Self {
        name: "",
        module: "",
        kernel: "",
        op: "",
        items: "",
        key: "",
        read_bytes: [0; 3],
        acc_bytes: 0,
        arrays: 1,
        lowest: 0,
        needs: Needs::tree(1),
        parameters: &[],
        function: None,
        set: &Kernels {
            name: "",
            entries: &[],
        },
        index: 0,
    };

    /// The number of items per load.
    pub const fn load_items(&self) -> usize {
        match self.needs.load {
            Load::Element => 1,
            Load::Bytes(bytes) => bytes / self.read_bytes[0],
            Load::Elements(elements) => elements,
        }
    }

    /// The number of elements by which the input's start may be shifted without a change in alignment.
    pub const fn start_elements(&self) -> usize {
        match self.needs.load {
            Load::Bytes(bytes) => bytes / self.read_bytes[0],
            Load::Element | Load::Elements(_) => 1,
        }
    }

    /// The bytes of a partial in temporary storage: each 64-bit word contains 32 bits of the value.
    pub const fn partial_bytes(&self) -> usize {
        self.acc_bytes.div_ceil(size_of::<u32>()) * size_of::<u64>()
    }
}

/// The row of a kernel, if the operator has it for these items.
pub fn find(rows: &'static [Entry], kernel: &str) -> Option<&'static Entry> {
    rows.iter().find(|row| row.kernel == kernel)
}

/// The row of the exact sum that has the same result as this single-pass reduction, if its list has one.
pub fn exact_of(entry: &Entry) -> Option<&'static Entry> {
    // The wide sum differs only in its result.
    let op = match entry.op {
        "sum_wide" => "sum",
        op => op,
    };
    let mut rows = entry.set.entries.iter();
    rows.find(|row| row.kernel == "exact" && row.op == op && row.items == entry.items)
}

/// The number of rows.
#[doc(hidden)]
pub const fn count(tables: &[&[Entry]]) -> usize {
    let (mut total, mut t) = (0, 0);
    while t < tables.len() {
        total += tables[t].len();
        t += 1;
    }
    total
}

/// All rows, each with its index.
#[doc(hidden)]
pub const fn numbered<const LEN: usize>(
    tables: &[&[Entry]],
    set: &'static Kernels,
) -> [Entry; LEN] {
    let mut all = [Entry::EMPTY; LEN];
    let (mut len, mut t) = (0, 0);
    while t < tables.len() {
        let mut i = 0;
        while i < tables[t].len() {
            all[len] = tables[t][i];
            all[len].set = set;
            all[len].index = len;
            len += 1;
            i += 1;
        }
        t += 1;
    }
    all
}

/// The index of the first row of a table.
#[doc(hidden)]
pub const fn start(tables: &[&[Entry]], number: usize) -> usize {
    count(tables.split_at(number).0)
}

/// The rows of a table.
#[doc(hidden)]
pub const fn part(rows: &'static [Entry], tables: &[&[Entry]], number: usize) -> &'static [Entry] {
    let behind = rows.split_at(start(tables, number)).1;
    behind.split_at(tables[number].len()).0
}

#[cfg(all(test, feature = "library"))]
mod tests {
    extern crate std;
    use super::*;
    use crate::entry::library;
    use std::collections::BTreeSet;
    use std::format;
    use std::vec::Vec;

    fn all() -> Vec<&'static Entry> {
        #[cfg(feature = "teaching")]
        let lists = [&library::KERNELS, &crate::entry::teaching::KERNELS];
        #[cfg(not(feature = "teaching"))]
        let lists = [&library::KERNELS];
        lists.iter().flat_map(|list| list.entries).collect()
    }

    #[test]
    fn names_are_made_of_their_parts_and_differ() {
        let mut seen = BTreeSet::new();
        for entry in all() {
            let Entry {
                kernel,
                op,
                items,
                key,
                ..
            } = entry;
            let parts = [*kernel, op, items]
                .into_iter()
                .filter(|part| !part.is_empty());
            let mut name = parts.collect::<Vec<_>>().join("_");
            if !key.is_empty() {
                name += &format!("_by_{key}");
            }
            assert_eq!(entry.name, name);
            assert!(seen.insert(entry.name), "{name} occurs twice in the tables");
            assert!(entry.module.ends_with(items), "{entry:?}");
        }
    }

    #[test]
    fn rows_know_their_indices() {
        for list in [&library::KERNELS] {
            for (i, entry) in list.entries.iter().enumerate() {
                assert!(
                    entry.index == i && core::ptr::eq(entry.set, list),
                    "{entry:?}"
                );
            }
        }
        let sum = <crate::op::Sum as SinglePass<f32>>::ENTRY;
        assert_eq!(
            (sum.name, sum.needs.load),
            ("single_pass_sum_f32", Load::Elements(4))
        );
    }
}
