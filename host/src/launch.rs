//! Launching kernels: one typed function per entry ABI. `launch!` occurs nowhere else.

use std::marker::PhantomData;
use std::sync::{Arc, LazyLock};

use cust::launch;
use kernels_gpu::entry::copy::CopyEntry;
use kernels_gpu::entry::single_pass::{self, Reads, SinglePassEntry};
use kernels_gpu::entry::triple::TripleEntry;
use kernels_gpu::entry::{ENTRIES, Entry, keyed};
use rustc_hash::FxHashMap;

use crate::algorithm::{Pass, Shape};
use crate::driver::check;
use crate::element::Element;
use crate::error::Error;
use crate::gpu::{Gpu, Loaded};
use crate::keyed::Key;
use crate::memory::{Cell, DeviceMemory, Span};
use crate::operator::Operator;
use crate::policy::Policy;
use crate::single_pass::{Grid, Meeting};
use crate::stream::Stream;

/// The table's row for a kernel with an operator and an element type.
pub(crate) fn entry<T: Element>(
    kernel: &'static str,
    op: &'static str,
) -> Result<&'static Entry, Error> {
    type Index = FxHashMap<[&'static str; 3], &'static Entry>;
    static INDEX: LazyLock<Index> = LazyLock::new(|| {
        let key = |entry: &Entry| [entry.kernel, entry.op, entry.element];
        ENTRIES.iter().map(|entry| (key(entry), entry)).collect()
    });
    let element = T::NAME;
    let entry = INDEX.get(&[kernel, op, element]).copied();
    entry.ok_or(Error::NotAvailable {
        kernel,
        op,
        element,
    })
}

/// The single passes' row for an operator and an element type.
pub(crate) fn single_pass_entry(
    op: &'static str,
    element: &'static str,
) -> Result<&'static SinglePassEntry, Error> {
    type Index = FxHashMap<[&'static str; 2], &'static SinglePassEntry>;
    static INDEX: LazyLock<Index> = LazyLock::new(|| {
        let rows = single_pass::ENTRIES.iter();
        rows.map(|entry| ([entry.op, entry.element], entry))
            .collect()
    });
    INDEX
        .get(&[op, element])
        .copied()
        .ok_or(Error::NotAvailable {
            kernel: "single_pass",
            op,
            element,
        })
}

/// An entry point of a device's module, looked up.
struct Function {
    // Valid as long as the module, which `gpu` keeps.
    loaded: Arc<Loaded>,
    gpu: Arc<Gpu>,
}

impl Function {
    fn find(gpu: &Arc<Gpu>, module: &'static str, name: &'static str) -> Result<Self, Error> {
        Ok(Self {
            loaded: gpu.function(module, name)?,
            gpu: Arc::clone(gpu),
        })
    }

    fn handle(&self) -> &cust::function::Function<'static> {
        &self.loaded.function
    }

    /// The most threads per block: the device's limit, or less where registers run out.
    fn max_threads(&self) -> u32 {
        self.loaded.max_threads
    }

    /// Whether all of them are this function's device's.
    fn is_of(&self, gpus: &[&Arc<Gpu>]) -> bool {
        gpus.iter().all(|gpu| Arc::ptr_eq(gpu, &self.gpu))
    }
}

/// What the passes of a plan launch.
pub(crate) struct Kernels<T: Element, A: Element> {
    /// Over the input.
    pub(crate) first: Kernel<T, A>,
    /// Over partials.
    pub(crate) second: Kernel<A, A>,
}

impl<T: Element, A: Element> Kernels<T, A> {
    pub(crate) fn find<O: Operator<T, Acc = A>>(
        gpu: &Arc<Gpu>,
        shape: Shape,
    ) -> Result<Self, Error> {
        let of_partials = Shape {
            kernel: shape.second(),
            ..shape
        };
        Ok(Self {
            first: Kernel::find(gpu, shape, O::NAME)?,
            second: Kernel::find(gpu, of_partials, O::NAME)?,
        })
    }

    /// What the first pass looks like.
    pub(crate) fn shape(&self) -> &Shape {
        &self.first.shape
    }
}

/// One entry point of the device's module: of elements `T` and accumulators `A`.
pub(crate) struct Kernel<T: Element, A: Element> {
    function: Function,
    shape: Shape,
    types: PhantomData<fn(T) -> A>,
}

