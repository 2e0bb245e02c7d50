//! The dimensions of an array: their checks, and as few of them as possible.

use std::ops::Range;

use kernels_gpu::axes::{Dim, MOST_DIMS};

use crate::error::Error;

/// The shape of an array, with a stride for each dimension: the number of items from one index to the next one.
///
/// An array in C order needs no strides: a slice of lengths is its shape.
///
/// ```
/// use warpfold::{Device, Strided, Sum};
///
/// let device = Device::auto()?;
/// let x = device.upload(&[1, 2, 3, 4, 5, 6])?;
/// // The first two columns of a matrix of two rows and three columns.
/// let columns = Strided::new(&[2, 2], &[3, 1]);
/// assert_eq!(device.reduce_axis(&x, columns, &[0], Sum)?, [5, 7]);
/// // All columns, the last one first.
/// let backwards = Strided::new(&[2, 3], &[3, -1]).starting_at(2);
/// assert_eq!(device.reduce_axis(&x, backwards, &[0], Sum)?, [9, 7, 5]);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Strided<'s> {
    shape: &'s [usize],
    /// None in C order.
    strides: Option<&'s [isize]>,
    start: usize,
}

impl<'s> Strided<'s> {
    /// An array of these lengths and strides, outermost dimension first. Index 0 of all dimensions has the first item of the
    /// input, or that of [`starting_at`](Self::starting_at).
    ///
    /// Strides may have any order. With stride 0, all indices have the same item; with a negative stride, the next index has
    /// an item in front.
    pub const fn new(shape: &'s [usize], strides: &'s [isize]) -> Self {
        Self {
            shape,
            strides: Some(strides),
            start: 0,
        }
    }

    /// The same array with this item of the input at index 0 of all dimensions: the last item, if an array goes backwards.
    pub const fn starting_at(mut self, item: usize) -> Self {
        self.start = item;
        self
    }
}

impl<'s> From<&'s [usize]> for Strided<'s> {
    fn from(shape: &'s [usize]) -> Self {
        Self {
            shape,
            strides: None,
            start: 0,
        }
    }
}

impl<'s, const N: usize> From<&'s [usize; N]> for Strided<'s> {
    fn from(shape: &'s [usize; N]) -> Self {
        shape.as_slice().into()
    }
}

impl<'s> From<&'s Vec<usize>> for Strided<'s> {
    fn from(shape: &'s Vec<usize>) -> Self {
        shape.as_slice().into()
    }
}

/// Dimensions, outermost first, without a heap allocation.
#[derive(Clone, Copy, Debug)]
struct List {
    dims: [Dim; MOST_DIMS],
    len: usize,
    /// The product of the lengths.
    product: usize,
}

impl List {
    const EMPTY: Self = Self {
        dims: [Dim { len: 0, stride: 0 }; MOST_DIMS],
        len: 0,
        product: 1,
    };

    fn as_slice(&self) -> &[Dim] {
        &self.dims[..self.len]
    }

    /// Adds a dimension inside the others. It is joined with the last one if one stride walks both.
    fn push(&mut self, dim: Dim) {
        if dim.len == 1 {
            return;
        }
        // The length is at most `isize::MAX`, as the product of all of them.
        let inner = dim.stride.checked_mul(dim.len as isize);
        match self.dims[..self.len].last_mut() {
            Some(outer) if inner == Some(outer.stride) => {
                *outer = Dim {
                    len: outer.len * dim.len,
                    stride: dim.stride,
                };
            }
            _ => {
                self.dims[self.len] = dim;
                self.len += 1;
            }
        }
    }
}

/// The dimensions of an array in two groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dims {
    kept: List,
    reduced: List,
    /// The lowest offset, and one more than the highest.
    window: (usize, usize),
}

