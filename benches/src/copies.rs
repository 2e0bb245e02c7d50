//! Copies: the library's three widths, their twins from nvcc, and the driver's own copy, timed in
//! turn over arrays of many sizes.
//!
//! A timed run stands in the stream right behind an untimed fill of more memory than the L2 cache
//! has, so that every run finds none of its arrays there, and the device is busy while the host
//! enqueues: launch latency stays out of the times.
//!
//! Before each run the target is filled with something else; after it, its sum must be the
//! source's. After the first run of every row it must be the source, element by element.

pub mod record;
mod table;
pub mod twins;

use std::cell::RefCell;
use std::fs;

use anyhow::{Context, Result, ensure};
use warpfold::{Buffer, CopyWidth, Device, Sum};

use self::record::{By, Record, Row, Size};
use self::twins::{TWIN_MAX_N, Twins};
use crate::data::Integers;
use crate::driver::checked;
use crate::machine::describe;
use crate::options::{CopyOptions, bad_option};
use crate::report::{self, Started};
use crate::timing::{Run, Timed, rounds};
use crate::{check_writable, say};

/// What is filled before each run: ten times the L2 cache of the largest device so far.
pub const FLUSH_BYTES: usize = 512 << 20;

/// A byte of which random integers are not made.
const POISON: u8 = 0xA5;

/// Whether every copy was right.
pub fn run(options: &CopyOptions) -> Result<bool> {
    let started = Started::now()?;
    let gpu = Device::nth(options.device.unwrap_or(0)).map_err(bad_option)?;
    let info = gpu.info().context("copies are timed on a CUDA device")?;
    if let Some(file) = &options.json {
        check_writable(file)?;
    }
    let seed = options.seed.unwrap_or_else(|| rand::random::<u32>().into());
    let longest = options.n.iter().copied().max().unwrap_or(1);
    let integers = Integers::draw(longest, seed)?;
    let source = gpu.upload(&integers.values)?;
    let bench = Bench::new(&gpu, &integers.values, &source)?;
    let twins = options.peers.then(|| Twins::build(info.compute_capability));
    let counts = (options.warmup as usize, options.repeats as usize);
    let mut record = Record::new(
        started,
        report::Device::Cuda(describe(&gpu, info)?),
        twins.as_ref(),
        seed,
        counts,
    );
    let twins = twins.and_then(Result::ok);
    say(&format!("{}\n", record.header()))?;
    for &n in &options.n {
        record.sizes.push(bench.size(n, twins.as_ref(), counts)?);
    }
    say(&record.table())?;
    if let Some(file) = &options.json {
        let json = serde_json::to_string_pretty(&record)?;
        fs::write(file, json + "\n").with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(record.is_right())
}

/// What all rows have in common.
pub struct Bench<'a> {
    gpu: &'a Device,
    integers: &'a [i32],
    source: &'a Buffer<i32>,
    target: RefCell<Buffer<i32>>,
    flush: Buffer<i32>,
}

impl<'a> Bench<'a> {
    /// The source holds the integers.
    pub fn new(gpu: &'a Device, integers: &'a [i32], source: &'a Buffer<i32>) -> Result<Self> {
        Ok(Self {
            gpu,
            integers,
            source,
            target: RefCell::new(gpu.alloc(integers.len())?),
            flush: gpu.alloc(FLUSH_BYTES / size_of::<i32>())?,
        })
    }

    fn size(&self, n: usize, twins: Option<&Twins>, counts: (usize, usize)) -> Result<Size> {
        let (rows, mut timed, sum) = self.rows(n, twins)?;
        let samples = rounds(&mut timed, sum, counts.0, counts.1)?;
        let rows = rows.into_iter().zip(samples);
        Ok(Size::new(
            n,
            rows.map(|(row, samples)| row.filled(n, samples)).collect(),
        ))
    }

