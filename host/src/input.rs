//! Inputs of reductions: one array, or several of the same length.

use std::marker::PhantomData;
use std::ops::Range;

pub use kernels_gpu::items::Items;
use kernels_gpu::items::{Each, Map};

use crate::backend::Backend;
use crate::buffer::{Buffer, Location, View};
use crate::element::Element;
use crate::error::Error;
use crate::launch::{Argument, Arguments};

/// Selects, for each array, a view.
#[doc(hidden)]
#[derive(Debug)]
pub struct Views<'a>(PhantomData<&'a ()>);

impl<'a> Each for Views<'a> {
    type Of<T: Element> = View<'a, T>;
}

/// Selects, for each array, its elements on the host.
pub(crate) struct Slices<'a>(PhantomData<&'a ()>);

impl<'a> Each for Slices<'a> {
    type Of<T: Element> = &'a [T];
}

/// Selects nothing for each array; for functions that only have side effects.
struct Nothing;

impl Each for Nothing {
    type Of<T: Element> = ();
}

/// The number of items; an error unless all arrays have that length and are on the device.
pub(crate) fn check<I: Items>(views: I::Of<Views<'_>>, backend: &Backend) -> Result<usize, Error> {
    struct Check<'b> {
        backend: &'b Backend,
        len: Option<usize>,
        error: Option<Error>,
    }

    impl<'a> Map<Views<'a>, Nothing> for Check<'_> {
        fn map<T: Element>(&mut self, view: View<'a, T>) {
            let len = *self.len.get_or_insert(view.len());
            let error = match self.backend.check_same(view.owner()) {
                Ok(()) if len == view.len() => return,
                Ok(()) => Error::Lengths {
                    a: len,
                    b: view.len(),
                },
                Err(error) => error,
            };
            self.error.get_or_insert(error);
        }
    }

    let mut check = Check {
        backend,
        len: None,
        error: None,
    };
    I::map(views, &mut check);
    match check.error {
        None => Ok(check.len.unwrap_or(0)),
        Some(error) => Err(error),
    }
}

/// The number of items; all arrays have that length.
pub(crate) fn len<I: Items>(views: I::Of<Views<'_>>) -> usize {
    struct Len(usize);

    impl<'a> Map<Views<'a>, Nothing> for Len {
        fn map<T: Element>(&mut self, view: View<'a, T>) {
            self.0 = view.len();
        }
    }

    let mut len = Len(0);
    I::map(views, &mut len);
    len.0
}

/// Whether all arrays on a GPU start at a multiple of 16 bytes, the widest load.
pub(crate) fn is_aligned<I: Items>(views: I::Of<Views<'_>>) -> bool {
    struct Aligned(bool);

    impl<'a> Map<Views<'a>, Nothing> for Aligned {
        fn map<T: Element>(&mut self, view: View<'a, T>) {
            if let Location::Device(span) = view.location() {
                self.0 &= span.address().is_multiple_of(16);
            }
        }
    }

    let mut aligned = Aligned(true);
    I::map(views, &mut aligned);
    aligned.0
}

/// The items in a range, which all arrays have.
pub(crate) fn part<'a, I: Items>(views: I::Of<Views<'a>>, range: Range<usize>) -> I::Of<Views<'a>> {
    struct Part(Range<usize>);

    impl<'a> Map<Views<'a>, Views<'a>> for Part {
        fn map<T: Element>(&mut self, view: View<'a, T>) -> View<'a, T> {
            match view.view(self.0.clone()) {
                Ok(part) => part,
                Err(error) => unreachable!("the caller has checked the range: {error}"),
            }
        }
    }

    I::map(views, &mut Part(range))
}

