//! Simulates heat on plates on the first CUDA device, compares every cell with plain loops, and measures the
//! speed.

use std::process::ExitCode;

use cust::error::CudaResult;
use cust::event::{Event, EventFlags};
use cust::launch;
use cust::memory::DeviceBuffer;
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use heat_kernels::{BLOCK, grid, reference};
// Links the driver's functions at run time, so that the program starts on a machine without a GPU too.
use libcuda as _;

static PTX: &str = include_str!(concat!(env!("OUT_DIR"), "/heat.ptx"));

const RATE: f32 = 0.2;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("heat: the CUDA driver returned {error:?}");
            ExitCode::FAILURE
        }
    }
}

/// Whether all cells are right.
fn run() -> CudaResult<bool> {
    let _context = cust::quick_init()?;
    let gpu = Gpu {
        module: Module::from_ptx(PTX, &[])?,
        stream: Stream::new(StreamFlags::DEFAULT, None)?,
    };
    let large = [(1000, 777), (4096, 4096)];
    let sizes = reference::SIZES.into_iter().chain(large);
    let mut checks = 0;
    for (columns, rows) in sizes {
        let mut right = reference::plate(columns, rows);
        let mut plate = Plate::new(&right, columns, rows)?;
        for _ in 0..3 {
            gpu.step(&mut plate)?;
            right = reference::step(&right, columns, RATE);
        }
        gpu.stream.synchronize()?;
        let got = plate.now.as_host_vec()?;
        if got != right {
            let wrong = got.iter().zip(&right).filter(|(a, b)| a != b).count();
            eprintln!("heat: {columns} x {rows}: {wrong} cells are wrong");
            return Ok(false);
        }
        checks += 1;
    }
    println!("{checks} passed, 0 failed");
    let rate = gpu.bytes_per_second(16_384, 16_384)?;
    println!("16384 x 16384 cells: {:.0} GB/s", rate / 1e9);
    Ok(true)
}

/// A plate on the device.
struct Plate {
    now: DeviceBuffer<f32>,
    /// The output of the next step.
    next: DeviceBuffer<f32>,
    columns: u32,
    rows: u32,
}

impl Plate {
    fn new(cells: &[f32], columns: usize, rows: usize) -> CudaResult<Plate> {
        Ok(Plate {
            now: DeviceBuffer::from_slice(cells)?,
            next: DeviceBuffer::zeroed(cells.len())?,
            columns: columns as u32,
            rows: rows as u32,
        })
    }
}

/// The loaded kernel, and its stream.
struct Gpu {
    module: Module,
    stream: Stream,
}

impl Gpu {
    /// Enqueues one time step.
    fn step(&self, plate: &mut Plate) -> CudaResult<()> {
        let function = self.module.get_function("heat_step")?;
        let [x, y] = grid(plate.columns, plate.rows);
        let stream = &self.stream;
        // SAFETY: the parameters are those of `heat_step`, in order; a slice is address and length. Both
        // buffers have `columns * rows` elements, and live until the stream has been waited for.
        unsafe {
            launch!(function<<<(x, y), (BLOCK[0], BLOCK[1]), 0, stream>>>(
                plate.now.as_device_ptr(),
                plate.now.len(),
                plate.next.as_device_ptr(),
                plate.columns,
                plate.rows,
                RATE
            ))?;
        }
        std::mem::swap(&mut plate.now, &mut plate.next);
        Ok(())
    }

    /// The bytes that a step reads and writes per second: 8 for each cell.
    fn bytes_per_second(&self, columns: usize, rows: usize) -> CudaResult<f64> {
        const STEPS: usize = 50;
        let mut plate = Plate::new(&vec![1.0; columns * rows], columns, rows)?;
        // The first step is not timed.
        self.step(&mut plate)?;
        let [start, stop] = [
            Event::new(EventFlags::DEFAULT)?,
            Event::new(EventFlags::DEFAULT)?,
        ];
        start.record(&self.stream)?;
        for _ in 0..STEPS {
            self.step(&mut plate)?;
        }
        stop.record(&self.stream)?;
        stop.synchronize()?;
        let seconds = f64::from(stop.elapsed_time_f32(&start)?) / 1e3;
        Ok((8 * columns * rows * STEPS) as f64 / seconds)
    }
}
