//! What can be reduced: the element types.

use core::fmt::Debug;
use cuda_std::warp::WarpShuffleValue;

/// A value that lives in arrays on the GPU and travels between lanes by shuffle.
///
/// Plain data: every bit pattern is a valid value, and copying the bits copies the value.
pub trait Element: Copy + Debug + PartialEq + Send + Sync + WarpShuffleValue + 'static {
    /// The type's name as it stands in the names of entry points: `"i32"`.
    const NAME: &'static str;
}

macro_rules! elements {
    ($($element:ident),*) => {
        $(impl Element for $element {
            const NAME: &'static str = stringify!($element);
        })*
    };
}

elements!(i32, u32, i64, u64, f32, f64);
