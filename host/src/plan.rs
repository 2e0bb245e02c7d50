//! A reduction prepared: everything allocated and looked up, nothing left but launches.

use std::any::Any;
use std::sync::Arc;

use kernels_gpu::needs::ResultIn;
use kernels_gpu::op::Op;

use crate::algorithm::{Algorithm, Pass};
use crate::element::Element;
use crate::error::Error;
use crate::launch::Kernels;
use crate::memory::{DeviceMemory, Span};
use crate::operator::Operator;
use crate::single_pass::Prepared;
use crate::stream::Stream;

/// A reduction of one input, ready to run any number of times.
///
/// It owns the scratch memory that the passes write to in turn, so [`enqueue`](Self::enqueue)
/// neither allocates nor waits. Made by [`Reduction::plan`](crate::Reduction::plan) and
/// [`Device::read_ceiling`](crate::Device::read_ceiling).
///
/// Dropping it waits for what it has enqueued.
///
/// `A` is what the operator combines elements in, and `R` what it makes of the last: both are the
/// element type itself where nothing else is said.
pub struct Plan<'a, T: Element, A: Element = T, R = T> {
    kernel: &'static str,
    identity: A,
    combine: fn(A, A) -> A,
    finish: fn(A) -> R,
    passes: Vec<Pass>,
    work: Work<'a, T, A>,
    enqueued: bool,
}

/// What an enqueue does.
enum Work<'a, T: Element, A: Element> {
    /// An empty input: the identity, without a launch.
    Nothing,
    Cpu {
        input: &'a [T],
        reduce: fn(&[T]) -> A,
        value: A,
    },
    SinglePass(Box<Prepared<'a, T, A>>),
    Gpu(Box<Launches<'a, T, A>>),
}

struct Launches<'a, T: Element, A: Element> {
    stream: Arc<Stream>,
    kernels: Kernels<T, A>,
    input: Span<'a, T>,
    /// Written to by the passes in turn: pass 0 writes the first, pass 1 reads it and writes the
    /// second, and so on. The second is empty when there is one pass.
    scratch: [DeviceMemory<A>; 2],
    /// What the result cell is set to first, for kernels that combine into it.
    identity: Option<Identity<A>>,
}

/// How a cell gets its operator's identity. A fill takes a microsecond less than a copy.
enum Identity<A: Element> {
    /// All of its bytes are this.
    Fill(u8),
    Copy(DeviceMemory<A>),
}

impl<A: Element> Identity<A> {
    fn new(stream: &Stream, identity: A) -> Result<Self, Error> {
        match only_byte(&identity) {
            Some(byte) => Ok(Self::Fill(byte)),
            None => Ok(Self::Copy(DeviceMemory::upload(stream, &[identity])?)),
        }
    }
}

/// The byte that all of a number's bytes are, if they are alike.
fn only_byte(value: &dyn Any) -> Option<u8> {
    macro_rules! of {
        ($($number:ident)*) => { $(
            if let Some(number) = value.downcast_ref::<$number>() {
                let bytes = number.to_ne_bytes();
                return bytes.iter().all(|byte| *byte == bytes[0]).then_some(bytes[0]);
            }
        )* };
    }
    of!(i32 u32 f32 i64 u64 f64);
    None
}

impl<'a, T: Element, A: Element, R> Plan<'a, T, A, R> {
    pub(crate) fn cpu<O: Operator<T, Acc = A, Output = R>>(
        kernel: &'static str,
        input: &'a [T],
    ) -> Self {
        let work = match input {
            [] => Work::Nothing,
            input => Work::Cpu {
                input,
                reduce: O::reduce_on_cpu,
                value: O::IDENTITY,
            },
        };
        Self::new::<O>(kernel, Vec::new(), work)
    }

    /// Of an empty input.
    pub(crate) fn nothing<O: Op<T, Acc = A, Output = R>>(kernel: &'static str) -> Self {
        Self::new::<O>(kernel, Vec::new(), Work::Nothing)
    }

