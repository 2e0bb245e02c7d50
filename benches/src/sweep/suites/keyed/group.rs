//! The rows of one distribution of particles: every algorithm, its reference kernel, and CUB.
//!
//! The cells are cleared right before each timed run, as in each step of a simulation. After the run all
//! cells are checked.

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::ops::AddAssign;
use std::rc::Rc;

use anyhow::{Result, ensure};
use kernels_gpu::element::Number;
use warpfold::{Buffer, Cells, Determinism, Keyed, KeyedAlgorithm, Sum};
use warpfold_results::schema::{By, Row, Suite};

use super::particles::{ARRAYS, Distribution, Particles};
use super::peers::{Cub, Launch, Reference, Runs};
use crate::peers::Peers;
use crate::sweep::rounds::Verdict;
use crate::sweep::run::Sweep;
use crate::sweep::subject::Subject;
use crate::sweep::suites::Bench;

/// The type of the particles' values.
pub trait Value: Number + From<i8> + From<i16> + AddAssign {}

impl Value for f32 {}
impl Value for f64 {}

/// One distribution of particles.
pub struct Group<'a> {
    pub bench: &'a Bench<'a>,
    pub peers: Option<&'a Peers>,
    /// Per block.
    pub threads: u32,
    pub distribution: Distribution,
    pub particles: &'a Particles,
}