    /// Every row of a size, how it is timed, and what it must answer.
    pub fn rows(&self, n: usize, twins: Option<&Twins>) -> Result<(Vec<Row>, Vec<Timed<'_>>, i32)> {
        let sum = self.gpu.sum(self.source.view(..n)?)?;
        let (mut rows, mut timed) = (Vec::new(), Vec::new());
        for width in CopyWidth::ALL {
            let mut target = self.target.borrow_mut();
            let copy = self
                .gpu
                .copy(self.source.view(..n)?, &mut target, 0, width)?;
            let pass = *copy.pass().context("there is something to copy")?;
            let row = |by| Row::new(width.kernel_name(), by, Some((pass.blocks, pass.threads)));
            rows.push(row(By::Warpfold));
            timed.push(self.timed(n, width.kernel_name(), move |bench| {
                let mut target = bench.target.borrow_mut();
                let source = bench.source.view(..n)?;
                let mut copy = bench.gpu.copy(source, &mut target, 0, width)?;
                bench.before()?;
                Ok(bench.gpu.time(|| copy.enqueue())?)
            }));
            if let Some(twins) = twins.filter(|_| n <= TWIN_MAX_N) {
                let twin = twins.twin(width.kernel_name())?;
                rows.push(row(By::Nvcc));
                timed.push(self.timed(n, width.kernel_name(), move |bench| {
                    bench.time(|from, to, stream| {
                        // SAFETY: `time` vouches for the arrays, the stream and the context.
                        unsafe { twin.enqueue(from, to, n, (pass.blocks, pass.threads), stream) }
                    })
                }));
            }
        }
        rows.push(Row::new("cuMemcpyDtoDAsync", By::Driver, None));
        timed.push(self.timed(n, "cuMemcpyDtoDAsync", move |bench| {
            bench.time(|from, to, stream| {
                let bytes = n * size_of::<i32>();
                // SAFETY: as above.
                checked("cuMemcpyDtoDAsync", unsafe {
                    cust_raw::cuMemcpyDtoDAsync_v2(to, from, bytes, stream.cast())
                })
            })
        }));
        Ok((rows, timed, sum))
    }

    /// A row that copies `n` elements by `copy`, which gives its time.
    fn timed<'t>(
        &'t self,
        n: usize,
        name: &str,
        mut copy: impl FnMut(&Self) -> Result<f64> + 't,
    ) -> Timed<'t> {
        let mut first = true;
        Timed::new(name, move || {
            // SAFETY: nothing else is using the target: every run before has been waited for.
            unsafe { self.fill(&self.target.borrow()) }?;
            let ms = copy(self)?;
            let target = self.target.borrow();
            let copied = target.view(..n)?;
            if first {
                let is = copied.download()? == self.integers[..n];
                ensure!(is, "the target is not the source");
                first = false;
            }
            let answer = self.gpu.reduce(copied, Sum).run()?;
            Ok(Run { ms, answer })
        })
    }

    /// Times what `enqueue` puts on the stream.
    ///
    /// It is called with the source's and the target's addresses, live device memory of as many
    /// integers as the largest size has, apart from each other, and the live stream of the device
    /// whose context is current; the memory stays until the stream has done the work.
    fn time(
        &self,
        enqueue: impl FnOnce(u64, u64, *mut std::ffi::c_void) -> Result<()>,
    ) -> Result<f64> {
        let target = self.target.borrow();
        self.before()?;
        let mut enqueued = Ok(());
        let ms = self.gpu.time(|| {
            let (from, to) = (self.source.as_device_ptr(), target.as_device_ptr());
            enqueued = enqueue(from, to, self.gpu.stream_ptr());
            Ok(())
        })?;
        enqueued?;
        Ok(ms)
    }

    /// Empties the cache and keeps the device busy.
    fn before(&self) -> Result<()> {
        // SAFETY: nobody else uses the memory.
        unsafe { self.fill(&self.flush) }
    }

    /// Enqueues a fill.
    ///
    /// # Safety
    ///
    /// No host code and no other stream is using the buffer's memory.
    unsafe fn fill(&self, buffer: &Buffer<i32>) -> Result<()> {
        // Makes the device's context current.
        self.gpu.synchronize()?;
        let (start, bytes) = (buffer.as_device_ptr(), buffer.len() * size_of::<i32>());
        let stream = self.gpu.stream_ptr().cast();
        // SAFETY: the address and the bytes are the buffer's own, which frees its memory only after
        // a wait for this stream; the stream is the device's and lives as long as it; the rest is
        // the caller's contract.
        checked("cuMemsetD8Async", unsafe {
            cust_raw::cuMemsetD8Async(start, POISON, bytes, stream)
        })
    }
}
