//! Reductions: checks the caller's options, then runs the reduction or makes a [`Plan`].

use kernels_gpu::entry::SinglePass;

use crate::backend::Backend;
use crate::cpu;
use crate::device::Device;
use crate::error::Error;
use crate::exact;
use crate::input::{self, Input, Items, Views};
use crate::plan::Plan;
use crate::reduced_by::ReducedBy;
use crate::single_pass::{self, GridOptions, Prepared};
use crate::temp::Scratch;
use crate::view_mut::{LocationMut, Target, ViewMut};

/// A reduction with its options, before it runs; made by [`Device::reduce`].
#[must_use = "nothing happens before run() or plan()"]
pub struct Reduction<'a, I: Items, O: SinglePass<I>> {
    pub(crate) device: Device,
    pub(crate) views: I::Of<Views<'a>>,
    pub(crate) op: O,
    pub(crate) options: GridOptions,
}

impl<'a, I: Items, O: SinglePass<I>> Reduction<'a, I, O> {
    /// Sets the threads per block: a power of two from 32 to the kernel's limit on the device.
    ///
    /// The limit is 512 for accumulators of up to 64 bytes. The default is that of [`Policy`](crate::Policy). The result
    /// has the same bits for any number of threads.
    pub fn threads(mut self, threads: u32) -> Self {
        self.options.threads = Some(threads);
        self
    }

    /// Runs the reduction and waits for the result.
    ///
    /// For empty input nothing is launched, and the result is the operator's
    /// [`empty`](kernels_gpu::op::Op::empty) result: 0 for sums, `None` for minima and maxima. On a GPU this
    /// is one launch; only the stream's first call allocates memory.
    ///
    /// # Errors
    ///
    /// Those of [`plan`](Self::plan), [`Plan::enqueue`] and [`Plan::result`].
    pub fn run(self) -> Result<O::Output, Error> {
        let Self {
            device,
            views,
            op,
            options,
        } = self;
        let n = device.check_input::<I>(views, O::ENTRY)?;
        let exact = device.exact_entry::<I, O>()?;
        if n == 0 {
            options.check(O::ENTRY)?;
            return Ok(op.empty());
        }
        if let Some(exact) = exact {
            options.check(O::ENTRY)?;
            let sum = exact::accumulate::<I>(&device, views, n, exact)?;
            return Ok(op.of_exact(&sum).expect("the operator has an exact kernel"));
        }
        let combined = match device.backend() {
            Backend::Gpu(queue) => single_pass::blocking::<I, O>(queue, views, n, op, options)?,
            Backend::Cpu(_) => {
                options.check(O::ENTRY)?;
                cpu::reduce::<I, O>(op, input::slices::<I>(views))
            }
        };
        Ok(op.finish(combined))
    }

    /// Prepares the reduction for any number of runs: checks the options and allocates the temporary storage.
    ///
    /// # Errors
    ///
    /// [`Error::BlockSize`], [`Error::GridTooLarge`], [`Error::Lengths`], [`Error::NotRegistered`],
    /// [`Error::OtherDevice`], [`Error::OutOfMemory`], [`Error::Cuda`], [`Error::Deferred`].
    pub fn plan(self) -> Result<Plan<'a, O::Output>, Error> {
        let Self {
            device,
            views,
            op,
            options,
        } = self;
        let n = device.check_input::<I>(views, O::ENTRY)?;
        device.refuse_exact::<I, O>("a plan stores accumulators of the operator")?;
        let kernel = O::ENTRY.kernel;
        if n == 0 {
            options.check(O::ENTRY)?;
            return Ok(Plan::empty(kernel, op));
        }
        match device.backend() {
            Backend::Gpu(queue) => {
                let prepared = Prepared::<I, O>::new(queue, views, n, op, options)?;
                let pass = prepared.pass();
                Ok(Plan::new(kernel, vec![pass], prepared))
            }
            Backend::Cpu(_) => {
                options.check(O::ENTRY)?;
                let items = input::slices::<I>(views);
                let work = move || cpu::reduce::<I, O>(op, items);
                Ok(Plan::on_cpu(kernel, work, move |acc| op.finish(acc)))
            }
        }
    }
}

impl Device {
    /// Describes a reduction of `input` by `op`; [`Reduction::run`] or [`Reduction::plan`] starts it.
    ///
    /// The operator is one of the library's or your own. Its items are the elements of one array, or one
    /// element of each of several arrays. A combination without a kernel does not compile.
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
    ///
    /// A function that is generic over the elements needs the bound [`ReducedBy`]. Every
    /// [`Number`](crate::Number) has it for the operators of the calls by name:
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

    /// [`reduce`](Self::reduce) for views.
    pub(crate) fn reduce_views<'a, I: ReducedBy<O>, O>(
        &self,
        views: I::Of<Views<'a>>,
        op: O,
    ) -> Reduction<'a, I, I::By> {
        Reduction {
            device: self.clone(),
            views,
            op: I::by(op),
            options: GridOptions::default(),
        }
    }

    /// Reduces `input` by `op` and stores the result on the device, in element `at` of `cells`.
    ///
    /// The result has the operator's accumulator type, [`Op::Acc`](kernels_gpu::op::Op::Acc). For sums,
    /// minima and maxima of 32-bit and 64-bit numbers that is the element type. On a GPU the call enqueues
    /// one launch and returns; it neither allocates nor waits.
    ///
    /// For empty input it stores the operator's identity, also for operators whose result would be `None`:
    /// infinity for a minimum of floats, -0.0 for their sum.
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
    /// Several threads can store into disjoint parts of one buffer: see [`ViewMut`].
    ///
    /// # Errors
    ///
    /// [`Error::ViewRange`] if `cells` has no element `at`; [`Error::OtherStream`] if `scratch` belongs to
    /// another stream; [`Error::Lengths`], [`Error::NotRegistered`], [`Error::OtherDevice`], [`Error::Cuda`],
    /// [`Error::Deferred`].
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

    /// [`reduce_into`](Self::reduce_into) for views.
    pub(crate) fn reduce_views_into<I: Items, O: SinglePass<I>>(
        &self,
        views: I::Of<Views<'_>>,
        op: O,
        cells: ViewMut<'_, O::Acc>,
        at: usize,
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let n = self.check_input::<I>(views, O::ENTRY)?;
        self.refuse_exact::<I, O>("the cell is an accumulator of the operator")?;
        let cell = cells.part(at..at.saturating_add(1))?;
        self.backend().check_same(cell.owner())?;
        match (cell.into_location(), self.backend()) {
            (LocationMut::Host(cell), Backend::Cpu(_)) => {
                scratch.of(self.backend())?;
                cell[0] = cpu::reduce::<I, O>(op, input::slices::<I>(views));
                Ok(())
            }
            (LocationMut::Device(cell), Backend::Gpu(queue)) => {
                let storage = scratch.of(self.backend())?.ok_or(Error::OtherStream)?;
                single_pass::enqueue::<I, O>(queue, views, n, op, cell, storage)
            }
            _ => unreachable!("the input and the cells are on this device"),
        }
    }
}

impl<I: Items, O: SinglePass<I>> std::fmt::Debug for Reduction<'_, I, O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            device, options, ..
        } = self;
        write!(f, "Reduction({} on {device}, {options:?})", O::ENTRY.name)
    }
}
