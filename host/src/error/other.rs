//! Errors of the caller's code, of groups and of ranks.

mod ranks;
mod start;

pub use ranks::RanksError;
pub use start::StartError;
use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// An error of the caller's code; it dereferences to that error. Only clones of one error are equal.
///
/// ```
/// use warpfold::Error;
///
/// let error = Error::other("x".parse::<i32>().unwrap_err());
/// let Error::Other(inner) = &error else { panic!() };
/// assert!(inner.downcast_ref::<std::num::ParseIntError>().is_some());
/// ```
#[derive(Clone)]
pub struct OtherError(Arc<dyn Error + Send + Sync>);

impl OtherError {
    pub(super) fn new(error: Box<dyn Error + Send + Sync>) -> Self {
        Self(error.into())
    }
}

impl Deref for OtherError {
    type Target = dyn Error + Send + Sync;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for OtherError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for OtherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for OtherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for OtherError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// More items or groups than one call can number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupsError {
    /// Too many items.
    #[error("{items} items; a call finds the groups of at most {most}: pass parts of the arrays")]
    Items {
        /// The number of items.
        items: usize,
        /// The most items of a call.
        most: usize,
    },
    /// Too many different keys.
    #[error("more than {most} groups; a call finds at most {most}: pass parts of the arrays")]
    Groups {
        /// The most groups of a call.
        most: usize,
    },
}

impl From<StartError> for super::Error {
    fn from(error: StartError) -> Self {
        Self::Ranks(error.into())
    }
}
