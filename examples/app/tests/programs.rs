//! Short programs, as a new user writes them: each is a function of a device. The tests run them on the CPU,
//! and with the feature `simulator` on the simulated GPU.

use std::error::Error as StdError;
use std::process::Command;

use warpfold::{Device, Error};

warpfold::embedded!(
    /// The kernels of `outside-kernels`, as PTX.
    static KERNELS: outside_kernels::KERNELS
);

type Answer = Result<(), Box<dyn StdError>>;

/// A file of little-endian `f32`: its mean, deviation and range, and the index of its maximum.
mod statistics_of_a_file {
    use super::*;
    use std::fs;
    use warpfold::Predicate;
    use warpfold::file::read_raw;

    pub fn run(device: &Device) -> Answer {
        let column: Vec<f32> = (0..1001).map(|i| (i * 37 % 1001) as f32).collect();
        let bytes: Vec<u8> = column.iter().flat_map(|x| x.to_le_bytes()).collect();
        let path = std::env::temp_dir().join(format!(
            "outside-column-{}-{}.f32",
            std::process::id(),
            device.is_gpu()
        ));
        fs::write(&path, bytes)?;
        let column = device.upload(&read_raw::<f32>(&path)?)?;
        fs::remove_file(&path)?;

        let moments = device.mean_variance(&column)?.expect("there are numbers");
        assert!((moments.mean() - 500.0).abs() < 1e-9);
        // The variance of the numbers from 0 to n - 1 is (n^2 - 1) / 12.
        assert!((moments.variance() - 83_500.0).abs() < 1e-6);
        let range = device.min_max(&column)?.expect("there are numbers");
        assert_eq!((range.min(), range.max()), (0.0, 1000.0));
        // 37 * 514 = 19 * 1001 - 1.
        assert_eq!(device.argmax(&column)?, Some(514));
        assert_eq!(device.count(&column, Predicate::Less(500.0))?, 500);
        Ok(())
    }
}

/// Columns of a table; a thread with its own stream reduces each.
mod columns_on_threads {
    use super::*;
    use std::thread;

    pub fn run(device: &Device) -> Answer {
        let columns: Vec<Vec<i32>> = (0..8).map(|c| (0..5000).map(|i| i * c).collect()).collect();
        let sums = thread::scope(|scope| {
            let of = |column| move || sum_on_a_stream(device, column);
            let threads: Vec<_> = columns
                .iter()
                .map(|column| scope.spawn(of(column)))
                .collect();
            let sums = threads
                .into_iter()
                .map(|thread| thread.join().expect("no panic"));
            sums.collect::<Result<Vec<_>, Error>>()
        })?;
        let right: Vec<i32> = (0..8).map(|c| 4999 * 5000 / 2 * c).collect();
        assert_eq!(sums, right);
        Ok(())
    }

    fn sum_on_a_stream(device: &Device, column: &[i32]) -> Result<i32, Error> {
        let stream = device.new_stream()?;
        stream.sum(&stream.upload(column)?)
    }
}

/// A weighted mean: a dot product over a sum.
mod weighted_mean {
    use super::*;

    pub fn run(device: &Device) -> Answer {
        let values = device.upload(&[1.0f32, 2.0, 4.0, 8.0])?;
        let weights = device.upload(&[4.0f32, 2.0, 1.0, 1.0])?;
        assert_eq!(device.weighted_mean(&values, &weights)?, Some(20.0 / 8.0));

        // Arrays of different lengths are an error.
        let refused = device.weighted_mean(&values, weights.view(..3)?);
        assert!(matches!(refused, Err(Error::Lengths { .. })), "{refused:?}");
        Ok(())
    }
}

/// The log-likelihoods of three hypotheses, each far below the smallest positive `f64`, as probabilities.
mod log_sum_exp {
    use super::*;
    use outside_kernels::LogSumExp;

