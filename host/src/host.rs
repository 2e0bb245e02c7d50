//! Allocation of host memory; a failure is an error, not an abort.

use crate::element::{self, Element};
use crate::error::Error;

/// Allocates `len` elements, all bytes zero.
pub(crate) fn zeroes<T: Element>(len: usize) -> Result<Vec<T>, Error> {
    filled(len, element::zero())
}

/// Allocates `len` copies of `value`.
pub(crate) fn filled<T: Element>(len: usize, value: T) -> Result<Vec<T>, Error> {
    let mut values = reserved(len)?;
    values.resize(len, value);
    Ok(values)
}

pub(crate) fn copy<T: Element>(data: &[T]) -> Result<Vec<T>, Error> {
    let mut values = reserved(data.len())?;
    values.extend_from_slice(data);
    Ok(values)
}

/// The error for an allocation of `wanted` bytes by the driver that failed with `error`.
pub(crate) fn allocation_error(wanted: u64, error: Error) -> Error {
    match error.is_out_of_memory() {
        true => Error::OutOfHostMemory { wanted },
        false => error,
    }
}

/// The bytes of the elements.
pub(crate) fn bytes<T: Element>(elements: &[T]) -> &[u8] {
    // SAFETY: all of these bytes are initialised, because an element has no padding (`Plain`).
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// The bytes of the elements, to be overwritten.
pub(crate) fn bytes_mut<T: Element>(elements: &mut [T]) -> &mut [u8] {
    let (start, len) = (elements.as_mut_ptr().cast(), size_of_val(elements));
    // SAFETY: these are the bytes of `elements`, borrowed mutably. They are initialised, because an element
    // has no padding, and any bytes are a valid element (`Plain`).
    unsafe { std::slice::from_raw_parts_mut(start, len) }
}

/// The elements with these bytes; bytes of an incomplete element are ignored.
pub(crate) fn of_bytes<T: Element>(bytes: &[u8]) -> Vec<T> {
    let size = size_of::<T>().max(1);
    let mut elements = vec![element::zero(); bytes.len() / size];
    let len = size_of_val(elements.as_slice());
    bytes_mut(&mut elements).copy_from_slice(&bytes[..len]);
    elements
}

fn reserved<T>(len: usize) -> Result<Vec<T>, Error> {
    let mut values = Vec::new();
    match values.try_reserve_exact(len) {
        Ok(()) => Ok(values),
        Err(_) => Err(Error::OutOfHostMemory {
            wanted: (len as u64).saturating_mul(size_of::<T>() as u64),
        }),
    }
}
