//! Temporary storage that the caller owns.

use crate::backend::Backend;
use crate::error::Error;
use crate::workspace::TempStorage;

/// Temporary storage for [`Device::reduce_into`](crate::Device::reduce_into): the partials of the blocks, and
/// the arrival counter. Made by [`Device::scratch`](crate::Device::scratch).
///
/// It belongs to one stream of the device; the launches on a stream use it one after another.
pub struct Scratch {
    stream: Backend,
    /// None on the CPU, which needs no temporary storage.
    storage: Option<TempStorage>,
}

impl Scratch {
    pub(crate) fn new(backend: &Backend) -> Result<Self, Error> {
        Ok(Self {
            stream: backend.clone(),
            storage: match backend.queue() {
                None => None,
                Some(queue) => Some(TempStorage::new(queue)?),
            },
        })
    }

    /// The storage (`None` on the CPU), or an error if it belongs to another stream.
    pub(crate) fn of(&mut self, backend: &Backend) -> Result<Option<&mut TempStorage>, Error> {
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