    pub fn run(device: &Device) -> Answer {
        let device = device.with(&KERNELS)?;
        let likelihoods = [-1000.0f32, -1001.0, -1002.0];
        let total = device
            .reduce(&device.upload(&likelihoods)?, LogSumExp)
            .run()?;
        let posterior = likelihoods.map(|x| (f64::from(x) - total).exp());
        let right = [0.665_240_955_8, 0.244_728_471_1, 0.090_030_573_2];
        for (got, right) in posterior.into_iter().zip(right) {
            assert!((got - right).abs() < 1e-5, "{got} instead of {right}");
        }
        Ok(())
    }
}

/// An array in pieces, some of them empty, from a source that may fail.
mod pieces {
    use super::*;
    use std::fmt;
    use warpfold::{ArgMax, Sum};

    #[derive(Debug, PartialEq)]
    struct Disconnected {
        after: usize,
    }

    impl fmt::Display for Disconnected {
        fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
            write!(f, "disconnected after {} pieces", self.after)
        }
    }

    impl StdError for Disconnected {}

    pub fn run(device: &Device) -> Answer {
        let pieces = [vec![], vec![3, 1], vec![], vec![4], vec![1, 5], vec![]];
        let good = || pieces.iter().map(Ok::<_, Disconnected>);
        assert_eq!(device.reduce_iter(Sum, good())?, 14);
        // Indices count over all pieces.
        assert_eq!(
            device.reduce_iter(ArgMax, good())?.map(|best| best.index()),
            Some(4)
        );
        assert_eq!(device.reduce_iter(Sum, good().take(0))?, 0);

        // The caller's error is returned unchanged.
        let failing = good().take(3).chain([Err(Disconnected { after: 3 })]);
        let Err(Error::Other(error)) = device.reduce_iter(Sum, failing) else {
            panic!("the source has failed");
        };
        assert_eq!(error.downcast_ref(), Some(&Disconnected { after: 3 }));

        // The chunk has at most two elements, and every second one is empty.
        let mut left = vec![9, 2, 6, 5, 3];
        let mut calls = 0;
        let sum = device.reduce_chunks(Sum, 2, |chunk| {
            calls += 1;
            let n = if calls % 2 == 0 { 0 } else { left.len().min(2) };
            chunk[..n].copy_from_slice(&left[..n]);
            left.drain(..n);
            Ok((calls % 2 == 0 || n > 0).then_some(n))
        })?;
        assert_eq!(sum, 25);
        let failed = device.reduce_chunks(Sum, 2, |_: &mut [i32]| {
            Err(Error::other(Disconnected { after: 0 }))
        });
        assert_eq!(
            failed.unwrap_err().to_string(),
            "disconnected after 0 pieces"
        );
        Ok(())
    }
}

/// One function for all numbers.
mod generic {
    use super::*;
    use warpfold::{Number, f16};

    fn total<T: Number>(device: &Device, x: &[T]) -> Result<T, Error> {
        device.sum(&device.upload(x)?)
    }

    pub fn run(device: &Device) -> Answer {
        assert_eq!(total(device, &[1u8, 2, 255])?, 2);
        assert_eq!(total(device, &[i64::MAX, -1])?, i64::MAX - 1);
        assert_eq!(total(device, &[0.5f32; 9])?, 4.5);
        assert_eq!(
            total(device, &[f16::from_f32(0.25); 6])?,
            f16::from_f32(1.5)
        );
        assert_eq!(total::<f64>(device, &[])?, 0.0);
        Ok(())
    }
}

/// Two devices: each rejects the buffers of the other.
mod two_devices {
    use super::*;

    pub fn run(device: &Device) -> Answer {
        let other = Device::cpu();
        let (here, there) = (device.upload(&[1, 2])?, other.upload(&[3, 4])?);
        assert_eq!((device.sum(&here)?, other.sum(&there)?), (3, 7));
        for refused in [
            device.sum(&there),
            other.sum(&here),
            device.dot(&here, &there).map(|_| 0),
        ] {
            assert!(
                matches!(refused, Err(Error::OtherDevice { .. })),
                "{refused:?}"
            );
        }
        // A clone is the same device.
        assert_eq!(device.clone().sum(&here)?, 3);
        Ok(())
    }
}

