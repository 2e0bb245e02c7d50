//! Launching kernels: the one launch there is, of any entry point, with a list of arguments that is checked
//! against the parameters of its row.

use std::ffi::c_void;
use std::sync::Arc;

use kernels_gpu::entry::{Entry, Parameter};

use crate::element::Element;
use crate::error::Error;
use crate::gpu::Gpu;
use crate::memory::{DeviceMemory, Span, SpanMut};
use crate::module::Function;
use crate::stream::Stream;

/// The blocks and threads of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
}

/// An argument of a launch: one of a kernel's [parameters](Parameter).
#[derive(Clone, Copy)]
pub struct Argument<'a>(Kind<'a>);

#[derive(Clone, Copy)]
enum Kind<'a> {
    /// Elements of so many bytes that the kernel reads; or writes.
    Array {
        written: bool,
        address: u64,
        len: u64,
        bytes: usize,
        gpu: &'a Arc<Gpu>,
    },
    /// So many bytes that the kernel writes.
    Cell { address: u64, bytes: usize },
    /// An operator of so many bytes.
    Value { place: *const c_void, bytes: usize },
}

impl<'a> Argument<'a> {
    /// An array that is read. One without elements has no address, and a kernel's slice must not begin at
    /// null.
    pub(crate) fn input<T: Element>(span: Span<'a, T>) -> Self {
        Self(Kind::Array {
            written: false,
            address: span.address().max(align_of::<T>() as u64),
            len: span.len() as u64,
            bytes: size_of::<T>(),
            gpu: span.gpu(),
        })
    }

    /// An array that is written.
    pub(crate) fn output<T: Element>(memory: &'a mut DeviceMemory<T>) -> Self {
        Self::output_span(memory.all_mut())
    }

    /// Some elements of an array, which are written.
    pub(crate) fn output_span<T: Element>(span: SpanMut<'a, T>) -> Self {
        let span = span.into_span();
        Self(Kind::Array {
            written: true,
            address: span.address(),
            len: span.len() as u64,
            bytes: size_of::<T>(),
            gpu: span.gpu(),
        })
    }

    /// Room for `len` elements of so many bytes each in words that are written.
    pub(crate) fn room(memory: &'a mut DeviceMemory<u64>, len: u32, bytes: usize) -> Self {
        assert!(len as usize * bytes <= memory.len() * size_of::<u64>());
        Self(Kind::Array {
            written: true,
            address: memory.address(),
            len: len.into(),
            bytes,
            gpu: memory.gpu(),
        })
    }

    /// The same memory in words of so many bytes, of which an element's bytes are a multiple.
    #[cfg(feature = "teaching")]
    pub(crate) fn as_words(self, word: usize) -> Self {
        match self.0 {
            Kind::Array {
                written,
                address,
                len,
                bytes,
                gpu,
            } => Self(Kind::Array {
                written,
                address,
                len: len * (bytes / word) as u64,
                bytes: word,
                gpu,
            }),
            other => Self(other),
        }
    }

    /// A cell of so many bytes at an address that the kernel writes.
    pub(crate) fn cell(address: u64, bytes: usize) -> Self {
        Self(Kind::Cell { address, bytes })
    }

    /// An operator.
    pub(crate) fn operator<O>(op: &'a O) -> Self {
        Self(Kind::Value {
            place: std::ptr::from_ref(op).cast(),
            bytes: size_of::<O>(),
        })
    }
}

/// Arguments that a launch has at most.
const MOST_ARGUMENTS: usize = 8;

/// The arguments of a launch, without an allocation.
pub struct Arguments<'a> {
    list: [Argument<'a>; MOST_ARGUMENTS],
    len: usize,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new() -> Self {
        Self {
            list: [Argument::cell(0, 0); MOST_ARGUMENTS],
            len: 0,
        }
    }

    /// # Panics
    ///
    /// When there are eight already.
    pub(crate) fn push(&mut self, argument: Argument<'a>) {
        self.list[self.len] = argument;
        self.len += 1;
    }

    pub(crate) fn as_slice(&self) -> &[Argument<'a>] {
        &self.list[..self.len]
    }
}

