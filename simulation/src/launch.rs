//! The common launch function for entries of all rows.

use cuda_sim::{Failure, Plain, Report, Simulator};
use kernels_gpu::entry::{Entry, Parameter};

/// An array of a launch, a cell or a number, with its parameter's name.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    name: &'static str,
    start: *mut (),
    len: usize,
}

impl Array {
    /// A number, which is passed like the address of a cell.
    pub fn number(name: &'static str, number: u64) -> Self {
        Self::new(name, std::ptr::without_provenance::<()>(number as usize), 0)
    }

    /// The `len` elements from `start`.
    pub fn new<T>(name: &'static str, start: *const T, len: usize) -> Self {
        Self {
            name,
            start: start.cast_mut().cast(),
            len,
        }
    }
}

/// Launches the entry in the simulator's grid, with the operator and all other parameters by name.
///
/// # Errors
///
/// The simulator's findings.
///
/// # Panics
///
/// If there is no array for a parameter, or the operator has another type.
///
/// # Safety
///
/// The arrays exist and have the types of the entry's parameters, the operator has the entry's type, and the
/// launch satisfies the row's needs.
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
            Parameter::Cell(name, _) | Parameter::Plain(name, _) | Parameter::Number(name) => {
                (name, true)
            }
        };
        let array = arrays.iter().find(|array| array.name == name);
        let array = array.unwrap_or_else(|| panic!("{} needs `{name}`", entry.name));
        if let Parameter::Plain(..) = parameter {
            values.push(array.start);
            continue;
        }
        values.push((&raw const array.start).cast());
        if !is_cell {
            values.push((&raw const array.len).cast());
        }
    }
    let function = entry.function.expect("the feature `simulator` is enabled");
    simulator
        .kernel(entry.name)
        // SAFETY: the addresses of all parameters' values, in order; the rest is the caller's contract.
        .run(|| unsafe { function(values.as_ptr()) })
}

/// The bytes of an array.
pub fn bytes_of<T: Plain>(values: &[T]) -> Vec<u8> {
    let (start, bytes) = (values.as_ptr().cast::<u8>(), size_of_val(values));
    // SAFETY: plain values have no padding, so all bytes are initialised.
    unsafe { std::slice::from_raw_parts(start, bytes) }.to_vec()
}
