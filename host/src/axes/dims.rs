//! The dimensions of an array: their checks, and as few of them as possible.

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
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Strided<'s> {
    shape: &'s [usize],
    /// None in C order.
    strides: Option<&'s [usize]>,
}

impl<'s> Strided<'s> {
    /// An array of these lengths and strides, outermost dimension first. It starts with the first item of its input. Strides
    /// may have any order; with stride 0, all indices have the same item.
    pub const fn new(shape: &'s [usize], strides: &'s [usize]) -> Self {
        Self {
            shape,
            strides: Some(strides),
        }
    }
}

impl<'s> From<&'s [usize]> for Strided<'s> {
    fn from(shape: &'s [usize]) -> Self {
        Self {
            shape,
            strides: None,
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
        let inner = dim.len.checked_mul(dim.stride);
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
        let strides = match array.strides {
            None => {
                let all = columns.checked_mul(items).ok_or_else(overflow)?;
                if all != n {
                    return Err(Error::ShapeLen {
                        shape: shape.into(),
                        product: all,
                        len: n,
                    });
                }
                c_order(shape)
            }
            Some(strides) => checked(shape, strides, columns > 0 && items > 0, n)?,
        };
        let mut kept = List {
            product: columns,
            ..List::EMPTY
        };
        let mut reduced = List {
            product: items,
            ..List::EMPTY
        };
        if columns > 0 && items > 0 {
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
        Ok(Self { kept, reduced })
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

    /// The length of a row, if the reduced axes are the rows of `n` adjacent items.
    pub(super) fn rows(&self, n: usize) -> Option<usize> {
        let (columns, items) = (self.columns(), self.items());
        let is_dense = columns > 0 && items > 0 && columns.checked_mul(items) == Some(n);
        let in_row = match self.reduced() {
            [] => true,
            [row] => row.stride == 1,
            _ => false,
        };
        let by_row = match self.kept() {
            [] => true,
            [rows] => rows.stride == items,
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
fn c_order(shape: &[usize]) -> [usize; MOST_DIMS] {
    let mut strides = [0; MOST_DIMS];
    let mut stride = 1usize;
    for (own, len) in strides[..shape.len()].iter_mut().zip(shape).rev() {
        *own = stride;
        // Of an empty array, whose strides nobody needs, it may be anything.
        stride = stride.wrapping_mul(*len);
    }
    strides
}

/// These strides, or an error if there are too few or too many, or if they leave an array of `n` items.
fn checked(
    shape: &[usize],
    strides: &[usize],
    has_items: bool,
    n: usize,
) -> Result<[usize; MOST_DIMS], Error> {
    if strides.len() != shape.len() {
        return Err(Error::StridesLen {
            strides: strides.len(),
            dims: shape.len(),
        });
    }
    let mut all = [0; MOST_DIMS];
    all[..strides.len()].copy_from_slice(strides);
    if !has_items {
        return Ok(all);
    }
    let mut last = 0usize;
    for (len, stride) in shape.iter().zip(strides) {
        let own = (len - 1).checked_mul(*stride);
        last = own
            .and_then(|own| own.checked_add(last))
            .ok_or_else(|| Error::ShapeOverflow {
                shape: shape.into(),
            })?;
    }
    match last < n {
        true => Ok(all),
        false => Err(Error::StridedRange {
            shape: shape.into(),
            strides: strides.into(),
            last,
            len: n,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims(shape: &[usize], strides: &[usize], axes: &[usize]) -> (Vec<Dim>, Vec<Dim>) {
        let array = Strided::new(shape, strides);
        let dims = Dims::new(array, axes, usize::MAX).unwrap();
        (dims.kept().to_vec(), dims.reduced().to_vec())
    }

    fn dim(len: usize, stride: usize) -> Dim {
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
    }

    #[test]
    fn rows_are_found() {
        let rows = |shape: &[usize], axes: &[usize]| {
            let n = shape.iter().product();
            Dims::new(shape.into(), axes, n).unwrap().rows(n)
        };
        assert_eq!(rows(&[4, 3, 5], &[1, 2]), Some(15));
        assert_eq!(rows(&[4, 3, 5], &[0, 1, 2]), Some(60));
        assert_eq!(rows(&[4, 3, 5], &[]), Some(1));
        assert_eq!(rows(&[4, 3, 1], &[2, 1]), Some(3));
        assert_eq!(rows(&[4, 3, 5], &[0]), None);
        assert_eq!(rows(&[], &[]), Some(1));
        assert_eq!(rows(&[4, 0], &[1]), None);
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
        let far = Strided::new(&[3, 3], &[usize::MAX / 2, 1]);
        let found = Dims::new(far, &[0], 9).unwrap_err();
        assert!(matches!(found, Error::ShapeOverflow { .. }), "{found:?}");
    }
}
