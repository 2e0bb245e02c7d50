//! The right answers of `kernels-sim`, for what the library takes.

pub use kernels_sim::oracle::{close, same};
use warpfold::{Element, Operator};

/// An element type as the tests see it.
pub trait Subject: Element + kernels_sim::oracle::Subject {}

impl<T: Element + kernels_sim::oracle::Subject> Subject for T {}

/// An operator with its naive loop.
pub trait Oracle<T: Subject>:
    Operator<T, Acc = T, Output = T> + kernels_sim::oracle::Oracle<T>
{
}

impl<T: Subject, O> Oracle<T> for O where
    O: Operator<T, Acc = T, Output = T> + kernels_sim::oracle::Oracle<T>
{
}