impl<T: Element, A: Element> Kernel<T, A> {
    fn find(gpu: &Arc<Gpu>, shape: Shape, op: &'static str) -> Result<Self, Error> {
        let entry = entry::<T>(shape.kernel, op)?;
        assert_eq!(entry.acc_bytes, size_of::<A>());
        Ok(Self {
            function: Function::find(gpu, entry.module, entry.name)?,
            shape,
            types: PhantomData,
        })
    }

    /// The most threads per block.
    pub(crate) fn max_threads(&self) -> u32 {
        self.function.max_threads()
    }

    /// Puts one pass on the stream and returns. The context is current.
    ///
    /// A fault of the kernel is an error of the first call that waits for it.
    pub(crate) fn launch(
        &self,
        stream: &Stream,
        pass: &Pass,
        input: Span<'_, T>,
        output: &mut DeviceMemory<A>,
    ) -> Result<(), Error> {
        assert!(input.len() as u64 == pass.n && pass.n > 0);
        assert!(output.len() >= self.shape.needs.outputs(pass.blocks));
        assert!(
            self.function
                .is_of(&[input.gpu(), output.gpu(), stream.gpu()])
        );

        let function = self.function.handle();
        let (blocks, threads) = (pass.blocks, pass.threads);
        let shared = self.shape.needs.shared_bytes(threads, size_of::<A>()) as u32;
        let (from, n) = (input.address(), input.len() as u64);
        let (to, room) = (output.address(), output.len() as u64);
        check(|| {
            // SAFETY:
            // - ABI: every entry of ENTRIES takes (*const E, u64, *mut B, u64) for the
            //   primitive `E` that it names and the accumulator `B` of its operator over it; `find`
            //   took this one by `T::NAME`, which names a primitive of `T`'s size, alignment and ABI
            //   (Element's law; the trait is sealed), and `Kernels::find` by the operator whose
            //   accumulator is `A`, which it has over `A` too.
            // - Input: `n` elements at `from` are in live device memory of this device (Span
            //   holds the borrow; asserted above); they are aligned for `T`, since allocations
            //   are aligned to 256 bytes and views start at an element. `read_ceiling` wants 16:
            //   checked where its plan is made.
            // - Output: memory of this device with room for what the kernel writes (asserted
            //   above); it is borrowed mutably, so it is not the input.
            // - Shape: `threads` was checked (check_threads, wherever a plan is made), and
            //   `blocks` covers `n` (Shape::passes made the pass). Only the pass of
            //   `read_ceiling` is made elsewhere, in Device::read_ceiling: its kernel is
            //   grid-stride and right for any number of blocks, as those of a limited shape are. The
            //   second pass of such a shape has 1024 threads, which every device has, for a kernel
            //   that needs few registers; if it had more, the launch would be refused. The dynamic shared memory is
            //   what the kernel indexes, at most 1024 elements.
            // - Time: both memories are freed only after a wait for all streams
            //   (DeviceMemory's Drop), and read by the host only through it.
            unsafe { launch!(function<<<blocks, threads, shared, stream>>>(from, n, to, room)) }
        })
    }
}

/// The address of an input that may be empty: an empty one has none, and a kernel's slice must not
/// begin at null.
fn address_of<T: Element>(input: Span<'_, T>) -> u64 {
    input.address().max(align_of::<T>() as u64)
}

/// One entry point that reduces in a single pass: of elements `T` and accumulators `A`.
pub(crate) struct SinglePassKernel<T: Element, A: Element> {
    function: Function,
    entry: &'static SinglePassEntry,
    types: PhantomData<fn(T) -> A>,
}

impl<T: Element, A: Element> SinglePassKernel<T, A> {
    /// Of the operator of this name, whose accumulators over `T` are `A`.
    pub(crate) fn find(gpu: &Arc<Gpu>, op: &'static str) -> Result<Self, Error> {
        let entry = single_pass_entry(op, T::NAME)?;
        assert_eq!(entry.acc_bytes, size_of::<A>());
        Ok(Self {
            function: Function::find(gpu, entry.module, entry.name)?,
            entry,
            types: PhantomData,
        })
    }

    /// The most threads per block.
    pub(crate) fn max_threads(&self) -> u32 {
        self.function.max_threads()
    }

