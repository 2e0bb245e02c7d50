//! Questions about all elements, and products of two arrays: single passes with something beside the
//! array.

use kernels_gpu::op::{Equal, Greater, IsNan, Less, Predicate as Holds};

use crate::buffer::{Place, View};
use crate::cpu;
use crate::device::Device;
use crate::element::{Element, zero};
use crate::error::Error;
use crate::launch::SinglePassKernel;
use crate::number::Number;
use crate::single_pass::{Grid, blocking};

/// A question about an element; see [`Device::count`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Predicate<T> {
    /// The element equals this. The two zeros of floats do; a NaN equals nothing.
    Equal(T),
    /// The element is less than this. A NaN is not, nor is anything less than it.
    Less(T),
    /// The element is greater than this. A NaN is not, nor is anything greater than it.
    Greater(T),
    /// The element is a NaN. No integer is.
    Nan,
    /// The element is not zero. A NaN is not.
    Nonzero,
}

impl Device {
    /// How many elements answer yes. Of nothing: 0.
    ///
    /// ```
    /// use warpfold::{Device, Predicate};
    ///
    /// let device = Device::auto()?;
    /// let x = device.upload(&[3.0, 0.0, f32::NAN, -1.0])?;
    /// assert_eq!(device.count(&x, Predicate::Less(3.0))?, 2);
    /// assert_eq!(device.count(&x, Predicate::Nan)?, 1);
    /// assert_eq!(device.count(&x, Predicate::Nonzero)?, 3);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::OtherDevice`], [`Error::OutOfMemory`] (only the stream's first call allocates),
    /// [`Error::Cuda`], also for a kernel's own fault; [`Error::Deferred`].
    pub fn count<'a, T: Number>(
        &self,
        input: impl Into<View<'a, T>>,
        predicate: Predicate<T>,
    ) -> Result<u64, Error> {
        let input = input.into();
        self.check_owner(&input)?;
        let zero = zero();
        match predicate {
            Predicate::Equal(value) => self.count_by::<T, Equal>(input, "count_equal", value),
            Predicate::Less(value) => self.count_by::<T, Less>(input, "count_less", value),
            Predicate::Greater(value) => self.count_by::<T, Greater>(input, "count_greater", value),
            Predicate::Nan if !T::HAS_NAN => Ok(0),
            Predicate::Nan => self.count_by::<T, IsNan>(input, "count_is_nan", zero),
            Predicate::Nonzero => {
                let zeros = self.count_by::<T, Equal>(input, "count_equal", zero)?;
                Ok(input.len() as u64 - zeros)
            }
        }
    }

    /// Whether no element is zero; a NaN is not. Of nothing: true. All elements are read, also where
    /// the first says it.
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count).
    pub fn all<'a, T: Number>(&self, input: impl Into<View<'a, T>>) -> Result<bool, Error> {
        let input = input.into();
        Ok(self.count(input, Predicate::Nonzero)? == input.len() as u64)
    }

    /// Whether any element is not zero; a NaN is not. Of nothing: false. All elements are read, also
    /// where the first says it.
    ///
    /// # Errors
    ///
    /// As [`count`](Self::count).
    pub fn any<'a, T: Number>(&self, input: impl Into<View<'a, T>>) -> Result<bool, Error> {
        Ok(self.count(input, Predicate::Nonzero)? > 0)
    }

    /// The sum of the products of `a` and `b`, element by element, in 64 bits: an `i64` of signed
    /// integers and a `u64` of unsigned ones, which wrap; an `f64` of floats, where each product of 32
    /// bits and less is exact and `f64` rounds once. Bit-equal from run to run. Of nothing: 0 (for floats
    /// -0.0).
    ///
    /// It is fastest where both start alike: at multiples of 16 bytes, or as far behind one.
    ///
    /// ```
    /// use warpfold::Device;
    ///
    /// let device = Device::auto()?;
    /// let (a, b) = (device.upload(&[1.0f32, 2.0, 3.0])?, device.upload(&[4.0, 5.0, 6.0])?);
    /// assert_eq!(device.dot(&a, &b)?, 32.0);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Lengths`] where one is longer; otherwise as [`count`](Self::count).
    pub fn dot<'a, T: Number>(
        &self,
        a: impl Into<View<'a, T>>,
        b: impl Into<View<'a, T>>,
    ) -> Result<T::Wide, Error> {
        let (a, b) = (a.into(), b.into());
        self.check_owner(&a)?;
        self.check_owner(&b)?;
        if a.len() != b.len() {
            let (call, a, b) = ("dot", a.len(), b.len());
            return Err(Error::Lengths { call, a, b });
        }
        match (a.place(), b.place(), self.stream()) {
            (Place::Host(a), Place::Host(b), _) => Ok(cpu::dot(a, b)),
            (Place::Device(a), Place::Device(b), Some(stream)) if a.len() > 0 => {
                let kernel = SinglePassKernel::<T, T::Wide>::find(stream.gpu(), "dot")?;
                let info = &stream.gpu().info;
                let grid = Grid::of::<T>(a.len(), kernel.max_threads(), info);
                blocking(stream, |meeting| {
                    kernel.launch_two(stream, grid, [a, b], meeting)
                })
            }
            _ => Ok(T::NO_PRODUCTS),
        }
    }

    fn count_by<T: Element, P: Holds<T>>(
        &self,
        input: View<'_, T>,
        name: &'static str,
        value: T,
    ) -> Result<u64, Error> {
        match (input.place(), self.stream()) {
            (Place::Host(input), _) => Ok(cpu::count::<T, P>(input, value)),
            (Place::Device(input), Some(stream)) if input.len() > 0 => {
                let kernel = SinglePassKernel::<T, u64>::find(stream.gpu(), name)?;
                let info = &stream.gpu().info;
                let grid = Grid::of::<T>(input.len(), kernel.max_threads(), info);
                blocking(stream, |meeting| {
                    kernel.launch_with(stream, grid, input, value, meeting)
                })
            }
            _ => Ok(0),
        }
    }
}
