//! Launching kernels: one typed function per entry ABI. `launch!` occurs nowhere else.

use std::marker::PhantomData;
use std::sync::Arc;

use cust::function::{Function, FunctionAttribute};
use cust::launch;
use kernels_gpu::entry::{ENTRIES, Entry};

use crate::algorithm::{Pass, Shape};
use crate::driver::check;
use crate::element::Element;
use crate::error::Error;
use crate::gpu::Gpu;
use crate::memory::{DeviceMemory, Span};
use crate::operator::Operator;

/// The table's row for a kernel with an operator and an element type.
pub(crate) fn entry<T: Element, O: Operator<T>>(
    kernel: &'static str,
) -> Result<&'static Entry, Error> {
    let (op, element) = (O::NAME, T::NAME);
    ENTRIES
        .iter()
        .find(|entry| entry.kernel == kernel && entry.op == op && entry.element == element)
        .ok_or(Error::NotAvailable {
            kernel,
            op,
            element,
        })
}

/// One entry point of the device's module, looked up.
pub(crate) struct Kernel<T: Element> {
    // Valid as long as the module, which `gpu` keeps.
    function: Function<'static>,
    shape: Shape,
    max_threads: u32,
    gpu: Arc<Gpu>,
    element: PhantomData<fn(T)>,
}

impl<T: Element> Kernel<T> {
    pub(crate) fn find<O: Operator<T>>(gpu: &Arc<Gpu>, shape: Shape) -> Result<Self, Error> {
        let entry = entry::<T, O>(shape.kernel)?;
        gpu.enter()?;
        let function = check(|| gpu.module.get_function(entry.name))?;
        let attribute = FunctionAttribute::MaxThreadsPerBlock;
        let max_threads = check(|| function.get_attribute(attribute))?.unsigned_abs();
        // SAFETY: the lifetime is a marker without data that ties the function to its
        // module. The module is loaded as long as `gpu`, which the kernel keeps below.
        let function = unsafe { std::mem::transmute::<Function<'_>, Function<'static>>(function) };
        Ok(Self {
            function,
            shape,
            max_threads: max_threads.min(gpu.info.max_threads_per_block),
            gpu: Arc::clone(gpu),
            element: PhantomData,
        })
    }

    /// The most threads per block: the device's limit, or less where registers run out.
    pub(crate) fn max_threads(&self) -> u32 {
        self.max_threads
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Puts one pass on the device's stream and returns. The context is current.
    ///
    /// A fault of the kernel is an error of the first call that waits for it.
    pub(crate) fn launch(
        &self,
        pass: &Pass,
        input: Span<'_, T>,
        output: &mut DeviceMemory<T>,
    ) -> Result<(), Error> {
        assert!(input.len() as u64 == pass.n && pass.n > 0);
        assert!(output.len() >= self.shape.needs.outputs(pass.blocks));
        assert!(Arc::ptr_eq(input.gpu(), &self.gpu) && Arc::ptr_eq(output.gpu(), &self.gpu));

        let (function, stream) = (&self.function, &self.gpu.stream);
        let (blocks, threads) = (pass.blocks, pass.threads);
        let shared = self.shape.needs.shared_bytes(threads, size_of::<T>()) as u32;
        let (from, n) = (input.pointer(), input.len() as u64);
        let (to, room) = (output.pointer(), output.len() as u64);
        check(|| {
            // SAFETY:
            // - ABI: every entry of ENTRIES takes (*const E, u64, *mut E, u64) for the
            //   primitive `E` that it names; `find` took this one by `T::NAME`, which names a
            //   primitive of `T`'s size, alignment and ABI (Element's law; the trait is sealed).
            // - Input: `n` elements at `from` are in live device memory of this device (Span
            //   holds the borrow; asserted above); they are aligned for `T`, since allocations
            //   are aligned to 256 bytes and views start at an element. `read_ceiling` wants 16:
            //   checked where its plan is made.
            // - Output: memory of this device with room for what the kernel writes (asserted
            //   above); it is borrowed mutably, so it is not the input.
            // - Shape: `threads` was checked (check_threads, wherever a plan is made), and
            //   `blocks` covers `n` (Shape::passes made the pass). Only the pass of
            //   `read_ceiling` is made elsewhere, in Device::read_ceiling: its kernel is
            //   grid-stride and right for any number of blocks. The dynamic shared memory is
            //   what the kernel indexes, at most 1024 elements.
            // - Time: both memories are freed only after a wait for this stream
            //   (DeviceMemory's Drop), and read by the host only through it.
            unsafe { launch!(function<<<blocks, threads, shared, stream>>>(from, n, to, room)) }
        })
    }
}