    /// Puts the reduction of `input` on the stream and returns. The context is current.
    pub(crate) fn launch(
        &self,
        stream: &Stream,
        grid: Grid,
        input: Span<'_, T>,
        meeting: Meeting<'_, A>,
    ) -> Result<(), Error> {
        assert!(self.entry.reads == Reads::One && self.function.is_of(&[input.gpu()]));
        let (blocks, threads, shared) = self.checked(stream, grid, &meeting);
        let function = self.function.handle();
        let (from, n) = (address_of(input), input.len() as u64);
        let [partials, room, tickets, result] = meeting.parameters();
        check(|| {
            // SAFETY: as `checked` says; an entry that reads one array takes (*const E, u64) before
            // the parameters of the meeting, and `n` elements at `from` are in live device memory of
            // this device (Span holds the borrow; asserted above).
            unsafe {
                launch!(function<<<blocks, threads, shared, stream>>>(
                    from, n, partials, room, tickets, result
                ))
            }
        })
    }

    /// Puts the reduction of `a` and `b` side by side on the stream and returns. The context is
    /// current.
    pub(crate) fn launch_two(
        &self,
        stream: &Stream,
        grid: Grid,
        [a, b]: [Span<'_, T>; 2],
        meeting: Meeting<'_, A>,
    ) -> Result<(), Error> {
        assert!(self.entry.reads == Reads::Two && a.len() == b.len());
        assert!(self.function.is_of(&[a.gpu(), b.gpu()]));
        let (blocks, threads, shared) = self.checked(stream, grid, &meeting);
        let function = self.function.handle();
        let (a, b, n) = (a.address(), b.address(), a.len() as u64);
        let [partials, room, tickets, result] = meeting.parameters();
        check(|| {
            // SAFETY: as `checked` says; an entry that reads two arrays takes (*const E, u64, *const E,
            // u64) before the parameters of the meeting, and there are `n` elements at both (Span;
            // asserted above).
            unsafe {
                launch!(function<<<blocks, threads, shared, stream>>>(
                    a, n, b, n, partials, room, tickets, result
                ))
            }
        })
    }

    /// Puts the reduction of `input` with a value beside it on the stream and returns. The context is
    /// current.
    pub(crate) fn launch_with(
        &self,
        stream: &Stream,
        grid: Grid,
        input: Span<'_, T>,
        value: T,
        meeting: Meeting<'_, A>,
    ) -> Result<(), Error> {
        assert!(self.entry.reads == Reads::OneAndValue && self.function.is_of(&[input.gpu()]));
        let (blocks, threads, shared) = self.checked(stream, grid, &meeting);
        let function = self.function.handle();
        let (from, n, value) = (input.address(), input.len() as u64, Cell(value));
        let [partials, room, tickets, result] = meeting.parameters();
        check(|| {
            // SAFETY: as `checked` says; an entry with a value takes (*const E, u64, E) before the
            // parameters of the meeting, and there are `n` elements at `from` (Span; asserted above).
            unsafe {
                launch!(function<<<blocks, threads, shared, stream>>>(
                    from, n, value, partials, room, tickets, result
                ))
            }
        })
    }

    /// What all three launches rest on:
    ///
    /// - ABI: the entries' parameters are as their table says, of the primitive `E` that it names and
    ///   the accumulators of the operator; `find` took this one by `T::NAME`, which names a primitive
    ///   of `T`'s size, alignment and ABI (Element's law; the trait is sealed), and held the size of
    ///   the accumulators against `A`'s.
    /// - Input: aligned, since allocations are aligned to 256 bytes and views start at an element.
    /// - Meeting: memory of this device that is the launch's alone, as long as it is on the stream: it
    ///   belongs to this stream, whose launches do not overlap. There is room for a partial of each
    ///   block; they and the tickets are 0 where no launch has failed half way, after which the device
    ///   gives no answers at all.
    /// - Shape: whole warps, no more than the kernel's registers allow. Any number of blocks is right.
    ///   The dynamic shared memory is what the kernel indexes.
    /// - Time: all memory is freed only after a wait for all streams, and read by the host only
    ///   through one.
    fn checked(&self, stream: &Stream, grid: Grid, meeting: &Meeting<'_, A>) -> (u32, u32, u32) {
        let Grid { blocks, threads } = grid;
        assert!(threads.is_multiple_of(32) && (32..=self.max_threads()).contains(&threads));
        assert!((1..=Policy::SINGLE_PASS_MAX_BLOCKS).contains(&blocks));
        assert!(self.function.is_of(&[stream.gpu(), meeting.gpu]));
        (blocks, threads, self.entry.shared_bytes(threads) as u32)
    }
}

/// The keyed table's row for a kernel of so many arrays of values, with its types.
pub(crate) fn keyed_entry<K: Key, T: Element, O: Operator<T>>(
    kernel: &'static str,
    arrays: usize,
) -> Result<&'static keyed::Entry, Error> {
    let (op, element, key) = (O::NAME, T::NAME, K::NAME);
    let is_it = |entry: &&keyed::Entry| {
        // `keyed_match_x3` is `keyed_match` of three arrays.
        let (name, suffix) = entry.kernel.split_at(kernel.len().min(entry.kernel.len()));
        name == kernel
            && (suffix.is_empty() || suffix.starts_with("_x"))
            && (entry.op, entry.element, entry.key) == (op, element, key)
            && entry.arrays == arrays
    };
    keyed::ENTRIES
        .iter()
        .find(is_it)
        .ok_or(Error::NoKeyedKernel {
            kernel,
            op,
            element,
            key,
            arrays,
        })
}

