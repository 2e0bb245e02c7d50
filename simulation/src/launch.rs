//! Launching an entry: the one launch there is, of any row.

use cuda_sim::{Failure, Plain, Report, Simulator};
use kernels_gpu::entry::{Entry, Parameter};

/// An array of a launch, or a cell, by its parameter's name.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    name: &'static str,
    start: *mut (),
    len: usize,
}

impl Array {
    /// The `len` elements from `start`.
    pub fn new<T>(name: &'static str, start: *const T, len: usize) -> Self {
        Self {
            name,
            start: start.cast_mut().cast(),
            len,
        }
    }
}

/// Launches the entry in the simulator's grid: with the operator, and each other parameter by its name.
///
/// # Errors
///
/// What the simulator finds.
///
/// # Panics
///
/// When the entry has a parameter for which there is no array, or another operator.
///
/// # Safety
///
/// The arrays are there and of the types of the entry's parameters, the operator is of the entry's type,
/// and the launch is as the row's needs say.
pub unsafe fn launch<O: Copy>(
    entry: &Entry,
    simulator: Simulator,
    op: O,
    arrays: &[Array],
) -> Result<Report, Failure> {
    let mut values: Vec<*const ()> = vec![];
    for parameter in entry.parameters {
        let (name, is_cell) = match *parameter {
            Parameter::Value(bytes) => {
                assert_eq!(bytes, size_of::<O>(), "the operator of {}", entry.name);
                if bytes > 0 {
                    values.push((&raw const op).cast());
                }
                continue;
            }
            Parameter::Input(name, _) | Parameter::Output(name, _) => (name, false),
            Parameter::Cell(name, _) => (name, true),
        };
        let array = arrays.iter().find(|array| array.name == name);
        let array = array.unwrap_or_else(|| panic!("{} needs `{name}`", entry.name));
        values.push((&raw const array.start).cast());
        if !is_cell {
            values.push((&raw const array.len).cast());
        }
    }
    let function = entry.function.expect("the feature `simulator` is on");
    simulator
        .kernel(entry.name)
        // SAFETY: the addresses of the values of all parameters, in their order; the rest is the caller's.
        .run(|| unsafe { function(values.as_ptr()) })
}

/// The bytes of an array.
pub fn bytes_of<T: Plain>(values: &[T]) -> Vec<u8> {
    let (start, bytes) = (values.as_ptr().cast::<u8>(), size_of_val(values));
    // SAFETY: plain values have no padding, and so as many initialised bytes.
    unsafe { std::slice::from_raw_parts(start, bytes) }.to_vec()
}