/// An entry point on a device, looked up.
pub(crate) struct Kernel {
    pub(crate) entry: &'static Entry,
    function: Function,
    /// Keeps the function's module loaded.
    gpu: Arc<Gpu>,
}

impl Kernel {
    /// Parameters that a kernel has at most, each array counted twice.
    const MOST_PARAMETERS: usize = 16;

    pub(crate) fn find(gpu: &Arc<Gpu>, entry: &'static Entry) -> Result<Self, Error> {
        Ok(Self {
            entry,
            function: gpu.function(entry)?,
            gpu: Arc::clone(gpu),
        })
    }

    /// The most threads per block: the device's limit, or less where registers run out.
    pub(crate) fn max_threads(&self) -> u32 {
        self.function.max_threads
    }

    /// Puts a launch on the stream and returns. The context is current. A fault of the kernel is an error of
    /// the first call that waits for it.
    ///
    /// # Panics
    ///
    /// When the arguments are not those of the row's parameters: of another kind or size, or of another
    /// device.
    ///
    /// # Safety
    ///
    /// - The row is that of an entry point for the types behind the arguments (the `unsafe` traits of
    ///   `kernels_gpu::entry` vouch for theirs).
    /// - All memory is freed only after a wait for all streams, as that of `DeviceMemory` and `PinnedMemory`
    ///   is; what is written is borrowed mutably or the stream's own; cells are memory of this device.
    /// - Grid and lengths are as the kernel's generic body requires.
    pub(crate) unsafe fn launch(
        &self,
        stream: &Stream,
        grid: Grid,
        arguments: &[Argument<'_>],
    ) -> Result<(), Error> {
        let Entry {
            name, parameters, ..
        } = *self.entry;
        let Grid { blocks, threads } = grid;
        assert!(
            Arc::ptr_eq(&self.gpu, stream.gpu()),
            "{name}: the stream is another device's"
        );
        assert!(
            arguments.len() == parameters.len(),
            "{name}: {} arguments",
            arguments.len()
        );
        assert!(
            (1..=self.max_threads()).contains(&threads) && blocks > 0,
            "{name}: {grid:?}"
        );
        // Words for addresses and lengths; pointers to them, or to an operator.
        let mut words = [0u64; Self::MOST_PARAMETERS];
        let mut places = [std::ptr::null::<c_void>(); Self::MOST_PARAMETERS];
        let mut n = 0;
        for (Argument(argument), parameter) in arguments.iter().zip(parameters) {
            let fits = match (*argument, *parameter) {
                (
                    Kind::Array {
                        written,
                        bytes,
                        gpu,
                        ..
                    },
                    Parameter::Input(_, size),
                ) => !written && bytes == size && Arc::ptr_eq(gpu, &self.gpu),
                (
                    Kind::Array {
                        written,
                        bytes,
                        gpu,
                        ..
                    },
                    Parameter::Output(_, size),
                ) => written && bytes == size && Arc::ptr_eq(gpu, &self.gpu),
                (Kind::Cell { bytes, .. }, Parameter::Cell(_, size))
                | (Kind::Value { bytes, .. }, Parameter::Value(size)) => bytes == size,
                _ => false,
            };
            assert!(fits, "{name}: an argument does not fit {parameter:?}");
            match *argument {
                Kind::Array { address, len, .. } => {
                    words[n] = address;
                    words[n + 1] = len;
                    n += 2;
                }
                Kind::Cell { address, .. } => {
                    words[n] = address;
                    n += 1;
                }
                Kind::Value { bytes: 0, .. } => {}
                Kind::Value { place, .. } => {
                    places[n] = place;
                    n += 1;
                }
            }
        }
        for (place, word) in places[..n].iter_mut().zip(&words) {
            if place.is_null() {
                *place = std::ptr::from_ref(word).cast();
            }
        }
        let shared = self.entry.needs.shared_bytes(threads, self.entry.acc_bytes) as u32;
        // SAFETY: each parameter of the entry has its value, of its kind and size (asserted above: rows list
        // the parameters of the very function); the rest is the caller's contract. The values outlive the
        // call, which copies them.
        unsafe { stream.launch(&self.function, blocks, threads, shared, &places[..n]) }
    }
}