impl Group<'_> {
    /// Times every row of one type of values.
    pub fn time<T: Value>(&self, sweep: &mut Sweep) -> Result<()>
    where
        Sum: Keyed<u32, T>,
    {
        let gpu = &self.bench.gpu.determinism(Determinism::Fast);
        let particles = self.particles;
        let values: Vec<T> = particles.values.iter().map(|x| T::from(*x)).collect();
        let sums: Vec<T> = particles.sums.iter().map(|sum| T::from(*sum)).collect();
        let keys = gpu.upload(&particles.keys)?;
        let values = gpu.upload(&values)?;
        let one = RefCell::new(gpu.cell_arrays::<T, _>(1, self.cells(), Sum)?);
        let three = RefCell::new(gpu.cell_arrays::<T, _>(ARRAYS, self.cells(), Sum)?);
        let work = Work {
            keys: &keys,
            values: &values,
            sums: &sums,
        };
        let options = self.bench.options;
        let mut subjects = Vec::new();
        let of_one = KeyedAlgorithm::ALL.into_iter().map(|kernel| (kernel, 1));
        let of_three =
            [KeyedAlgorithm::Ballot, KeyedAlgorithm::Match].map(|kernel| (kernel, ARRAYS));
        for (algorithm, arrays) in of_one.chain(of_three) {
            let name = match arrays {
                1 => algorithm.kernel_name().to_owned(),
                _ => format!("{}_x{arrays}", algorithm.kernel_name()),
            };
            if !options.wants_kernel(&name) {
                continue;
            }
            let cells = if arrays == 1 { &one } else { &three };
            subjects.push(self.warpfold_subject(work, &name, (algorithm, arrays), cells));
            if let Some(peers) = self.peers.filter(|_| options.wants(By::Nvcc)) {
                subjects.push(self.reference_subject(work, &name, peers, arrays, cells)?);
            }
        }
        if let Some(peers) = self.peers.filter(|_| options.wants(By::Cub)) {
            subjects.push(self.cub_subject(work, peers)?);
        }
        let subjects: Vec<_> = subjects.into_iter().map(Rc::new).collect();
        let (n, keys) = (particles.keys.len(), self.distribution.name());
        let what = format!("{n} {keys} keys, {}", T::NAME);
        sweep.group(&what, self.bench.device_rows(&subjects))
    }

    fn cells(&self) -> usize {
        self.particles.sums.len() / ARRAYS
    }

    fn row<T: Value>(&self, by: By, kernel: &str, arrays: usize) -> Row {
        let n = self.particles.keys.len();
        let each = size_of::<T>() * arrays;
        Row {
            by,
            op: Some("sum".into()),
            // Keys and values are read, cells are written.
            bytes: (n * (size_of::<u32>() + each) + self.cells() * each) as u64,
            threads: (by != By::Cub).then_some(self.threads),
            keys: Some(self.distribution.name().into()),
            ..Row::new(Suite::Keyed, kernel, T::NAME, n)
        }
    }

    /// warpfold's kernel.
    fn warpfold_subject<'s, T: Value>(
        &'s self,
        work: Work<'s, T>,
        kernel: &str,
        (algorithm, arrays): (KeyedAlgorithm, usize),
        cells: &'s RefCell<Cells<T, Sum>>,
    ) -> Subject<'s>
    where
        Sum: Keyed<u32, T>,
    {
        Subject {
            copies: 1,
            row: self.row::<T>(By::Warpfold, kernel, arrays),
            overwrite: Box::new(|| Ok(cells.borrow_mut().clear()?)),
            enqueue: Box::new(move |_, _| {
                let values = work.values.view(..arrays * work.keys.len())?;
                let mut cells = cells.borrow_mut();
                cells.choose(algorithm, self.threads);
                Ok(cells.combine(work.keys, values)?)
            }),
            check: Box::new(move |_| work.check(&cells.borrow())),
        }
    }

    /// The reference kernel, which writes the same cells.
    fn reference_subject<'s, T: Value>(
        &'s self,
        work: Work<'s, T>,
        kernel: &str,
        peers: &Peers,
        arrays: usize,
        cells: &'s RefCell<Cells<T, Sum>>,
    ) -> Result<Subject<'s>>
    where
        Sum: Keyed<u32, T>,
    {
        let reference = Reference::<T>::of(peers, kernel)?;
        let on = self.launch(work);
        Ok(Subject {
            copies: 1,
            row: self.row::<T>(By::Nvcc, kernel, arrays),
            overwrite: Box::new(|| Ok(cells.borrow_mut().clear()?)),
            enqueue: Box::new(move |_, _| {
                let (to, count) = (cells.borrow().as_device_ptr(), cells.borrow().len());
                // SAFETY: keys, values and cells are live buffers of this device, with `count` cells for each
                // array. All keys are below `count` (they are those of `Particles`); allocations are aligned
                // to 256 bytes. The context is current (`Subject::enqueue`), and all enqueued work is waited
                // for (`Timer::time`).
                unsafe { reference.enqueue(on, to, count, self.threads) }
            }),
            check: Box::new(move |_| work.check(&cells.borrow())),
        })
    }

    /// CUB's ReduceByKey. Each run checks the number of runs of keys, the first one also their keys and sums.
    fn cub_subject<'s, T: Value>(
        &'s self,
        work: Work<'s, T>,
        peers: &Peers,
    ) -> Result<Subject<'s>> {
        let gpu = self.bench.gpu;
        let n = self.particles.keys.len();
        let cub = Cub::<T>::of(peers)?;
        let on = self.launch(work);
        let bytes = cub.temp_bytes(on)?;
        let temp = gpu.alloc::<u32>(bytes.div_ceil(size_of::<u32>()))?;
        let keys = gpu.alloc::<u32>(n)?;
        let sums = gpu.alloc::<T>(n)?;
        let count = Rc::new(gpu.alloc::<i32>(1)?);
        let overwritten = Rc::clone(&count);
        let to = Runs {
            keys: keys.as_device_ptr(),
            sums: sums.as_device_ptr(),
            count: count.as_device_ptr(),
        };
        let has_run = Cell::new(false);
        Ok(Subject {
            copies: 1,
            row: self.row::<T>(By::Cub, "DeviceReduce::ReduceByKey", 1),
            overwrite: Box::new(move || self.bench.timer.overwrite(&overwritten)),
            // SAFETY: as for the reference kernel; the outputs have room for `n` runs, and `temp` is as large
            // as CUB requires. `check` owns the outputs, this closure owns `temp`.
            enqueue: Box::new(move |_, _| unsafe {
                cub.enqueue(on, to, temp.as_device_ptr(), bytes)
            }),
            check: Box::new(move |_| {
                let (found, runs) = (count.download()?[0], self.particles.runs);
                if found as usize != runs {
                    return Ok(Err((format!("{found} runs"), format!("{runs} runs"))));
                }
                if has_run.replace(true) {
                    return Ok(Ok(()));
                }
                let keys = keys.view(..runs)?.download()?;
                let mut cells = vec![T::from(0i8); self.cells()];
                for (key, sum) in keys.into_iter().zip(sums.view(..runs)?.download()?) {
                    cells[key as usize] += sum;
                }
                Ok(equal(&cells, work.sums))
            }),
        })
    }

    fn launch<T: Value>(&self, work: Work<'_, T>) -> Launch {
        Launch {
            keys: work.keys.as_device_ptr(),
            values: work.values.as_device_ptr(),
            n: work.keys.len(),
            stream: self.bench.gpu.stream_ptr(),
        }
    }
}

/// The particles on the device, and their sums.
#[derive(Clone, Copy)]
struct Work<'a, T: Value> {
    keys: &'a Buffer<u32>,
    /// All arrays, one after another.
    values: &'a Buffer<T>,
    sums: &'a [T],
}

impl<T: Value> Work<'_, T> {
    /// Checks all cells.
    fn check(&self, cells: &Cells<T, Sum>) -> Result<Verdict>
    where
        Sum: Keyed<u32, T>,
    {
        ensure!(cells.rejected()? == 0, "at least one key was rejected");
        Ok(equal(&cells.download()?, self.sums))
    }
}

/// Compares all cells; the error names the first wrong one.
pub fn equal<T: PartialEq + Debug>(got: &[T], expected: &[T]) -> Verdict {
    match got.iter().zip(expected).position(|(got, sum)| got != sum) {
        None => Ok(()),
        Some(cell) => Err((
            format!("{:?} in cell {cell}", got[cell]),
            format!("{:?}", expected[cell]),
        )),
    }
}