impl Dims {
    /// The dimensions of an array of `n` items, or an error in the arguments.
    pub(super) fn new(array: Strided<'_>, axes: &[usize], n: usize) -> Result<Self, Error> {
        let shape = array.shape;
        if shape.len() > MOST_DIMS {
            return Err(Error::TooManyDims {
                dims: shape.len(),
                limit: MOST_DIMS,
            });
        }
        let mut is_reduced = [false; MOST_DIMS];
        for &axis in axes {
            if axis >= shape.len() {
                return Err(Error::AxisRange {
                    axis,
                    dims: shape.len(),
                });
            }
            if std::mem::replace(&mut is_reduced[axis], true) {
                return Err(Error::AxisTwice { axis });
            }
        }
        let overflow = || Error::ShapeOverflow {
            shape: shape.into(),
        };
        let lens = |wanted: bool| {
            let lens = shape.iter().zip(is_reduced);
            lens.filter_map(move |(len, own)| (own == wanted).then_some(*len))
        };
        let columns = product(lens(false)).ok_or_else(overflow)?;
        let items = product(lens(true)).ok_or_else(overflow)?;
        let has_items = columns > 0 && items > 0;
        let (strides, window) = match array.strides {
            None if array.start == 0 => {
                let all = columns.checked_mul(items).ok_or_else(overflow)?;
                if all != n {
                    return Err(Error::ShapeLen {
                        shape: shape.into(),
                        product: all,
                        len: n,
                    });
                }
                (c_order(shape), (0, n))
            }
            None => {
                columns.checked_mul(items).ok_or_else(overflow)?;
                let strides = c_order(shape);
                let array = Strided {
                    strides: Some(&strides[..shape.len()]),
                    ..array
                };
                (strides, array.window(has_items, n)?)
            }
            Some(given) => {
                let mut strides = [0; MOST_DIMS];
                let window = array.window(has_items, n)?;
                strides[..given.len()].copy_from_slice(given);
                (strides, window)
            }
        };
        let mut kept = List {
            product: columns,
            ..List::EMPTY
        };
        let mut reduced = List {
            product: items,
            ..List::EMPTY
        };
        if has_items {
            for (axis, (&len, stride)) in shape.iter().zip(strides).enumerate() {
                let list = if is_reduced[axis] {
                    &mut reduced
                } else {
                    &mut kept
                };
                list.push(Dim { len, stride });
            }
        } else {
            // No item is read.
            kept.push(Dim {
                len: columns,
                stride: 0,
            });
            reduced.push(Dim {
                len: items,
                stride: 0,
            });
        }
        Ok(Self {
            kept,
            reduced,
            window,
        })
    }

    /// The kept dimensions, outermost first.
    pub(super) fn kept(&self) -> &[Dim] {
        self.kept.as_slice()
    }

    /// The reduced dimensions, outermost first.
    pub(super) fn reduced(&self) -> &[Dim] {
        self.reduced.as_slice()
    }

    /// The number of results.
    pub(super) fn columns(&self) -> usize {
        self.kept.product
    }

    /// The number of items of each result.
    pub(super) fn items(&self) -> usize {
        self.reduced.product
    }

    /// The items from the lowest to the highest offset. If there are none, all of the input.
    pub(super) fn window(&self) -> Range<usize> {
        self.window.0..self.window.1
    }

    /// The length of a row, if the reduced axes are the rows of the adjacent items of the [`window`](Self::window).
    pub(super) fn rows(&self) -> Option<usize> {
        let (columns, items) = (self.columns(), self.items());
        let n = self.window().len();
        let is_dense = columns > 0 && items > 0 && columns.checked_mul(items) == Some(n);
        let in_row = match self.reduced() {
            [] => true,
            [row] => row.stride == 1,
            _ => false,
        };
        let by_row = match self.kept() {
            [] => true,
            [rows] => rows.stride == items as isize,
            _ => false,
        };
        (is_dense && in_row && by_row).then_some(items)
    }
}

