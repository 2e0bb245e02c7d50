//! Fuzzes reductions, also by key, with every algorithm on the CPU.

mod by_key;
pub(crate) mod input;
pub(crate) mod number;
pub(crate) mod oracle;
mod reduce;

use arbitrary::Unstructured;
use warpfold::file::DType;
use warpfold::{bf16, f16};

use reduce::Ladders;

/// Decodes a call and its arguments from the bytes; the remaining bytes are the elements.
///
/// - With valid arguments, the result is that of a plain loop over the elements.
/// - Otherwise the call returns the documented error.
pub fn calls(bytes: &[u8]) {
    let mut source = Unstructured::new(bytes);
    // Too few bytes for a call are not tested.
    let _ = call(&mut source);
}

fn call(source: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let keyed = source.arbitrary()?;
    match (*source.choose(&DType::ALL)?, keyed) {
        (DType::I32, true) => by_key::any::<i32>(source),
        (DType::I64, true) => by_key::any::<i64>(source),
        (DType::U64, true) => by_key::any::<u64>(source),
        (DType::F32, true) => by_key::any::<f32>(source),
        (DType::F64, true) => by_key::any::<f64>(source),
        (DType::I8, _) => reduce::integers::<i8, i64>(source, &Ladders::NONE),
        (DType::I16, _) => reduce::integers::<i16, i64>(source, &Ladders::NONE),
        (DType::I32, false) => reduce::integers::<i32, i64>(source, &Ladders::of_all()),
        (DType::I64, false) => reduce::integers::<i64, i64>(source, &Ladders::of_sums()),
        (DType::U8, _) => reduce::integers::<u8, u64>(source, &Ladders::NONE),
        (DType::U16, _) => reduce::integers::<u16, u64>(source, &Ladders::NONE),
        (DType::U32, _) => reduce::integers::<u32, u64>(source, &Ladders::of_sums()),
        (DType::U64, false) => reduce::integers::<u64, u64>(source, &Ladders::of_sums()),
        (DType::F16, _) => reduce::floats::<f16>(source, &Ladders::NONE),
        (DType::Bf16, _) => reduce::floats::<bf16>(source, &Ladders::NONE),
        (DType::F32, false) => reduce::floats::<f32>(source, &Ladders::of_all()),
        (DType::F64, false) => reduce::floats::<f64>(source, &Ladders::of_sums()),
    }
}
