//! Items on the host: slices of each array, rows of adjacent items, and single items.

use std::marker::PhantomData;

use kernels_gpu::element::Element;
use kernels_gpu::items::{Each, Items, Map, Own};

use crate::input::Slices;

/// `W` adjacent elements of each array.
pub(super) struct Rows<'a, const W: usize>(PhantomData<&'a ()>);

impl<'a, const W: usize> Each for Rows<'a, W> {
    type Of<T: Element> = &'a [T; W];
}

/// The elements of all arrays.
pub(super) type Of<'a, I> = <I as Items>::Of<Slices<'a>>;

/// `W` adjacent items.
pub(super) type Row<'a, I, const W: usize> = <I as Items>::Of<Rows<'a, W>>;

/// The number of items.
#[inline(always)]
pub(super) fn len<I: Items>(items: Of<'_, I>) -> usize {
    struct Len(usize);

    impl<'a> Map<Slices<'a>, Slices<'a>> for Len {
        #[inline(always)]
        fn map<T: Element>(&mut self, slice: &'a [T]) -> &'a [T] {
            self.0 = slice.len();
            slice
        }
    }

    let mut len = Len(0);
    I::map(items, &mut len);
    len.0
}

/// The items from `start` to `end`.
#[inline(always)]
pub(super) fn part<'a, I: Items>(items: Of<'a, I>, start: usize, end: usize) -> Of<'a, I> {
    struct Part(usize, usize);

    impl<'a> Map<Slices<'a>, Slices<'a>> for Part {
        #[inline(always)]
        fn map<T: Element>(&mut self, slice: &'a [T]) -> &'a [T] {
            &slice[self.0..self.1]
        }
    }

    I::map(items, &mut Part(start, end))
}

/// Row `number`, of `W` items.
#[inline(always)]
pub(super) fn row<'a, I: Items, const W: usize>(items: Of<'a, I>, number: usize) -> Row<'a, I, W> {
    struct Number(usize);

    impl<'a, const W: usize> Map<Slices<'a>, Rows<'a, W>> for Number {
        #[inline(always)]
        fn map<T: Element>(&mut self, slice: &'a [T]) -> &'a [T; W] {
            let row = &slice[self.0 * W..][..W];
            row.try_into().expect("a row has W elements")
        }
    }

    I::map(items, &mut Number(number))
}

/// Item `i` of a row.
#[inline(always)]
pub(super) fn in_row<I: Items, const W: usize>(row: Row<'_, I, W>, i: usize) -> I {
    struct At(usize);

    impl<'a, const W: usize> Map<Rows<'a, W>, Own> for At {
        #[inline(always)]
        fn map<T: Element>(&mut self, row: &'a [T; W]) -> T {
            row[self.0]
        }
    }

    I::item(I::map(row, &mut At(i)))
}

/// Item `i`.
#[inline(always)]
pub(super) fn item<I: Items>(items: Of<'_, I>, i: usize) -> I {
    struct At(usize);

    impl<'a> Map<Slices<'a>, Own> for At {
        #[inline(always)]
        fn map<T: Element>(&mut self, slice: &'a [T]) -> T {
            slice[self.0]
        }
    }

    I::item(I::map(items, &mut At(i)))
}

/// Calls `each` with the address and the size in bytes of each array's part of a row.
#[inline(always)]
pub(super) fn each_array<'a, I: Items, const W: usize>(
    row: Row<'a, I, W>,
    each: impl FnMut(*const u8, usize),
) {
    struct ForEach<F>(F);

    impl<'a, const W: usize, F: FnMut(*const u8, usize)> Map<Rows<'a, W>, Rows<'a, W>> for ForEach<F> {
        #[inline(always)]
        fn map<T: Element>(&mut self, row: &'a [T; W]) -> &'a [T; W] {
            (self.0)(row.as_ptr().cast(), size_of_val(row));
            row
        }
    }

    I::map(row, &mut ForEach(each));
}