/// One entry point of the keyed table, looked up.
pub(crate) struct KeyedKernel<K: Key, T: Element> {
    function: Function,
    entry: &'static keyed::Entry,
    types: PhantomData<fn(K, T)>,
}

impl<K: Key, T: Element> KeyedKernel<K, T> {
    /// Of a row that [`keyed_entry`] gave for these types.
    pub(crate) fn find(gpu: &Arc<Gpu>, entry: &'static keyed::Entry) -> Result<Self, Error> {
        assert_eq!((entry.key, entry.element), (K::NAME, T::NAME));
        Ok(Self {
            function: Function::find(gpu, entry.module, entry.name)?,
            entry,
            types: PhantomData,
        })
    }

    /// The most threads per block.
    pub(crate) fn max_threads(&self) -> u32 {
        self.function.max_threads()
    }

    /// Puts the reduction of all elements on the stream and returns. The context is current.
    pub(crate) fn launch(
        &self,
        stream: &Stream,
        threads: u32,
        keys: Span<'_, K>,
        values: Span<'_, T>,
        cells: &mut DeviceMemory<T>,
        rejected: &mut DeviceMemory<u64>,
    ) -> Result<(), Error> {
        assert!(values.len() == keys.len() * self.entry.arrays);
        assert!(cells.len().is_multiple_of(self.entry.arrays) && rejected.len() == 1);
        let gpu = stream.gpu();
        let gpus = [gpu, keys.gpu(), values.gpu(), cells.gpu(), rejected.gpu()];
        assert!(self.function.is_of(&gpus));
        if keys.len() == 0 {
            return Ok(());
        }
        let tile = u64::from(threads) * self.entry.per_thread as u64;
        let blocks = (keys.len() as u64).div_ceil(tile);
        if blocks > u64::from(gpu.info.max_blocks) {
            return Err(Error::GridTooLarge {
                kernel: self.entry.kernel,
                blocks,
                threads,
                limit: gpu.info.max_blocks,
            });
        }
        let blocks = blocks as u32;

        let function = self.function.handle();
        let (from, n) = (keys.address(), keys.len() as u64);
        let (what, count) = (values.address(), values.len() as u64);
        let (to, room) = (cells.address(), cells.len() as u64);
        let (outside, one) = (rejected.address(), 1u64);
        check(|| {
            // SAFETY:
            // - ABI: every entry of the keyed table takes (*const K, u64, *const T, u64, *mut T,
            //   u64, *mut u64, u64) for the primitives that it names; `find` has compared the names
            //   (Element's law; the trait is sealed).
            // - Input: `n` keys and `count` values, as many for each key as the entry takes, are in
            //   live device memory of this device (the spans hold the borrows; asserted above) and
            //   aligned, since allocations are aligned to 256 bytes and views start at an element.
            // - Output: memory of this device, borrowed mutably, so it is none of the inputs. A key
            //   that names no cell is not used.
            // - Shape: `threads` was checked (Cells::combine); `blocks` covers all elements. No
            //   dynamic shared memory is used.
            // - Time: all memory is freed only after a wait for all streams (DeviceMemory's Drop),
            //   and read by the host only through it.
            unsafe {
                launch!(function<<<blocks, threads, 0, stream>>>(
                    from, n, what, count, to, room, outside, one
                ))
            }
        })
    }
}

