//! Reductions: what the caller asks for, checked, and done or turned into a [`Plan`].

use kernels_gpu::entry::SinglePass;

use crate::backend::Backend;
use crate::cpu;
use crate::device::Device;
use crate::error::Error;
use crate::input::{self, Input, Items, Views};
use crate::plan::Plan;
use crate::reduced_by::ReducedBy;
use crate::single_pass::{self, Asked, Prepared};
use crate::temp::Scratch;
use crate::view_mut::{PlaceMut, Target, ViewMut};

/// A reduction that has been described and not yet run; see [`Device::reduce`].
#[must_use = "nothing happens before run() or plan()"]
pub struct Reduction<'a, I: Items, O: SinglePass<I>> {
    pub(crate) device: Device,
    pub(crate) views: I::Of<Views<'a>>,
    pub(crate) op: O,
    pub(crate) asked: Asked,
}

impl<'a, I: Items, O: SinglePass<I>> Reduction<'a, I, O> {
    /// Chooses the threads per block, a power of two from 32 to the kernel's limit on the
    /// device (1024 for accumulators of up to 16 bytes); the default is that of
    /// [`Policy`](crate::Policy).
    pub fn threads(mut self, threads: u32) -> Self {
        self.asked.threads = Some(threads);
        self
    }

    /// Chooses the blocks of the grid, 1 or more, whose threads go on until the input ends (at most
    /// [`Policy::SINGLE_PASS_MAX_BLOCKS`](crate::Policy::SINGLE_PASS_MAX_BLOCKS); fewer of accumulators of
    /// more than 24 bytes). The default is as many as keep the device's memory busy, or fewer for a short
    /// input.
    pub fn blocks(mut self, blocks: u32) -> Self {
        self.asked.blocks = Some(blocks);
        self
    }

    /// Runs it and waits. For empty input it gives the operator's [`empty`](kernels_gpu::op::Op::empty) result
    /// and launches nothing: 0 of sums, `None` of minima and maxima.
    ///
    /// On a GPU this is one launch, without an allocation after the stream's first call.
    ///
    /// # Errors
    ///
    /// Those of [`plan`](Self::plan), [`Plan::enqueue`] and [`Plan::result`].
    pub fn run(self) -> Result<O::Output, Error> {
        let Self {
            device,
            views,
            op,
            asked,
        } = self;
        let n = device.check_input::<I>(views, O::ENTRY)?;
        if n == 0 {
            asked.check(O::ENTRY)?;
            return Ok(op.empty());
        }
        let combined = match device.backend() {
            Backend::Gpu(queue) => single_pass::blocking::<I, O>(queue, views, n, op, asked)?,
            Backend::Cpu(_) => {
                asked.check(O::ENTRY)?;
                cpu::reduce::<I, O>(op, input::slices::<I>(views))
            }
        };
        Ok(op.finish(combined))
    }

    /// Checks everything and allocates the temporary storage, for any number of runs.
    ///
    /// # Errors
    ///
    /// [`Error::BlockSize`], [`Error::Blocks`], [`Error::Lengths`], [`Error::NotRegistered`],
    /// [`Error::OtherDevice`], [`Error::OutOfMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn plan(self) -> Result<Plan<'a, O::Output>, Error> {
        let Self {
            device,
            views,
            op,
            asked,
        } = self;
        let n = device.check_input::<I>(views, O::ENTRY)?;
        let kernel = O::ENTRY.kernel;
        if n == 0 {
            asked.check(O::ENTRY)?;
            return Ok(Plan::of_nothing(kernel, op));
        }
        match device.backend() {
            Backend::Gpu(queue) => {
                let prepared = Prepared::<I, O>::new(queue, views, n, op, asked)?;
                let pass = prepared.pass();
                Ok(Plan::new(kernel, vec![pass], prepared))
            }
            Backend::Cpu(_) => {
                asked.check(O::ENTRY)?;
                let items = input::slices::<I>(views);
                let work = move || cpu::reduce::<I, O>(op, items);
                Ok(Plan::on_cpu(kernel, work, move |acc| op.finish(acc)))
            }
        }
    }
}