/// The elements of arrays on the CPU.
pub(crate) fn slices<'a, I: Items>(views: I::Of<Views<'a>>) -> I::Of<Slices<'a>> {
    struct ToSlices;

    impl<'a> Map<Views<'a>, Slices<'a>> for ToSlices {
        fn map<T: Element>(&mut self, view: View<'a, T>) -> &'a [T] {
            match view.location() {
                Location::Host(slice) => slice,
                Location::Device(_) => unreachable!("`check` ensures that the array is on the CPU"),
            }
        }
    }

    I::map(views, &mut ToSlices)
}

/// The first arguments of a kernel: arrays on a GPU.
pub(crate) fn arguments<'a, I: Items>(views: I::Of<Views<'a>>) -> Arguments<'a> {
    struct Push<'b, 'a>(&'b mut Arguments<'a>);

    impl<'a> Map<Views<'a>, Nothing> for Push<'_, 'a> {
        fn map<T: Element>(&mut self, view: View<'a, T>) {
            match view.location() {
                Location::Device(span) => self.0.push(Argument::input(span)),
                Location::Host(_) => unreachable!("`check` ensures that the array is on the GPU"),
            }
        }
    }

    let mut arguments = Arguments::new();
    I::map(views, &mut Push(&mut arguments));
    arguments
}

/// An input of a call such as [`Device::reduce`](crate::Device::reduce): `&Buffer<T>`, `View<T>`, or a tuple
/// of several of the same length.
///
/// ```
/// use warpfold::{Device, Dot, Sum};
///
/// let device = Device::auto()?;
/// let (a, b) = (device.upload(&[1.0f32, 2.0])?, device.upload(&[3.0f32, 4.0])?);
/// assert_eq!(device.reduce(&a, Sum).run()?, 3.0);
/// assert_eq!(device.reduce(a.view(1..)?, Sum).run()?, 2.0);
/// assert_eq!(device.reduce((&a, &b), Dot).run()?, 11.0);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array on a device",
    label = "expected `&Buffer<_>`, a `View<_>`, or a tuple of these",
    note = "upload host data first, `let x = device.upload(&data)?;`, and pass the buffer by reference: `&x`"
)]
pub trait Input<'a, I: Items> {
    /// The views of the arrays.
    #[doc(hidden)]
    fn into_views(self) -> I::Of<Views<'a>>;
}

impl<'a, T: Element> Input<'a, T> for &'a Buffer<T> {
    fn into_views(self) -> View<'a, T> {
        self.into()
    }
}

impl<'a, T: Element> Input<'a, T> for View<'a, T> {
    fn into_views(self) -> View<'a, T> {
        self
    }
}

/// Owned buffers, as input of an [`OwnedPlan`](crate::OwnedPlan) or a [`Graph`](crate::Graph): one, or
/// several of the same length.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a buffer on a device",
    label = "expected a `Buffer<_>`, or a tuple of these",
    note = "upload host data first, `let x = device.upload(&data)?;`, and pass the buffer by value: `x`"
)]
pub trait Inputs {
    /// The items: the elements at one index.
    type Items: Items;

    /// Views of all elements.
    #[doc(hidden)]
    fn views(&self) -> <Self::Items as Items>::Of<Views<'_>>;
}

impl<T: Element> Inputs for Buffer<T> {
    type Items = T;

    fn views(&self) -> View<'_, T> {
        self.into()
    }
}

macro_rules! side_by_side {
    ($($input:ident $element:ident $i:tt),+) => {
        impl<'a, $($input,)+ $($element: Element),+> Input<'a, ($($element),+)> for ($($input),+)
        where
            $($input: Input<'a, $element>),+
        {
            fn into_views(self) -> ($(View<'a, $element>),+) {
                ($(self.$i.into_views()),+)
            }
        }

        impl<$($element: Element),+> Inputs for ($(Buffer<$element>),+) {
            type Items = ($($element),+);

            fn views(&self) -> ($(View<'_, $element>),+) {
                ($((&self.$i).into()),+)
            }
        }
    };
}

side_by_side!(A T 0, B U 1);
side_by_side!(A T 0, B U 1, C V 2);