    /// A single pass over an input of some elements.
    pub(crate) fn single_pass<O: Op<T, Acc = A, Output = R>>(prepared: Prepared<'a, T, A>) -> Self {
        let pass = prepared.pass();
        let work = Work::SinglePass(Box::new(prepared));
        Self::new::<O>(Algorithm::SinglePass.kernel_name(), vec![pass], work)
    }

    /// `passes` are of the kernels' shape and over `input`, which is on the device of the kernels and
    /// of the stream.
    pub(crate) fn gpu<O: Op<T, Acc = A, Output = R>>(
        stream: &Arc<Stream>,
        kernels: Kernels<T, A>,
        input: Span<'a, T>,
        passes: Vec<Pass>,
    ) -> Result<Self, Error> {
        let shape = *kernels.shape();
        if passes.is_empty() {
            return Ok(Self::new::<O>(shape.kernel, passes, Work::Nothing));
        }
        let scratch = |pass: usize| {
            let len = passes
                .get(pass)
                .map_or(0, |pass| shape.needs.outputs(pass.blocks));
            DeviceMemory::filled(stream, len, 0)
        };
        let identity = match shape.needs.result {
            ResultIn::Partials => None,
            ResultIn::OneCell => Some(Identity::new(stream, O::IDENTITY)?),
        };
        let launches = Launches {
            stream: Arc::clone(stream),
            scratch: [scratch(0)?, scratch(1)?],
            kernels,
            input,
            identity,
        };
        Ok(Self::new::<O>(
            shape.kernel,
            passes,
            Work::Gpu(Box::new(launches)),
        ))
    }

    fn new<O: Op<T, Acc = A, Output = R>>(
        kernel: &'static str,
        passes: Vec<Pass>,
        work: Work<'a, T, A>,
    ) -> Self {
        Self {
            kernel,
            identity: O::IDENTITY,
            combine: O::combine,
            finish: O::finish,
            passes,
            work,
            enqueued: false,
        }
    }

    /// The launches of one enqueue, in their order. Empty for an empty input and on the CPU.
    pub fn passes(&self) -> &[Pass] {
        &self.passes
    }

    /// Puts every pass on the device's stream and returns; no allocation, no wait. On the CPU
    /// device it computes the value here and now.
    ///
    /// # Errors
    ///
    /// [`Error::Cuda`] when a launch is refused; [`Error::Deferred`].
    pub fn enqueue(&mut self) -> Result<(), Error> {
        self.enqueued = false;
        match &mut self.work {
            Work::Nothing => {}
            Work::Cpu {
                input,
                reduce,
                value,
            } => *value = reduce(input),
            Work::SinglePass(prepared) => prepared.enqueue()?,
            Work::Gpu(launches) => launches.enqueue(&self.passes)?,
        }
        self.enqueued = true;
        Ok(())
    }

    /// Waits for the last enqueue and returns its value; the operator's identity when the input
    /// is empty.
    ///
    /// # Errors
    ///
    /// [`Error::NotEnqueued`], also when the last enqueue failed; [`Error::Cuda`], also for a
    /// kernel's own fault; [`Error::Deferred`].
    pub fn result(&self) -> Result<R, Error> {
        if !self.enqueued {
            let kernel = self.kernel;
            return Err(Error::NotEnqueued { kernel });
        }
        let combined = match &self.work {
            Work::Nothing => self.identity,
            Work::Cpu { value, .. } => *value,
            Work::SinglePass(prepared) => prepared.result()?,
            Work::Gpu(launches) => {
                let values = launches.download(&self.passes)?;
                values.into_iter().fold(self.identity, self.combine)
            }
        };
        Ok((self.finish)(combined))
    }

