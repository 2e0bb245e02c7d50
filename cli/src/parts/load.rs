//! Elements on their way from files to the device.

use warpfold::{Buffer, Chunks, Device, Element, Error, View};

use crate::by_key::Fill;
use crate::memory::Budget;

/// The number of elements that are read at a time where there is no chunk for them.
const PIECE: usize = 1 << 20;

/// Loads the elements of files, group by group.
pub struct Loader<'a, T: Element> {
    fill: Fill<'a, T>,
    to: To<T>,
    /// The number of elements that have been read.
    pub read: usize,
}

enum To<T: Element> {
    /// The next group is read while one is reduced.
    Chunks(Chunks<T>),
    /// One group at a time.
    Whole(Buffer<T>),
}

impl<'a, T: Element + Default> Loader<'a, T> {
    /// Groups have at most `longest` elements.
    pub fn new(
        device: &Device,
        budget: &Budget,
        longest: usize,
        fill: Fill<'a, T>,
    ) -> Result<Self, Error> {
        Ok(Self {
            fill,
            to: match budget.is_whole {
                true => To::Whole(device.alloc(longest)?),
                false => To::Chunks(device.chunks(longest.max(1))?),
            },
            read: 0,
        })
    }

    /// The next `items` elements on the device, or fewer at the end of the files.
    pub fn load(&mut self, items: usize) -> Result<View<'_, T>, Error> {
        match &mut self.to {
            To::Chunks(chunks) => {
                let (fill, read) = (&mut self.fill, &mut self.read);
                let view = chunks.load(|chunk| {
                    let n = fill(&mut chunk[..items])?.unwrap_or(0);
                    *read += n;
                    Ok(Some(n))
                })?;
                view.ok_or_else(|| unreachable!("`fill` always returns a number"))
            }
            To::Whole(buffer) => {
                let mut piece = vec![T::default(); items.min(PIECE)];
                let mut done = 0;
                while done < items {
                    let wanted = piece.len().min(items - done);
                    let Some(n) = (self.fill)(&mut piece[..wanted])? else {
                        break;
                    };
                    buffer.write(done, &piece[..n])?;
                    done += n;
                }
                self.read += done;
                buffer.view(..done)
            }
        }
    }

    /// Reads `items` elements, or fewer at the end of the files, without loading them.
    pub fn skip(&mut self, items: usize) -> Result<(), Error> {
        let mut left = items;
        let mut piece = vec![T::default(); items.min(PIECE)];
        while left > 0 {
            let wanted = piece.len().min(left);
            let Some(n) = (self.fill)(&mut piece[..wanted])? else {
                break;
            };
            (left, self.read) = (left - n, self.read + n);
        }
        Ok(())
    }
}
