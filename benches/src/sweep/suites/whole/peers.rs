//! CUB's reductions of every type and operator, and an empty kernel: `whole.cu`.

use std::ffi::c_void;
use std::{ptr, thread};

use anyhow::{Context, Result, anyhow};
use warpfold::file::DType;

use crate::peers::{Function, Peers};
use crate::sweep::options::Operation;

const SOURCE: &str = include_str!("../../../../peers/whole.cu");

/// The largest length that CUB counts in 32 bits.
const MAX_INT: usize = i32::MAX as usize;

type EmptyKernelFn = unsafe extern "C" fn(*mut c_void) -> i32;

type ReduceFn = unsafe extern "C" fn(
    operation: i32,
    is_tuned: i32,
    temp: *mut c_void,
    temp_bytes: *mut usize,
    a: *const c_void,
    b: *const c_void,
    n: i64,
    shift: f64,
    result: *mut c_void,
    stream: *mut c_void,
) -> i32;

/// Compiles CUB for each of these types, in parallel, and loads it. `longest` is the largest requested size.
pub fn build(
    types: &[DType],
    longest: usize,
    capability: (u32, u32),
) -> Result<Vec<(DType, Peers)>> {
    let build = |element: DType| {
        let macros = [
            ("ELEMENT", code(element)?),
            ("LONG", (longest > MAX_INT).into()),
        ];
        let peers = Peers::build_with(&[("whole.cu", SOURCE)], &macros, capability)?;
        // If the driver is too old for the CUDA runtime, this call fails, not one in the middle of a round.
        Cub::of(&peers, Operation::Sum, Policy::Default)?.temp_bytes(1)?;
        Ok((element, peers))
    };
    thread::scope(|scope| {
        let builds: Vec<_> = types
            .iter()
            .map(|element| scope.spawn(move || build(*element)))
            .collect();
        let joined = builds.into_iter().map(|build| build.join());
        joined
            .map(|built| built.map_err(|_| anyhow!("the thread that runs nvcc has panicked"))?)
            .collect()
    })
}

/// The element's code in `Types` of whole.cu.
fn code(element: DType) -> Result<u32> {
    let code = DType::ALL.iter().position(|other| *other == element);
    Ok(code.context("whole.cu lacks the element type")? as u32)
}

/// CUB's tuning policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// CUB's default policy.
    Default,
    /// A policy for this GPU generation; only for sums, minima and maxima.
    Tuned,
}

impl Policy {
    /// The policies for an operation.
    pub fn of(operation: Operation) -> &'static [Policy] {
        match operation {
            Operation::Sum | Operation::Min | Operation::Max => &[Policy::Default, Policy::Tuned],
            _ => &[Policy::Default],
        }
    }

    /// The name in a row.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Default => "default",
            Policy::Tuned => "tuned",
        }
    }
}

/// One of CUB's reductions, over elements of one type.
pub struct Cub {
    function: Function<ReduceFn>,
    operation: Operation,
    policy: Policy,
}

/// The parameters of a launch, with device addresses.
#[derive(Clone, Copy)]
pub struct Launch {
    pub a: u64,
    /// The second array of a dot product; otherwise ignored.
    pub b: u64,
    pub n: usize,
    /// A value near the mean.
    pub shift: f64,
    /// 16 bytes, aligned to 16.
    pub result: u64,
    /// Temporary storage and its size in bytes.
    pub temp: (u64, usize),
    pub stream: *mut c_void,
}

impl Cub {
    /// CUB's reduction with this operation and policy.
    pub fn of(peers: &Peers, operation: Operation, policy: Policy) -> Result<Self> {
        // SAFETY: SOURCE defines `cub_reduce` with this signature.
        let function = unsafe { peers.function("cub_reduce") }?;
        Ok(Self {
            function,
            operation,
            policy,
        })
    }

