//! Temporary storage that the caller holds.

use crate::backend::Backend;
use crate::error::Error;
use crate::workspace::Storage;

/// What the blocks of a reduction combine their partials in; made by
/// [`Device::scratch`](crate::Device::scratch).
///
/// It belongs to its device's stream, on which one launch after another uses it.
pub struct Scratch {
    stream: Backend,
    /// None on the CPU, which needs no scratch.
    storage: Option<Storage>,
}

impl Scratch {
    pub(crate) fn new(backend: &Backend) -> Result<Self, Error> {
        Ok(Self {
            stream: backend.clone(),
            storage: match backend.queue() {
                None => None,
                Some(queue) => Some(Storage::new(queue)?),
            },
        })
    }

    /// The storage, if this is the stream it was made for; none on the CPU.
    pub(crate) fn of(&mut self, backend: &Backend) -> Result<Option<&mut Storage>, Error> {
        match self.stream.is_same_stream(backend) {
            true => Ok(self.storage.as_mut()),
            false => Err(Error::OtherStream),
        }
    }
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scratch(on {})", self.stream)
    }
}