/// The rows of an `ndarray`.
mod with_ndarray {
    use super::*;
    use ndarray::{Array2, Axis};

    pub fn run(device: &Device) -> Answer {
        let table = Array2::from_shape_fn((7, 300), |(row, column)| (row * 1000 + column) as i64);
        let cells = table.as_slice().expect("the rows are contiguous");
        let buffer = device.upload(cells)?;
        let width = table.ncols();
        for (i, row) in table.axis_iter(Axis(0)).enumerate() {
            let view = buffer.view(i * width..(i + 1) * width)?;
            assert_eq!(device.sum(view)?, row.sum());
            assert_eq!(device.max(view)?, row.last().copied());
        }
        assert_eq!(device.sum(&buffer)?, table.sum());
        // A column is not contiguous, so it is copied first.
        let column = table.column(5).to_vec();
        assert_eq!(device.sum(&device.upload(&column)?)?, table.column(5).sum());
        Ok(())
    }
}

/// Many short arrays on the threads of `rayon`.
mod with_rayon {
    use super::*;
    use rayon::prelude::*;

    pub fn run(device: &Device) -> Answer {
        let arrays: Vec<Vec<u32>> = (0..100).map(|i| (0..i).collect()).collect();
        let total = arrays
            .par_iter()
            .map(|array| device.sum_wide(&device.upload(array)?))
            .try_reduce(|| 0, |a, b| Ok::<u64, Error>(a + b))?;
        let right: u64 = (0..100u64).map(|i| i * i.saturating_sub(1) / 2).sum();
        assert_eq!(total, right);
        Ok(())
    }
}

/// Calls that wait, on threads outside the `tokio` runtime.
mod with_tokio {
    use super::*;
    use tokio::runtime::Builder;
    use tokio::task::spawn_blocking;

    async fn sum(device: &Device, data: Vec<i32>) -> Result<i32, Box<dyn StdError>> {
        let device = device.clone();
        let sum = spawn_blocking(move || device.sum(&device.upload(&data)?));
        Ok(sum.await??)
    }

    pub fn run(device: &Device) -> Answer {
        let runtime = Builder::new_current_thread().build()?;
        runtime.block_on(async {
            let first = sum(device, (1..=1000).collect()).await?;
            let second = sum(device, vec![first; 3]).await?;
            assert_eq!((first, second), (500_500, 1_501_500));
            Ok(())
        })
    }
}

/// A test of each program, on every device.
macro_rules! programs {
    ($($program:ident)*) => { $(
        #[test]
        fn $program() -> Answer {
            devices().iter().try_for_each($program::run)
        }
    )* };
}

programs! {
    statistics_of_a_file
    columns_on_threads
    weighted_mean
    log_sum_exp
    pieces
    generic
    two_devices
    with_ndarray
    with_rayon
    with_tokio
}

/// The CPU, and with the feature a simulated GPU.
fn devices() -> Vec<Device> {
    vec![
        Device::cpu(),
        #[cfg(feature = "simulator")]
        Device::simulated().expect("the simulated device always opens"),
    ]
}

/// The program of this package: all operators of `outside-kernels`.
#[test]
fn the_program_finds_all_answers_right() {
    let devices = ["cpu", "simulator"];
    let there = if cfg!(feature = "simulator") { 2 } else { 1 };
    for device in &devices[..there] {
        let output = Command::new(env!("CARGO_BIN_EXE_outside"))
            .arg(device)
            .output();
        let output = output.expect("the program starts");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{output:?}");
        assert!(
            text.contains(&format!(" passed, 0 failed, on {device}")),
            "{text}"
        );
    }
}