/// One entry point that copies, looked up.
pub(crate) struct CopyKernel<T: Element> {
    function: Function,
    element: PhantomData<fn(T)>,
}

impl<T: Element> CopyKernel<T> {
    pub(crate) fn find(gpu: &Arc<Gpu>, entry: &CopyEntry) -> Result<Self, Error> {
        assert!(entry.element_bytes == size_of::<T>());
        Ok(Self {
            function: Function::find(gpu, entry.module, entry.name)?,
            element: PhantomData,
        })
    }

    /// Puts a copy of `from` to the elements of `to` from `at` on on the stream and returns. The
    /// context is current.
    pub(crate) fn launch(
        &self,
        stream: &Stream,
        pass: &Pass,
        from: Span<'_, T>,
        to: &mut DeviceMemory<T>,
        at: usize,
    ) -> Result<(), Error> {
        assert!(from.len() as u64 == pass.n && pass.n > 0 && pass.threads >= 32);
        assert!(at <= to.len() && from.len() <= to.len() - at);
        assert!(self.function.is_of(&[from.gpu(), to.gpu(), stream.gpu()]));

        let function = self.function.handle();
        let (blocks, threads) = (pass.blocks, pass.threads);
        let (source, n) = (from.address(), from.len() as u64);
        let target = to.span(at, from.len()).address();
        check(|| {
            // SAFETY:
            // - ABI: every entry of the copies takes (*const E, u64, *mut E, u64) for an
            //   unsigned integer `E` of the element's size; `find` took one of `T`'s size, whose
            //   alignment is the same, and every pattern of bits is a valid `T` (Element's law).
            // - Source and target: `n` elements each, in live device memory of this device
            //   (Span holds the borrow; asserted above), aligned for `T`, since allocations are
            //   aligned to 256 bytes and both start at an element. The target's memory is
            //   borrowed mutably, so it is not the source's.
            // - Shape: the kernel strides by the grid and is right for any number of blocks of at
            //   least 32 threads; 1024 or less (`copy::pass`).
            // - Time: both memories are freed only after a wait for all streams
            //   (DeviceMemory's Drop), and read by the host only through it.
            unsafe { launch!(function<<<blocks, threads, 0, stream>>>(source, n, target, n)) }
        })
    }
}

/// One entry point that sums triples, looked up.
pub(crate) struct TripleKernel<T: Element> {
    function: Function,
    element: PhantomData<fn(T)>,
}

impl<T: Element> TripleKernel<T> {
    pub(crate) fn find(gpu: &Arc<Gpu>, entry: &TripleEntry) -> Result<Self, Error> {
        assert_eq!(entry.element, T::NAME);
        Ok(Self {
            function: Function::find(gpu, entry.module, entry.name)?,
            element: PhantomData,
        })
    }

    /// Puts the addition of all triples to the three `cells` on the stream and returns. The context is
    /// current.
    pub(crate) fn launch(
        &self,
        stream: &Stream,
        pass: &Pass,
        input: Span<'_, T>,
        cells: &mut DeviceMemory<T>,
    ) -> Result<(), Error> {
        assert!(input.len() as u64 == pass.n && pass.n.is_multiple_of(3) && cells.len() == 3);
        assert!(pass.threads.is_multiple_of(32));
        assert!(
            self.function
                .is_of(&[input.gpu(), cells.gpu(), stream.gpu()])
        );

        let function = self.function.handle();
        let (blocks, threads) = (pass.blocks, pass.threads);
        let (from, n) = (input.address(), input.len() as u64);
        let (to, room) = (cells.address(), cells.len() as u64);
        check(|| {
            // SAFETY:
            // - ABI: every entry of the triples takes (*const E, u64, *mut E, u64) for the
            //   primitive `E` that it names; `find` has compared the name (Element's law).
            // - Input: `n` elements, whole triples (asserted above), in live device memory of this
            //   device (Span holds the borrow), aligned, since allocations are aligned to 256
            //   bytes and views start at an element.
            // - Output: three cells of this device (asserted above), borrowed mutably, so they are
            //   not the input.
            // - Shape: the kernel strides by the grid and is right for any number of blocks of whole
            //   warps; 256 threads (`triple::pass`). No shared memory is used.
            // - Time: both memories are freed only after a wait for all streams
            //   (DeviceMemory's Drop), and read by the host only through it.
            unsafe { launch!(function<<<blocks, threads, 0, stream>>>(from, n, to, room)) }
        })
    }
}
