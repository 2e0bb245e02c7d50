//! CUB's reductions of every type and operator, and an empty kernel: `whole.cu`.

use std::ffi::c_void;
use std::{ptr, thread};

use anyhow::{Context, Result, anyhow};
use warpfold::file::DType;

use crate::peers::{Function, Peers};
use crate::sweep::options::Operation;

const SOURCE: &str = include_str!("../../../../peers/whole.cu");

/// Elements that CUB counts in 32 bits.
const SHORT: usize = i32::MAX as usize;

type NothingFn = unsafe extern "C" fn(*mut c_void) -> i32;

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

/// CUB for each of these types, compiled side by side and loaded. `longest` is the largest size that is asked for. The
/// error is the reason for going on without.
pub fn build(
    types: &[DType],
    longest: usize,
    capability: (u32, u32),
) -> Result<Vec<(DType, Peers)>> {
    let build = |element: DType| {
        let macros = [
            ("ELEMENT", code(element)?),
            ("LONG", (longest > SHORT).into()),
        ];
        let peers = Peers::build_with(&[("whole.cu", SOURCE)], &macros, capability)?;
        // A runtime that the driver is too old for says so here, not in the middle of a round.
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

/// Of whole.cu's `Types`.
fn code(element: DType) -> Result<u32> {
    let code = DType::ALL.iter().position(|other| *other == element);
    Ok(code.context("an element that whole.cu lacks")? as u32)
}

/// How CUB divides its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// As its users have it.
    Default,
    /// One for this generation of cards; sums and extrema alone.
    Tuned,
}

impl Policy {
    /// Those by which CUB reduces this way.
    pub fn of(operation: Operation) -> &'static [Policy] {
        match operation {
            Operation::Sum | Operation::Min | Operation::Max => &[Policy::Default, Policy::Tuned],
            _ => &[Policy::Default],
        }
    }

    /// In a row.
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

/// What it works on: device addresses.
#[derive(Clone, Copy)]
pub struct Launch {
    pub a: u64,
    /// Of products; otherwise ignored.
    pub b: u64,
    pub n: usize,
    /// A value near the mean.
    pub shift: f64,
    /// 16 bytes, at a multiple of 16.
    pub result: u64,
    /// Temporary storage and its bytes.
    pub temp: (u64, usize),
    pub stream: *mut c_void,
}

impl Cub {
    /// The one that reduces this way.
    pub fn of(peers: &Peers, operation: Operation, policy: Policy) -> Result<Self> {
        // SAFETY: SOURCE defines `cub_reduce` with this signature.
        let function = unsafe { peers.function("cub_reduce") }?;
        Ok(Self {
            function,
            operation,
            policy,
        })
    }

    /// CUB's name of the call; a sum may be of elements that are narrower than its accumulator.
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
        // SAFETY: without storage the call only writes `bytes`, which lives here.
        unsafe { self.call(none, &mut bytes) }?;
        Ok(bytes)
    }

    /// Launches the reduction on the stream; allocates nothing and does not wait.
    ///
    /// # Safety
    ///
    /// - The stream is live and its context is current on this thread.
    /// - Until the stream has done the work these are live device memory, apart from each other: `n` elements of the
    ///   type at `a`, of a product also at `b`; 16 bytes at `result`; and the temporary storage, as
    ///   [`temp_bytes`](Self::temp_bytes) says for this `n`.
    pub unsafe fn enqueue(&self, on: Launch) -> Result<()> {
        let mut temp_bytes = on.temp.1;
        // SAFETY: the caller's promise.
        unsafe { self.call(on, &mut temp_bytes) }
    }

    /// # Safety
    ///
    /// As of [`enqueue`](Self::enqueue); with a null address of the temporary storage none.
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
pub struct Nothing(Function<NothingFn>);

impl Nothing {
    /// The one beside CUB.
    pub fn of(peers: &Peers) -> Result<Nothing> {
        // SAFETY: SOURCE defines `launch_nothing` with this signature.
        Ok(Nothing(unsafe { peers.function("launch_nothing") }?))
    }

    /// Launches it and does not wait.
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
            "least",
            "largest",
            "where_least",
            "where_largest",
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
