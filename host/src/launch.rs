//! The only function that launches a kernel; it checks the arguments against the parameters of the kernel's
//! table row.

use std::ffi::c_void;
use std::sync::Arc;

use kernels_gpu::entry::{Entry, Parameter};
use kernels_gpu::grid::Storage;
use kernels_gpu::op::Value;

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

impl Grid {
    /// The temporary storage of a single-pass reduction.
    pub(crate) const fn storage(self, entry: &Entry) -> Storage {
        Storage::of_grid(self.blocks, self.threads, entry.acc_bytes)
    }
}

/// An argument of a launch, for one [parameter](Parameter) of a kernel.
#[derive(Clone, Copy)]
pub struct Argument<'a>(Kind<'a>);

#[derive(Clone, Copy)]
enum Kind<'a> {
    /// An array that the kernel reads, or writes; `bytes` is the size of an element.
    Array {
        written: bool,
        address: u64,
        len: u64,
        bytes: usize,
        gpu: &'a Arc<Gpu>,
    },
    /// A cell of `bytes` bytes that the kernel writes.
    Cell {
        address: u64,
        bytes: usize,
    },
    /// An operator of `bytes` bytes.
    Value {
        pointer: *const c_void,
        bytes: usize,
    },
    /// A structure of numbers of `bytes` bytes.
    Plain {
        pointer: *const c_void,
        bytes: usize,
    },
    Number(u64),
}

impl<'a> Argument<'a> {
    /// An array that is read. An empty array has no address, but the pointer of a kernel's slice must not be
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

    /// A part of an array that is written.
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

    /// Memory for `len` values of `bytes` bytes each, in 64-bit words that the kernel writes.
    pub(crate) fn room(memory: &'a mut DeviceMemory<u64>, len: usize, bytes: usize) -> Self {
        assert!(len * bytes <= memory.len() * size_of::<u64>());
        Self(Kind::Array {
            written: true,
            address: memory.address(),
            len: len as u64,
            bytes,
            gpu: memory.gpu(),
        })
    }

    /// `len` words that the kernel stores at an address.
    pub(crate) fn words_at(address: u64, len: usize, gpu: &'a Arc<Gpu>) -> Self {
        Self(Kind::Array {
            written: true,
            address,
            len: len as u64,
            bytes: size_of::<u64>(),
            gpu,
        })
    }

    /// `len` values of `bytes` bytes each that the kernel reads, in 64-bit words.
    pub(crate) fn input_room(memory: &'a DeviceMemory<u64>, len: usize, bytes: usize) -> Self {
        assert!(len * bytes <= memory.len() * size_of::<u64>());
        Self(Kind::Array {
            written: false,
            // An empty array has no address, but the pointer of a kernel's slice must not be null.
            address: memory.address().max(bytes as u64),
            len: len as u64,
            bytes,
            gpu: memory.gpu(),
        })
    }

    /// An array without elements, each of which would have `bytes` bytes.
    pub(crate) fn nothing(bytes: usize, gpu: &'a Arc<Gpu>) -> Self {
        Self(Kind::Array {
            written: false,
            // The pointer of a kernel's slice must not be null.
            address: bytes as u64,
            len: 0,
            bytes,
            gpu,
        })
    }

    /// The same as an array that the kernel would write.
    pub(crate) fn no_output(bytes: usize, gpu: &'a Arc<Gpu>) -> Self {
        Self(Kind::Array {
            written: true,
            address: bytes as u64,
            len: 0,
            bytes,
            gpu,
        })
    }

    /// The same memory as an array of words of `word` bytes; `word` divides the element size.
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

    /// A cell of `bytes` bytes at an address that the kernel writes.
    pub(crate) fn cell(address: u64, bytes: usize) -> Self {
        Self(Kind::Cell { address, bytes })
    }

    /// A structure of numbers.
    pub(crate) fn plain<T: Value>(value: &'a T) -> Self {
        Self(Kind::Plain {
            pointer: std::ptr::from_ref(value).cast(),
            bytes: size_of::<T>(),
        })
    }

    /// A number.
    pub(crate) fn number(number: u64) -> Self {
        Self(Kind::Number(number))
    }

    /// An operator.
    pub(crate) fn operator<O>(op: &'a O) -> Self {
        Self(Kind::Value {
            pointer: std::ptr::from_ref(op).cast(),
            bytes: size_of::<O>(),
        })
    }
}

