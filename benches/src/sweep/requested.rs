//! The requested whole-array reductions, for all backends.

use std::ops::RangeInclusive;

use anyhow::Result;
use warpfold::file::{DType, NpyHeader};

use super::options::SweepOptions;
use super::{OrRefuse, refuse};

/// Requested sizes and element types.
pub struct Requested {
    pub sizes: Vec<usize>,
    pub types: Vec<DType>,
}

/// The requested sizes and types; by default every other power of two and `default_types`, or the file's.
pub fn requested(
    options: &SweepOptions,
    powers: RangeInclusive<u32>,
    default_types: &[DType],
) -> Result<Requested> {
    let Some(file) = &options.input else {
        let types = match options.types.as_slice() {
            [] => default_types.to_vec(),
            types => types.to_vec(),
        };
        let sizes = options.sizes(powers, 2);
        return Ok(Requested { sizes, types });
    };
    let shown = file.display();
    let header = NpyHeader::of_file(file).or_refuse(|| format!("--input {shown}"))?;
    let dtype = header.dtype().or_refuse(|| format!("--input {shown}"))?;
    if !options.types.is_empty() && options.types != [dtype] {
        return Err(refuse(format!(
            "--input {shown} holds {dtype}; --types must be {dtype} or absent"
        )));
    }
    let len = header.len() as usize;
    if len == 0 {
        return Err(refuse(format!(
            "--input {shown} has 0 elements; must have at least 1"
        )));
    }
    let sizes = match options.sizes.as_slice() {
        [] => vec![len],
        _ => options.sizes(powers, 2),
    };
    match sizes.iter().find(|size| **size > len) {
        Some(size) => Err(refuse(format!(
            "--input {shown} has {len} elements; --sizes {size} is larger"
        ))),
        None => Ok(Requested {
            sizes,
            types: vec![dtype],
        }),
    }
}
