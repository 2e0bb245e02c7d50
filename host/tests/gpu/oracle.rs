//! The right answers of `kernels-sim`, for what the library takes.

pub use kernels_sim::oracle::{Subject, close, same};
use warpfold::SinglePass;

/// An operator with its naive loop.
pub trait Oracle<T: Subject>:
    SinglePass<T, Acc = T, Output = T> + kernels_sim::oracle::Oracle<T>
{
    /// The operator's name: `"sum"`.
    const NAME: &'static str = <Self as SinglePass<T>>::ENTRY.op;
}

impl<T: Subject, O> Oracle<T> for O where
    O: SinglePass<T, Acc = T, Output = T> + kernels_sim::oracle::Oracle<T>
{
}
