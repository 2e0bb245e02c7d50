//! The right answers of `kernels-sim`, for the library's operators.

pub use kernels_sim::oracle::{Subject, close, same};
use warpfold::SinglePass;

/// An operator with its reference loop.
pub trait Oracle<T: Subject>:
    SinglePass<T, Acc = T, Output: Into<Option<T>>> + kernels_sim::oracle::Oracle<T>
{
    /// The operator's name: `"sum"`.
    const NAME: &'static str = <Self as SinglePass<T>>::ENTRY.op;

    /// The result of `n` elements; for empty input the identity, like that of the reference loop.
    ///
    /// # Panics
    ///
    /// If the result for empty input is not [`empty`](kernels_gpu::op::Op::empty).
    fn value(result: Self::Output, n: usize) -> T {
        let (result, empty): (Option<T>, Option<T>) = (result.into(), Self::OP.empty().into());
        if n == 0 {
            assert_eq!(
                format!("{result:?}"),
                format!("{empty:?}"),
                "for empty input"
            );
            return Self::OP.identity();
        }
        result.expect("some elements have a result")
    }
}

impl<T: Subject, O> Oracle<T> for O where
    O: SinglePass<T, Acc = T, Output: Into<Option<T>>> + kernels_sim::oracle::Oracle<T>
{
}