impl Device {
    /// Describes a reduction of `input` by `op`, which [`Reduction::run`] or
    /// [`Reduction::plan`] then does.
    ///
    /// The operator is one of the library's or your own, over the elements of one array or of several side
    /// by side; what has no kernel does not compile.
    ///
    /// ```
    /// use warpfold::{ArgMax, Device, Dot, Sum};
    ///
    /// let device = Device::auto()?;
    /// let (x, y) = (device.upload(&[1i32, 2, 3, 4])?, device.upload(&[1i32, 0, 1, 0])?);
    /// assert_eq!(device.reduce(&x, Sum).threads(64).run()?, 10);
    /// assert_eq!(device.reduce((&x, &y), Dot).run()?, 4);
    /// let last = device.reduce(x.view(..3)?, ArgMax).run()?;
    /// assert_eq!(last.map(|last| last.index()), Some(2));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    /// A function over any elements that the operator reduces has the bound [`ReducedBy`], which every
    /// [`Number`](crate::Number) has for the operators of the calls by name:
    ///
    /// ```
    /// use warpfold::{Buffer, Device, Error, Number, Sum};
    ///
    /// fn total<T: Number>(device: &Device, x: &Buffer<T>) -> Result<T, Error> {
    ///     device.reduce(x, Sum).run()
    /// }
    ///
    /// let device = Device::auto()?;
    /// assert_eq!(total(&device, &device.upload(&[1.5, 2.0])?)?, 3.5);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn reduce<'a, I: ReducedBy<O>, O>(
        &self,
        input: impl Input<'a, I>,
        op: O,
    ) -> Reduction<'a, I, I::By> {
        self.reduce_views(input.into_views(), op)
    }

    /// The same, of views.
    pub(crate) fn reduce_views<'a, I: ReducedBy<O>, O>(
        &self,
        views: I::Of<Views<'a>>,
        op: O,
    ) -> Reduction<'a, I, I::By> {
        Reduction {
            device: self.clone(),
            views,
            op: I::by(op),
            asked: Asked::default(),
        }
    }

    /// Reduces `input` by `op` and leaves the result on the device, in element `at` of `cells`, in the
    /// type that the operator combines in ([`Op::Acc`](kernels_gpu::op::Op::Acc): that of the elements
    /// for sums, minima and maxima of 32 and 64 bits). On a GPU it enqueues one launch and returns: no
    /// allocation, no wait.
    ///
    /// For empty input the element becomes the operator's identity, also of operators whose result is then
    /// `None`: infinity of a minimum of floats, -0.0 of their sum.
    ///
    /// ```
    /// use warpfold::{Device, Sum};
    ///
    /// let device = Device::auto()?;
    /// let (x, y) = (device.upload(&[1, 2, 3])?, device.upload(&[10, 20])?);
    /// let mut sums = device.alloc::<i32>(2)?;
    /// let mut scratch = device.scratch()?;
    /// device.reduce_into(&x, Sum, &mut sums, 0, &mut scratch)?;
    /// device.reduce_into(&y, Sum, &mut sums, 1, &mut scratch)?;
    /// assert_eq!(sums.download()?, [6, 30]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ///
    /// Several threads fill one buffer by parts of it: see [`ViewMut`].
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] when there is no element `at`; [`Error::OtherStream`] when the scratch was
    /// made by another stream than this one; [`Error::Lengths`], [`Error::NotRegistered`],
    /// [`Error::OtherDevice`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn reduce_into<'a, 'c, I: Items, O: SinglePass<I>>(
        &self,
        input: impl Input<'a, I>,
        op: O,
        cells: impl Target<'c, O::Acc>,
        at: usize,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let cells = cells.into_view_mut();
        self.reduce_views_into::<I, O>(input.into_views(), op, cells, at, scratch)
    }

    /// The same, of views.
    pub(crate) fn reduce_views_into<I: Items, O: SinglePass<I>>(
        &self,
        views: I::Of<Views<'_>>,
        op: O,
        cells: ViewMut<'_, O::Acc>,
        at: usize,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let n = self.check_input::<I>(views, O::ENTRY)?;
        let cell = cells.part(at..at.saturating_add(1))?;
        self.backend().check_same(cell.owner())?;
        match (cell.into_place(), self.backend()) {
            (PlaceMut::Host(cell), Backend::Cpu(_)) => {
                scratch.of(self.backend())?;
                cell[0] = cpu::reduce::<I, O>(op, input::slices::<I>(views));
                Ok(())
            }
            (PlaceMut::Device(cell), Backend::Gpu(queue)) => {
                let storage = scratch.of(self.backend())?.ok_or(Error::OtherStream)?;
                single_pass::enqueue::<I, O>(queue, views, n, op, cell, storage)
            }
            _ => unreachable!("the input and the cells are on this device"),
        }
    }
}

impl<I: Items, O: SinglePass<I>> std::fmt::Debug for Reduction<'_, I, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { device, asked, .. } = self;
        write!(f, "Reduction({} on {device}, {asked:?})", O::ENTRY.name)
    }
}