    /// The name of CUB's function; `is_narrow` if the element is narrower than the accumulator of its sum.
    pub fn name(&self, is_narrow: bool) -> &'static str {
        match self.operation {
            Operation::Sum if is_narrow => "DeviceReduce::Reduce",
            Operation::Sum => "DeviceReduce::Sum",
            Operation::Min => "DeviceReduce::Min",
            Operation::Max => "DeviceReduce::Max",
            Operation::ArgMin => "DeviceReduce::ArgMin",
            Operation::ArgMax => "DeviceReduce::ArgMax",
            Operation::Dot | Operation::MeanVariance => "DeviceReduce::TransformReduce",
        }
    }

    /// Bytes of temporary storage for `n` elements.
    pub fn temp_bytes(&self, n: usize) -> Result<usize> {
        let mut bytes = 0;
        let none = Launch {
            a: 0,
            b: 0,
            n,
            shift: 0.0,
            result: 0,
            temp: (0, 0),
            stream: ptr::null_mut(),
        };
        // SAFETY: with null storage the call only writes `bytes`, a local variable.
        unsafe { self.call(none, &mut bytes) }?;
        Ok(bytes)
    }

    /// Launches the reduction on the stream; allocates nothing and does not wait.
    ///
    /// # Safety
    ///
    /// - The stream is live and its context is current on this thread.
    /// - Until the stream has completed the work, these are live device memory without overlap: `n` elements
    ///   of the type at `a`, for a dot product also at `b`; 16 bytes at `result`; and
    ///   [`temp_bytes`](Self::temp_bytes) of temporary storage for this `n`.
    pub unsafe fn enqueue(&self, on: Launch) -> Result<()> {
        let mut temp_bytes = on.temp.1;
        // SAFETY: the caller's promise.
        unsafe { self.call(on, &mut temp_bytes) }
    }

    /// # Safety
    ///
    /// As for [`enqueue`](Self::enqueue), or the temporary storage is null.
    unsafe fn call(&self, on: Launch, temp_bytes: &mut usize) -> Result<()> {
        // SAFETY: the caller's promise. The codes are those of whole.cu, which follow the enums' order.
        let status = unsafe {
            (self.function)(
                self.operation as i32,
                self.policy as i32,
                on.temp.0 as *mut c_void,
                temp_bytes,
                on.a as *const c_void,
                on.b as *const c_void,
                on.n as i64,
                on.shift,
                on.result as *mut c_void,
                on.stream,
            )
        };
        self.function.check(status, "CUB")
    }
}

/// A kernel that does nothing.
pub struct EmptyKernel(Function<EmptyKernelFn>);

impl EmptyKernel {
    /// The empty kernel of whole.cu.
    pub fn of(peers: &Peers) -> Result<EmptyKernel> {
        // SAFETY: SOURCE defines `launch_empty_kernel` with this signature.
        Ok(EmptyKernel(unsafe {
            peers.function("launch_empty_kernel")
        }?))
    }

    /// Launches the kernel; does not wait.
    ///
    /// # Safety
    ///
    /// The stream is live and its context is current on this thread.
    pub unsafe fn enqueue(&self, stream: *mut c_void) -> Result<()> {
        // SAFETY: the caller's promise.
        let status = unsafe { (self.0)(stream) };
        self.0.check(status, "an empty kernel")
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    /// The source's table of types, and its switch over operators and policies.
    #[test]
    fn codes_are_those_of_the_source() {
        let elements = [
            "signed char",
            "short",
            "int",
            "long long",
            "unsigned char",
            "unsigned short",
            "unsigned",
            "unsigned long long",
            "__half",
            "__nv_bfloat16",
            "float",
            "double",
        ];
        for (element, c) in DType::ALL.into_iter().zip(elements) {
            let row = format!("TYPES({}, {c}, ", code(element).unwrap());
            assert!(SOURCE.contains(&row), "{row}");
        }
        let calls = [
            "sum",
            "minimum",
            "maximum",
            "arg_min",
            "arg_max",
            "dot",
            "mean_variance",
        ];
        for (operation, call) in Operation::value_variants().iter().zip(calls) {
            let code = *operation as i32 * 2;
            let case = format!("case {code}: return {call}(call);");
            assert!(SOURCE.contains(&case), "{case}");
            let tuned = format!("case {}: return tuned<", code + Policy::Tuned as i32);
            let has_tuned = Policy::of(*operation).contains(&Policy::Tuned);
            assert_eq!(SOURCE.contains(&tuned), has_tuned, "{operation:?}");
        }
    }
}