/// The maximum number of arguments of a launch.
const MAX_ARGUMENTS: usize = 11;

/// The arguments of a launch, without a heap allocation.
pub struct Arguments<'a> {
    list: [Argument<'a>; MAX_ARGUMENTS],
    len: usize,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new() -> Self {
        Self {
            list: [Argument::cell(0, 0); MAX_ARGUMENTS],
            len: 0,
        }
    }

    /// # Panics
    ///
    /// If there are already as many.
    pub(crate) fn push(&mut self, argument: Argument<'a>) {
        self.list[self.len] = argument;
        self.len += 1;
    }

    pub(crate) fn as_slice(&self) -> &[Argument<'a>] {
        &self.list[..self.len]
    }
}

/// An entry point on a device.
pub(crate) struct Kernel {
    pub(crate) entry: &'static Entry,
    function: Function,
    /// The dynamic shared memory of a block, if the row does not say it.
    shared_bytes: Option<u32>,
    /// Keeps the function's module loaded.
    gpu: Arc<Gpu>,
}

impl Kernel {
    /// The maximum number of parameters of a kernel; an array counts twice.
    const MAX_PARAMETERS: usize = 20;

    pub(crate) fn find(gpu: &Arc<Gpu>, entry: &'static Entry) -> Result<Self, Error> {
        Ok(Self {
            entry,
            function: gpu.function(entry)?,
            shared_bytes: None,
            gpu: Arc::clone(gpu),
        })
    }

    /// The kernel with so many bytes of dynamic shared memory for a block: at most those of
    /// [`DeviceInfo`](crate::DeviceInfo). The context must be current.
    pub(crate) fn with_shared_bytes(mut self, bytes: u32) -> Result<Self, Error> {
        self.function.allow_shared_bytes(bytes)?;
        self.shared_bytes = Some(bytes);
        Ok(self)
    }

    /// The maximum number of threads per block: the device's limit, or fewer if the kernel needs too many
    /// registers.
    pub(crate) fn max_threads(&self) -> u32 {
        self.function.max_threads
    }

    /// Enqueues a launch on the stream and returns. The context must be current. The first call that waits
    /// for the kernel returns a fault in it.
    ///
    /// # Panics
    ///
    /// If an argument does not match the row's parameter in kind or size, or belongs to another device.
    ///
    /// # Safety
    ///
    /// - The row is that of an entry point for the types of the arguments (guaranteed by the `unsafe` traits
    ///   of `kernels_gpu::entry`).
    /// - All memory is freed only after a wait for all streams, as `DeviceMemory` and `PinnedMemory` are.
    ///   Written memory is borrowed mutably or belongs to the stream; cells are memory of this device.
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
            "{name}: the stream belongs to another device"
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
        // Addresses and lengths; the driver receives a pointer to each, or to an operator.
        let mut words = [0u64; Self::MAX_PARAMETERS];
        let mut pointers = [std::ptr::null::<c_void>(); Self::MAX_PARAMETERS];
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
                | (Kind::Value { bytes, .. }, Parameter::Value(size))
                | (Kind::Plain { bytes, .. }, Parameter::Plain(_, size)) => bytes == size,
                (Kind::Number(_), Parameter::Number(_)) => true,
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
                Kind::Number(number) => {
                    words[n] = number;
                    n += 1;
                }
                Kind::Value { bytes: 0, .. } => {}
                Kind::Value { pointer, .. } | Kind::Plain { pointer, .. } => {
                    pointers[n] = pointer;
                    n += 1;
                }
            }
        }
        for (pointer, word) in pointers[..n].iter_mut().zip(&words) {
            if pointer.is_null() {
                *pointer = std::ptr::from_ref(word).cast();
            }
        }
        let of_row = || self.entry.needs.shared_bytes(threads, self.entry.acc_bytes) as u32;
        let shared = self.shared_bytes.unwrap_or_else(of_row);
        // SAFETY: every parameter of the entry has a value of its kind and size (asserted above; the row
        // lists the parameters of this function). The rest is the caller's contract. The values outlive the
        // call, which copies them.
        unsafe { stream.launch(&self.function, blocks, threads, shared, &pointers[..n]) }
    }
}
