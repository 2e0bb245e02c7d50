//! The peers of reduction by key, in `keyed.cu`: the reference kernels and CUB's ReduceByKey.

use std::ffi::c_void;

use anyhow::{Context, Result, ensure};

use super::group::Value;
use crate::peers::{Function, Peers};

const SOURCE: &str = include_str!("../../../../peers/keyed.cu");

/// The reference kernels, in the order of their numbers in `launch` of `keyed.cu`.
const REFERENCES: [&str; 8] = [
    "keyed_atomic",
    "keyed_cas",
    "keyed_ballot",
    "keyed_match",
    "keyed_bins",
    "keyed_runs",
    "keyed_match_x3",
    "keyed_ballot_x3",
];

/// The reference kernels have `int` indices, also into three arrays, one after another.
pub const REFERENCE_MAX_N: usize = 1 << 29;

type ReferenceFn<T> =
    unsafe extern "C" fn(i32, *const u32, *const T, i32, *mut T, i32, i32, *mut c_void) -> i32;
type CubFn<T> = unsafe extern "C" fn(
    *mut c_void,
    *mut usize,
    *const u32,
    *const T,
    i32,
    *mut u32,
    *mut T,
    *mut i32,
    *mut c_void,
) -> i32;

/// A peer's input: device addresses in the context of `stream`.
#[derive(Clone, Copy)]
pub struct Launch {
    pub keys: u64,
    pub values: u64,
    pub n: usize,
    pub stream: *mut c_void,
}

/// Compiles and loads the peers.
pub fn build(capability: (u32, u32)) -> Result<Peers> {
    Peers::build(&[("keyed.cu", SOURCE)], capability)
}

/// The reference kernel for one kernel.
pub struct Reference<T: Value> {
    number: i32,
    call: Function<ReferenceFn<T>>,
}

impl<T: Value> Reference<T> {
    /// The reference kernel for the kernel of this name.
    pub fn of(peers: &Peers, kernel: &str) -> Result<Self> {
        let number = REFERENCES.iter().position(|reference| *reference == kernel);
        let number = number
            .with_context(|| format!("keyed.cu has no reference kernel for {kernel}"))?
            as i32;
        // SAFETY: SOURCE defines `keyed_f32` and `keyed_f64` with this signature.
        let call = unsafe { peers.function(&format!("keyed_{}", T::NAME)) }?;
        Ok(Self { number, call })
    }

    /// Launches the kernel; allocates nothing and does not wait.
    ///
    /// # Safety
    /// - The stream is live and its context is current on this thread.
    /// - Until the stream has completed the work, these are live device memory without overlap: `n` keys,
    ///   each below `cell_count`, and `n` values and `cell_count` cells for each array of the kernel. Keys
    ///   and values are aligned to 16 bytes.
    pub unsafe fn enqueue(
        &self,
        on: Launch,
        cells: u64,
        cell_count: usize,
        threads: u32,
    ) -> Result<()> {
        ensure!(
            on.n <= REFERENCE_MAX_N && cell_count <= REFERENCE_MAX_N,
            "{} elements, {cell_count} cells; must be at most {REFERENCE_MAX_N}, because the reference \
             kernels have int indices",
            on.n
        );
        // SAFETY: the caller's promise; the numbers fit an int (above).
        let status = unsafe {
            (self.call)(
                self.number,
                on.keys as *const u32,
                on.values as *const T,
                on.n as i32,
                cells as *mut T,
                cell_count as i32,
                threads as i32,
                on.stream,
            )
        };
        self.call.check(status, "a reference kernel")
    }
}

/// `cub::DeviceReduce::ReduceByKey`.
pub struct Cub<T: Value>(Function<CubFn<T>>);

/// CUB's output: at most `n` keys and sums, and their number.
#[derive(Clone, Copy)]
pub struct Runs {
    pub keys: u64,
    pub sums: u64,
    pub count: u64,
}

impl<T: Value> Cub<T> {
    pub fn of(peers: &Peers) -> Result<Self> {
        // SAFETY: SOURCE defines `cub_by_key_f32` and `cub_by_key_f64` with this signature.
        Ok(Self(unsafe {
            peers.function(&format!("cub_by_key_{}", T::NAME))
        }?))
    }

    /// Bytes of temporary storage.
    pub fn temp_bytes(&self, on: Launch) -> Result<usize> {
        let mut bytes = 0;
        let none = Runs {
            keys: 0,
            sums: 0,
            count: 0,
        };
        // SAFETY: with null storage the call only writes `bytes`, a local variable.
        unsafe { self.call(on, none, 0, &mut bytes)? };
        Ok(bytes)
    }

    /// Launches CUB's kernels; allocates nothing and does not wait.
    ///
    /// # Safety
    /// As for [`Reference::enqueue`], with [`Runs`] instead of cells, and with temporary storage at `temp`,
    /// as large as [`Cub::temp_bytes`] requires.
    pub unsafe fn enqueue(
        &self,
        on: Launch,
        runs: Runs,
        temp: u64,
        mut temp_bytes: usize,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.call(on, runs, temp, &mut temp_bytes) }
    }

    /// # Safety
    /// As for [`Cub::enqueue`], or `temp` is null.
    unsafe fn call(&self, on: Launch, runs: Runs, temp: u64, bytes: &mut usize) -> Result<()> {
        ensure!(
            on.n <= REFERENCE_MAX_N,
            "{} elements; must be at most {REFERENCE_MAX_N}, because CUB's number of elements is an int",
            on.n
        );
        // SAFETY: the caller's promise.
        let status = unsafe {
            (self.0)(
                temp as *mut c_void,
                bytes,
                on.keys as *const u32,
                on.values as *const T,
                on.n as i32,
                runs.keys as *mut u32,
                runs.sums as *mut T,
                runs.count as *mut i32,
                on.stream,
            )
        };
        self.0.check(status, "cub::DeviceReduce::ReduceByKey")
    }
}
