//! Items of tiles that a split has cut: they are sent to the rank where the tile begins, which combines them on its CPU.

use std::any::Any;
use std::marker::PhantomData;
use std::ops::{Bound, Range, RangeBounds};

use kernels_gpu::items::{Each, Map};

use crate::backend::Backend;
use crate::buffer::View;
use crate::element::Element;
use crate::error::Error;
use crate::host;
use crate::input::{Items, Slices, Views};

/// Selects no value for each array.
struct NoValue;

impl Each for NoValue {
    type Of<T: Element> = ();
}

/// Some items on the host: a vector for each array.
pub(super) struct Piece<I: Items> {
    /// Each is a `Vec` of the array's elements.
    arrays: Vec<Box<dyn Any>>,
    shape: I::Of<NoValue>,
    items: PhantomData<I>,
}

impl<I: Items> Piece<I> {
    /// Copies some of the items to the host, and makes room for `more`.
    pub(super) fn download(
        backend: &Backend,
        views: I::Of<Views<'_>>,
        range: Range<usize>,
        more: usize,
    ) -> Result<Self, Error> {
        struct Download<'b> {
            backend: &'b Backend,
            range: Range<usize>,
            more: usize,
            arrays: Result<Vec<Box<dyn Any>>, Error>,
        }

        impl<'a> Map<Views<'a>, NoValue> for Download<'_> {
            fn map<T: Element>(&mut self, view: View<'a, T>) {
                let elements = view
                    .view(self.range.clone())
                    .and_then(|part| part.download_on(self.backend));
                match (&mut self.arrays, elements) {
                    (Ok(arrays), Ok(mut elements)) => {
                        elements.resize(elements.len() + self.more, crate::element::zero());
                        arrays.push(Box::new(elements));
                    }
                    (Ok(_), Err(error)) => self.arrays = Err(error),
                    (Err(_), _) => {}
                }
            }
        }

        let mut download = Download {
            backend,
            range,
            more,
            arrays: Ok(vec![]),
        };
        let shape = I::map(views, &mut download);
        Ok(Self {
            arrays: download.arrays?,
            shape,
            items: PhantomData,
        })
    }

    /// The bytes of all items, array after array.
    pub(super) fn all_bytes(&mut self) -> Vec<u8> {
        let mut bytes = vec![];
        self.each(.., |elements| bytes.extend_from_slice(elements));
        bytes
    }

    /// Replaces some of the items by those of another piece's [bytes](Self::all_bytes).
    pub(super) fn write(&mut self, range: Range<usize>, mut bytes: &[u8]) {
        self.each(range, |elements| {
            let (ours, rest) = bytes.split_at(elements.len());
            elements.copy_from_slice(ours);
            bytes = rest;
        });
    }

    /// Calls `visit` with the bytes of some of the elements of each array.
    fn each(&mut self, range: impl RangeBounds<usize>, visit: impl FnMut(&mut [u8])) {
        struct Visit<'b, V> {
            arrays: std::slice::IterMut<'b, Box<dyn Any>>,
            range: (Bound<usize>, Bound<usize>),
            visit: V,
        }

        impl<V: FnMut(&mut [u8])> Map<NoValue, NoValue> for Visit<'_, V> {
            fn map<T: Element>(&mut self, (): ()) {
                let elements = self.arrays.next().and_then(|array| array.downcast_mut());
                let elements: &mut Vec<T> = elements.expect("a vector for each array");
                (self.visit)(host::bytes_mut(&mut elements[self.range]));
            }
        }

        let arrays = self.arrays.iter_mut();
        I::map::<NoValue, NoValue>(
            self.shape,
            &mut Visit {
                arrays,
                range: (range.start_bound().cloned(), range.end_bound().cloned()),
                visit,
            },
        );
    }

    /// The items.
    pub(super) fn slices(&self) -> I::Of<Slices<'_>> {
        struct ToSlices<'b>(std::slice::Iter<'b, Box<dyn Any>>);

        impl<'b> Map<NoValue, Slices<'b>> for ToSlices<'b> {
            fn map<T: Element>(&mut self, (): ()) -> &'b [T] {
                let elements = self.0.next().and_then(|array| array.downcast_ref());
                let elements: &Vec<T> = elements.expect("a vector for each array");
                elements
            }
        }

        I::map::<NoValue, Slices<'_>>(self.shape, &mut ToSlices(self.arrays.iter()))
    }
}