/// The product of lengths, unless it is above `isize::MAX`.
fn product(lens: impl Iterator<Item = usize> + Clone) -> Option<usize> {
    if lens.clone().any(|len| len == 0) {
        return Some(0);
    }
    let product = lens.into_iter().try_fold(1, usize::checked_mul)?;
    isize::try_from(product).is_ok().then_some(product)
}

/// The strides of an array in C order.
fn c_order(shape: &[usize]) -> [isize; MOST_DIMS] {
    let mut strides = [0; MOST_DIMS];
    let mut stride = 1isize;
    for (own, len) in strides[..shape.len()].iter_mut().zip(shape).rev() {
        *own = stride;
        // Of an empty array, whose strides nobody needs, it may be anything.
        stride = stride.wrapping_mul(*len as isize);
    }
    strides
}

impl Strided<'_> {
    /// The lowest offset and one more than the highest, or an error if there are too few or too many strides, or if an offset
    /// is outside an array of `n` items. The strides are given.
    fn window(&self, has_items: bool, n: usize) -> Result<(usize, usize), Error> {
        let (shape, strides) = (self.shape, self.strides.unwrap_or_default());
        if strides.len() != shape.len() {
            return Err(Error::StridesLen {
                strides: strides.len(),
                dims: shape.len(),
            });
        }
        if !has_items {
            return Ok((0, n));
        }
        // It does not overflow: the lengths of the kept dimensions, and those of the reduced ones, have a product of at most
        // 2^63 - 1, so the sum of all lengths less 1 is below 2^64 - 1, and a stride is at most 2^63.
        let (mut low, mut high) = (self.start as i128, self.start as i128);
        for (len, stride) in shape.iter().zip(strides) {
            let last = (len - 1) as i128 * *stride as i128;
            low += last.min(0);
            high += last.max(0);
        }
        let item = if low < 0 { low } else { high };
        match 0 <= low && high < n as i128 {
            true => Ok((low as usize, high as usize + 1)),
            false => Err(Error::StridedRange {
                shape: shape.into(),
                strides: strides.into(),
                start: self.start,
                item,
                len: n,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims(shape: &[usize], strides: &[isize], axes: &[usize]) -> (Vec<Dim>, Vec<Dim>) {
        let array = Strided::new(shape, strides).starting_at(usize::MAX / 2);
        let dims = Dims::new(array, axes, usize::MAX).unwrap();
        (dims.kept().to_vec(), dims.reduced().to_vec())
    }

    fn dim(len: usize, stride: isize) -> Dim {
        Dim { len, stride }
    }

    #[test]
    fn dimensions_are_joined() {
        let found = dims(&[4, 1, 3, 5], &[15, 7, 5, 1], &[2, 3]);
        assert_eq!(found, (vec![dim(4, 15)], vec![dim(15, 1)]));
        let found = dims(&[4, 3, 5], &[15, 5, 1], &[0, 2]);
        assert_eq!(found, (vec![dim(3, 5)], vec![dim(4, 15), dim(5, 1)]));
        // Not in the order of their strides.
        let found = dims(&[2, 3], &[1, 2], &[]);
        assert_eq!(found, (vec![dim(2, 1), dim(3, 2)], vec![]));
        // All indices have the same item.
        let found = dims(&[2, 3], &[0, 0], &[0, 1]);
        assert_eq!(found, (vec![], vec![dim(6, 0)]));
        // Backwards, both of them or one.
        let found = dims(&[4, 3, 5], &[-15, -5, -1], &[2]);
        assert_eq!(found, (vec![dim(12, -5)], vec![dim(5, -1)]));
        let found = dims(&[4, 3, 5], &[15, -5, 1], &[0, 1]);
        assert_eq!(found, (vec![dim(5, 1)], vec![dim(4, 15), dim(3, -5)]));
    }

    #[test]
    fn rows_are_found() {
        let rows = |shape: &[usize], axes: &[usize]| {
            let n = shape.iter().product();
            Dims::new(shape.into(), axes, n).unwrap().rows()
        };
        assert_eq!(rows(&[4, 3, 5], &[1, 2]), Some(15));
        assert_eq!(rows(&[4, 3, 5], &[0, 1, 2]), Some(60));
        assert_eq!(rows(&[4, 3, 5], &[]), Some(1));
        assert_eq!(rows(&[4, 3, 1], &[2, 1]), Some(3));
        assert_eq!(rows(&[4, 3, 5], &[0]), None);
        assert_eq!(rows(&[], &[]), Some(1));
        assert_eq!(rows(&[4, 0], &[1]), None);
        let part = |shape: &[usize], strides: &[isize], start: usize| {
            let array = Strided::new(shape, strides).starting_at(start);
            let dims = Dims::new(array, &[1], 100).unwrap();
            (dims.rows(), dims.window())
        };
        assert_eq!(part(&[4, 5], &[5, 1], 30), (Some(5), 30..50));
        assert_eq!(part(&[4, 5], &[-5, 1], 30), (None, 15..35));
        assert_eq!(part(&[4, 5], &[5, -1], 30), (None, 26..46));
        assert_eq!(part(&[4, 5], &[6, 1], 30), (None, 30..53));
        assert_eq!(part(&[1, 5], &[-9, 1], 30), (Some(5), 30..35));
    }

    #[test]
    fn overflows_are_errors() {
        let huge = 1 << 40;
        let found = Dims::new((&[huge, huge]).into(), &[0], 1).unwrap_err();
        assert_eq!(
            found,
            Error::ShapeOverflow {
                shape: vec![huge; 2]
            }
        );
        let found = Dims::new((&[huge, huge, 0]).into(), &[2], 0).unwrap_err();
        assert!(matches!(found, Error::ShapeOverflow { .. }), "{found:?}");
        // The empty axis is among them.
        let found = Dims::new((&[huge, huge, 0]).into(), &[0], 0).unwrap();
        assert_eq!((found.columns(), found.items()), (0, huge));
    }

    #[test]
    fn the_first_item_outside_is_found() {
        let item = |shape: &[usize], strides: &[isize], start: usize, n: usize| {
            let array = Strided::new(shape, strides).starting_at(start);
            match Dims::new(array, &[0], n) {
                Err(Error::StridedRange { item, len, .. }) if len == n => Some(item),
                Ok(_) => None,
                Err(error) => panic!("{error}"),
            }
        };
        assert_eq!(
            item(&[3, 3], &[isize::MAX, 1], 0, 9),
            Some((1 << 64) - 2 + 2)
        );
        assert_eq!(item(&[3, 3], &[isize::MIN, 1], 0, 9), Some(-(1 << 64)));
        assert_eq!(item(&[2, 3], &[-3, 1], 3, 6), None);
        assert_eq!(item(&[2, 3], &[-3, 1], 2, 6), Some(-1));
        assert_eq!(item(&[2, 3], &[-3, 1], 3, 5), Some(5));
        assert_eq!(item(&[2, 3], &[-3, -1], 5, 6), None);
        assert_eq!(item(&[2, 3], &[-3, -1], 6, 6), Some(6));
        // At both ends.
        assert_eq!(item(&[9, 9], &[-3, 3], 5, 6), Some(-19));
        let (most, far) = (isize::MAX as usize, isize::MIN);
        let lowest = -((most as i128 - 1) << 64);
        assert_eq!(item(&[most, most], &[far, far], 0, 1), Some(lowest));
        let highest = (most as i128 - 1) * 2 * (most as i128) + usize::MAX as i128;
        let found = item(&[most, most], &[isize::MAX; 2], usize::MAX, 1);
        assert_eq!(found, Some(highest));
        // Without items there is none.
        assert_eq!(item(&[0, 3], &[-3, -1], 99, 6), None);
    }
}
