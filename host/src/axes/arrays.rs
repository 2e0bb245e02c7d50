//! Reductions along axes of `ndarray`'s arrays.

use std::borrow::Cow;

use kernels_gpu::element::Element;
use kernels_gpu::entry::Axes;
use ndarray::{Array, ArrayD, ArrayRef, Axis, Dimension, IxDyn, RemoveAxis};

use super::Strided;
use crate::device::Device;
use crate::error::Error;

impl Device {
    /// Reduces an array of `ndarray` along one axis by `op`: a result for each index of the other axes.
    ///
    /// It uploads the array, calls [`reduce_axis`](Self::reduce_axis) and waits. An array whose elements are adjacent in
    /// memory is copied as it is, whatever the order and direction of its axes are, and axes of stride 0 are not repeated. The
    /// elements of any other view are first gathered on the host in C order, by one thread. The results have the same bits for
    /// every layout.
    ///
    /// ```
    /// use ndarray::{Axis, array, s};
    /// use warpfold::{ArgMax, Device, Max, Sum};
    ///
    /// let device = Device::auto()?;
    /// let x = array![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(device.reduce_axis_of(&x, Axis(0), Sum)?, array![5, 7, 9]);
    /// assert_eq!(device.reduce_axis_of(&x.t(), Axis(0), Sum)?, array![6, 15]);
    /// assert_eq!(device.reduce_axis_of(&x.slice(s![.., ..2]), Axis(1), Max)?, array![Some(2), Some(5)]);
    /// assert_eq!(device.reduce_axis_of(&x.slice(s![..;-1, ..]), Axis(1), Sum)?, array![15, 6]);
    ///
    /// let greatest = device.reduce_axis_of(&x, Axis(1), ArgMax)?;
    /// assert_eq!(greatest.mapv(|found| found.map(|found| found.index())), array![Some(2), Some(2)]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::AxisRange`], [`Error::TooManyDims`]; otherwise as [`reduce_axis`](Self::reduce_axis) and
    /// [`upload`](Self::upload).
    pub fn reduce_axis_of<T: Element, D: RemoveAxis, O: Axes<T>>(
        &self,
        array: &ArrayRef<T, D>,
        axis: Axis,
        op: O,
    ) -> Result<Array<O::Output, D::Smaller>, Error> {
        let results = self.reduce_array(array, &[axis.index()], op)?;
        Ok(shaped(array.raw_dim().remove_axis(axis), results))
    }

    /// Reduces an array of `ndarray` along several axes, as [`reduce_axis_of`](Self::reduce_axis_of). All axes give an array
    /// without dimensions, and no axes a result for each element.
    ///
    /// ```
    /// use ndarray::{Array, Axis, arr0, array};
    /// use warpfold::{Device, Sum};
    ///
    /// let device = Device::auto()?;
    /// let x = Array::from_iter(0..24).into_shape_with_order((2, 3, 4)).unwrap();
    /// assert_eq!(device.reduce_axes_of(&x, &[Axis(0), Axis(2)], Sum)?, array![60, 92, 124].into_dyn());
    /// assert_eq!(device.reduce_axes_of(&x, &[Axis(0), Axis(1), Axis(2)], Sum)?, arr0(276).into_dyn());
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`reduce_axis_of`](Self::reduce_axis_of); [`Error::AxisTwice`].
    pub fn reduce_axes_of<T: Element, D: Dimension, O: Axes<T>>(
        &self,
        array: &ArrayRef<T, D>,
        axes: &[Axis],
        op: O,
    ) -> Result<ArrayD<O::Output>, Error> {
        let results = self.reduce_array(array, &indices(axes), op)?;
        let kept = array.shape().iter().enumerate();
        let kept = kept.filter(|(axis, _)| !axes.contains(&Axis(*axis)));
        let kept: Vec<usize> = kept.map(|(_, len)| *len).collect();
        Ok(shaped(IxDyn(&kept), results))
    }

    /// The results in C order of the kept axes.
    fn reduce_array<T: Element, D: Dimension, O: Axes<T>>(
        &self,
        array: &ArrayRef<T, D>,
        axes: &[usize],
        op: O,
    ) -> Result<Vec<O::Output>, Error> {
        // Without elements, strides say nothing.
        if array.is_empty() {
            let x = self.upload::<T>(&[])?;
            return self.reduce_axis(&x, array.shape(), axes, op);
        }
        // All indices of an axis of stride 0 have the same elements.
        let mut stored = array.view();
        for axis in 0..array.ndim() {
            if array.strides()[axis] == 0 {
                stored.collapse_axis(Axis(axis), 0);
            }
        }
        let (elements, of_stored): (Cow<'_, [T]>, Vec<isize>) = match stored.as_slice_memory_order()
        {
            Some(elements) => (elements.into(), stored.strides().to_vec()),
            None => {
                let gathered = stored.as_standard_layout();
                let strides = gathered.strides().to_vec();
                (gathered.iter().copied().collect(), strides)
            }
        };
        let strides = of_stored.iter().zip(array.strides());
        let strides: Vec<isize> = strides
            .map(|(stride, of_array)| if *of_array == 0 { 0 } else { *stride })
            .collect();
        // The elements start with the one of the lowest address.
        let backwards = array.shape().iter().zip(&strides);
        let start = backwards.filter(|(_, stride)| **stride < 0);
        let start = start
            .map(|(len, stride)| (len - 1) * stride.unsigned_abs())
            .sum();
        let x = self.upload(&elements)?;
        let shape = Strided::new(array.shape(), &strides).starting_at(start);
        self.reduce_axis(&x, shape, axes, op)
    }
}

fn indices(axes: &[Axis]) -> Vec<usize> {
    axes.iter().map(|axis| axis.index()).collect()
}

/// The array of `results`, one for each index.
fn shaped<R, D: Dimension>(shape: D, results: Vec<R>) -> Array<R, D> {
    match Array::from_shape_vec(shape, results) {
        Ok(array) => array,
        Err(error) => unreachable!("a result for each index of the kept axes: {error}"),
    }
}