    /// The device address of the cell that the last pass writes; 0 where nothing is launched.
    ///
    /// For a benchmark whose peer must write the same cell: how fast atomics on one address are
    /// served depends on the address.
    #[doc(hidden)]
    pub fn result_ptr(&self) -> u64 {
        match &self.work {
            Work::SinglePass(prepared) => prepared.cell().address(),
            Work::Gpu(launches) => launches.last(&self.passes).address(),
            Work::Nothing | Work::Cpu { .. } => 0,
        }
    }

    /// What the first pass alone leaves, for a test: a partial of each block, or the one cell.
    /// Nothing where nothing is launched.
    #[doc(hidden)]
    pub fn first_outputs(&mut self) -> Result<Vec<A>, Error> {
        self.enqueued = false;
        match &mut self.work {
            Work::Gpu(launches) => {
                launches.enqueue(&self.passes[..1])?;
                launches.download(&self.passes[..1])
            }
            Work::SinglePass(prepared) => {
                prepared.enqueue()?;
                Ok(vec![prepared.result()?])
            }
            Work::Nothing | Work::Cpu { .. } => Ok(Vec::new()),
        }
    }

    /// Puts an overwriting of the result and of all partials on the stream and returns, so that a test sees
    /// one that nobody wrote. Not of a single pass's partials, which are 0 between launches and say
    /// themselves that they are there.
    #[doc(hidden)]
    pub fn fill_scratch(&mut self, byte: u8) -> Result<(), Error> {
        match &mut self.work {
            Work::SinglePass(prepared) => prepared.enqueue_fill(byte),
            Work::Gpu(launches) => {
                let Launches {
                    stream, scratch, ..
                } = &mut **launches;
                scratch
                    .iter_mut()
                    .try_for_each(|memory| memory.enqueue_fill(stream, byte))
            }
            Work::Nothing | Work::Cpu { .. } => Ok(()),
        }
    }
}

impl<T: Element, A: Element> Launches<'_, T, A> {
    fn enqueue(&mut self, passes: &[Pass]) -> Result<(), Error> {
        let stream = &self.stream;
        stream.gpu().enter()?;
        let [first, second] = &mut self.scratch;
        for (i, pass) in passes.iter().enumerate() {
            let (partials, output) = match i % 2 {
                0 => (&*second, &mut *first),
                _ => (&*first, &mut *second),
            };
            match &self.identity {
                None => {}
                Some(Identity::Fill(byte)) => output.enqueue_fill(stream, *byte)?,
                Some(Identity::Copy(identity)) => output.enqueue_first(stream, identity)?,
            }
            if i == 0 {
                self.kernels
                    .first
                    .launch(stream, pass, self.input, output)?;
            } else {
                let values = partials.span(0, pass.n as usize);
                self.kernels.second.launch(stream, pass, values, output)?;
            }
        }
        Ok(())
    }

    /// What the last pass wrote: one value, or the partials of a plan with a fixed grid.
    fn download(&self, passes: &[Pass]) -> Result<Vec<A>, Error> {
        let outputs = self
            .kernels
            .shape()
            .needs
            .outputs(passes[passes.len() - 1].blocks);
        self.last(passes).span(0, outputs).download(&self.stream)
    }

    /// The memory that the last pass writes.
    fn last(&self, passes: &[Pass]) -> &DeviceMemory<A> {
        &self.scratch[(passes.len() - 1) % 2]
    }
}

impl<T: Element, A: Element, R> std::fmt::Debug for Plan<'_, T, A, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Plan({} of {}: {:?})", self.kernel, T::NAME, self.passes)
    }
}

#[cfg(test)]
mod tests {
    use super::only_byte;

    #[test]
    fn identities_of_one_byte() {
        assert_eq!(only_byte(&0i32), Some(0));
        assert_eq!(only_byte(&u64::MAX), Some(0xFF));
        assert_eq!(only_byte(&i32::MAX), None);
        assert_eq!(only_byte(&-0.0f32), None, "no zero of all bytes");
        assert_eq!(only_byte(&0u8), None, "nothing is combined in this");
    }
}
