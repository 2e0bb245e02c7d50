//! What was asked of whole-array reductions, on whatever they run.

use std::ops::RangeInclusive;

use anyhow::Result;
use warpfold::file::{DType, NpyHeader};

use super::options::SweepOptions;
use super::{OrRefuse, refuse};

/// Sizes, and types of elements.
pub struct Asked {
    pub sizes: Vec<usize>,
    pub types: Vec<DType>,
}

/// Of drawn elements, by default every other power of two of the default types; of a file, what it has.
pub fn asked(
    options: &SweepOptions,
    powers: RangeInclusive<u32>,
    default_types: &[DType],
) -> Result<Asked> {
    let Some(file) = &options.input else {
        let types = match options.types.as_slice() {
            [] => default_types.to_vec(),
            types => types.to_vec(),
        };
        let sizes = options.sizes(powers, 2);
        return Ok(Asked { sizes, types });
    };
    let shown = file.display();
    let header = NpyHeader::of_file(file).or_refuse(|| format!("--input {shown}"))?;
    let dtype = header.dtype().or_refuse(|| format!("--input {shown}"))?;
    if !options.types.is_empty() && options.types != [dtype] {
        return Err(refuse(format!(
            "--input {shown} holds {dtype} and no other --types"
        )));
    }
    let len = header.len() as usize;
    if len == 0 {
        return Err(refuse(format!(
            "--input {shown} is empty: there is nothing to time"
        )));
    }
    let sizes = match options.sizes.as_slice() {
        [] => vec![len],
        _ => options.sizes(powers, 2),
    };
    match sizes.iter().find(|size| **size > len) {
        Some(size) => Err(refuse(format!(
            "--input {shown} has {len} elements, not {size}"
        ))),
        None => Ok(Asked {
            sizes,
            types: vec![dtype],
        }),
    }
}
