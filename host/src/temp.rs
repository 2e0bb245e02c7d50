//! Temporary storage that the caller holds.

use std::sync::Arc;

use crate::backend::{Backend, Queue};
use crate::error::Error;
use crate::workspace::Storage;

/// What the blocks of a reduction combine their partials in; made by
/// [`Device::scratch`](crate::Device::scratch).
///
/// It belongs to its device's stream, on which one launch after another uses it.
pub struct Scratch {
    /// None on the CPU, which needs no scratch.
    place: Option<(Arc<Queue>, Storage)>,
}

impl Scratch {
    pub(crate) fn new(backend: &Backend) -> Result<Self, Error> {
        let place = match backend.queue() {
            None => None,
            Some(queue) => Some((Arc::clone(queue), Storage::new(queue)?)),
        };
        Ok(Self { place })
    }

    /// The storage, if this is the stream it was made for; none on the CPU.
    pub(crate) fn of(&mut self, backend: &Backend) -> Result<Option<&mut Storage>, Error> {
        match (&mut self.place, backend) {
            (None, Backend::Cpu) => Ok(None),
            (Some((queue, storage)), Backend::Gpu(own)) if Arc::ptr_eq(queue, own) => {
                Ok(Some(storage))
            }
            _ => Err(Error::OtherStream),
        }
    }
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            None => f.write_str("Scratch(none: the CPU's)"),
            Some((queue, _)) => write!(f, "Scratch(of {:?})", queue.handle()),
        }
    }
}
