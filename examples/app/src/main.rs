//! Reduces with the operators of `outside-kernels` and compares every result with a plain loop: `outside cpu`,
//! `outside cuda`, or, with the feature `simulator`, `outside simulator`.

mod log_sum_exp;

use std::fmt::Debug;
use std::process::ExitCode;

use outside_kernels::{
    Best, BoundingBox, Box3, Complex, Dot3, Found, Histogram, LastValid, Mat2, MatProduct, Point,
    Scored, SquaresAbout,
};
use warpfold::{Device, Error, Sum};

warpfold::embedded!(
    /// The kernels of `outside-kernels`, as PTX.
    static KERNELS: outside_kernels::KERNELS
);

fn main() -> ExitCode {
    let name = std::env::args().nth(1).unwrap_or_else(|| "cpu".into());
    match device(&name).and_then(|device| check_all(&device, lengths(&name))) {
        Ok(checks) => {
            println!("{checks} passed, 0 failed, on {name}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("outside: on {name}: {error}");
            ExitCode::FAILURE
        }
    }
}

type Failure = Box<dyn std::error::Error>;

fn device(name: &str) -> Result<Device, Failure> {
    let device = match name {
        "cpu" => Device::cpu(),
        "cuda" => Device::first()?,
        #[cfg(feature = "simulator")]
        "simulator" => Device::simulated()?,
        _ => return Err("the device must be cpu, cuda or, with the feature, simulator".into()),
    };
    // Without the kernels, a device reports what is missing.
    let x = device.upload(&[1.0f32])?;
    match device.reduce(&x, SquaresAbout { centre: 0.0 }).run() {
        Err(Error::NotRegistered {
            package: "outside-kernels",
            ..
        }) => {}
        other => return Err(format!("a device without the kernels returned {other:?}").into()),
    }
    Ok(device.with(&KERNELS)?)
}

/// Lengths at the boundaries of warps, vectors, blocks and grids; long ones only where the device is fast.
fn lengths(device: &str) -> Vec<usize> {
    let mut lengths = vec![
        0, 1, 2, 3, 4, 5, 31, 32, 33, 127, 128, 129, 1000, 4096, 4097,
    ];
    match device {
        "simulator" => lengths.push(20_001),
        "cuda" => lengths.extend([65_536, 1 << 20, (1 << 20) + 1, 5_000_003, (1 << 26) + 7]),
        _ => lengths.extend([65_536, 300_003]),
    }
    lengths
}

/// A reproducible sequence of pseudo-random numbers.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        // xorshift64*, Vigna 2016.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32
    }

    /// A multiple of 1/4 from -8 up to 8. Sums of a few million are exact in `f64`.
    fn quarter(&mut self) -> f32 {
        (self.next() % 64) as f32 / 4.0 - 8.0
    }
}

fn check_all(device: &Device, lengths: Vec<usize>) -> Result<usize, Failure> {
    let mut checks = 0;
    let most = lengths.iter().max().copied().unwrap_or(0);
    // Views with different starts: at a multiple of 16 bytes, and after one.
    let starts = [0, 1, 2, 3];
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let mut draw = || numbers.quarter();
    let memory = most + starts.len();

    let complex: Vec<_> = (0..memory)
        .map(|_| Complex {
            re: draw(),
            im: draw(),
        })
        .collect();
    let points: Vec<_> = (0..memory)
        .map(|_| Point {
            x: draw(),
            y: draw(),
            z: draw(),
        })
        .collect();
    let scored: Vec<_> = (0..memory)
        .map(|i| Scored {
            score: draw(),
            id: (i as u32).wrapping_mul(2_654_435_761) % 1_000_003,
        })
        .collect();
    // [[1, k], [0, s]] with a small k and s = 1 or -1. The order of the factors determines the product's k,
    // which stays so small that no float rounds.
    let matrices: Vec<_> = (0..memory)
        .map(|_| {
            let k = (draw() * 4.0) % 4.0;
            let s = if draw() < 0.0 { -1.0 } else { 1.0 };
            Mat2 {
                rows: [[1.0, k.trunc()], [0.0, s]],
            }
        })
        .collect();
    let [a, b, c] = [(); 3].map(|()| (0..memory).map(|_| draw()).collect::<Vec<_>>());
    let bytes: Vec<_> = a
        .iter()
        .map(|x| (x.to_bits() >> 16) as u8 ^ x.to_bits() as u8)
        .collect();
    let values: Vec<_> = (0..memory as i64).map(|i| i * 7 - 3).collect();
    let valid: Vec<_> = (0..memory).map(|i| u8::from(i % 97 == 5)).collect();

    let on_device = (
        device.upload(&complex)?,
        device.upload(&points)?,
        device.upload(&scored)?,
        device.upload(&matrices)?,
        [device.upload(&a)?, device.upload(&b)?, device.upload(&c)?],
        device.upload(&bytes)?,
        (device.upload(&values)?, device.upload(&valid)?),
    );
    for &n in &lengths {
        for start in starts {
            let part = start..start + n;
            let here = |what: &str| format!("{what} of {n} from {start}");

            let got = device.reduce(on_device.0.view(part.clone())?, Sum).run()?;
            near(
                &here("sum, re"),
                got.re,
                complex[part.clone()].iter().map(|z| z.re.into()),
            )?;
            near(
                &here("sum, im"),
                got.im,
                complex[part.clone()].iter().map(|z| z.im.into()),
            )?;

            let op = SquaresAbout { centre: 0.5 };
            let x = on_device.4[0].view(part.clone())?;
            let got = device.reduce(x, op).run()?;
            let squares = a[part.clone()]
                .iter()
                .map(|x| (f64::from(*x) - 0.5).powi(2));
            near(&here("squares"), got, squares)?;

            let got = device
                .reduce(on_device.1.view(part.clone())?, BoundingBox)
                .run()?;
            equal(&here("box"), got, bounds(&points[part.clone()]))?;

            let got = device.reduce(on_device.2.view(part.clone())?, Best).run()?;
            equal(&here("best"), got, best(&scored[part.clone()]))?;

            let got = device
                .reduce(on_device.3.view(part.clone())?, MatProduct)
                .run()?;
            equal(&here("product"), got, product(&matrices[part.clone()]))?;

            // The three arrays have different starts.
            let shifted = |by: usize| {
                let first = (start + by) % starts.len();
                first..first + n
            };
            let [x, y, z] = &on_device.4;
            let arrays = (
                x.view(shifted(0))?,
                y.view(shifted(1))?,
                z.view(shifted(1))?,
            );
            let got = device.reduce(arrays, Dot3).run()?;
            let of = a[shifted(0)].iter().zip(&b[shifted(1)]).zip(&c[shifted(1)]);
            let right: f64 = of
                .map(|((x, y), z)| f64::from(*x) * f64::from(*y) * f64::from(*z))
                .sum();
            equal(&here("dot of three"), got, right + 0.0)?;

            let got = device
                .reduce(on_device.5.view(part.clone())?, Histogram)
                .run()?;
            let mut right = [0; 16];
            bytes[part.clone()]
                .iter()
                .for_each(|byte| right[usize::from(byte >> 4)] += 1);
            equal(&here("histogram"), got, right)?;

            let arrays = (
                on_device.6.0.view(part.clone())?,
                on_device.6.1.view(part.clone())?,
            );
            let got = device.reduce(arrays, LastValid).run()?;
            let right = valid[part.clone()].iter().rposition(|valid| *valid != 0);
            let right = right.map(|i| Found {
                index: i as u64,
                value: values[start + i],
            });
            equal(&here("last valid"), got, right)?;
            checks += 9;
        }
    }
    checks += others(device, &matrices, &scored)?;
    checks += segments(device, &a[..most.min(4099)])?;
    Ok(checks + log_sum_exp::check_all(device, &lengths)?)
}

/// Other calls than those that wait: plans, results that stay on the device, graphs, chunks.
fn others(device: &Device, matrices: &[Mat2], scored: &[Scored]) -> Result<usize, Failure> {
    let n = matrices.len().min(4099);
    let (matrices, scored) = (&matrices[..n], &scored[..n]);
    let x = device.upload(matrices)?;
    let right = product(matrices);

    let mut plan = device.reduce(&x, MatProduct).threads(64).plan()?;
    for _ in 0..3 {
        plan.enqueue()?;
    }
    equal("a plan's product", plan.result()?, right)?;

    let mut cells = device.alloc::<Mat2>(2)?;
    let mut scratch = device.scratch()?;
    device.reduce_into(&x, MatProduct, &mut cells, 1, &mut scratch)?;
    equal(
        "a product stored on the device",
        cells.download()?[1],
        right,
    )?;

    let pairs = device.upload(scored)?;
    let mut graph = device.graph(pairs, Best)?;
    graph.launch()?;
    equal("a graph's best", graph.result()?, best(scored))?;
    let better = Scored {
        score: 100.0,
        id: 3,
    };
    graph.write(1, &[better])?;
    graph.launch()?;
    equal("a graph's best of new data", graph.result()?, Some(better))?;

    let mut chunks = matrices.chunks(300);
    let got = device.reduce_chunks(MatProduct, 300, |chunk: &mut [Mat2]| {
        Ok(chunks.next().map(|next| {
            chunk[..next.len()].copy_from_slice(next);
            next.len()
        }))
    })?;
    equal("a product of chunks", got, right)?;

    let other = device.new_stream()?;
    equal(
        "a product on another stream",
        other.reduce(&x, MatProduct).run()?,
        right,
    )?;
    Ok(6)
}

/// Segments by offsets, of 0, 1, 2, ... items, and of one length. No sum rounds.
fn segments(device: &Device, items: &[f32]) -> Result<usize, Failure> {
    let op = SquaresAbout { centre: 0.5 };
    let x = device.upload(items)?;
    let plain = |part: &[f32]| part.iter().map(|x| (x - 0.5).powi(2)).sum::<f32>() + 0.0;
    let ends = (0u32..).map(|i| i * (i + 1) / 2);
    let offsets: Vec<u32> = ends
        .take_while(|end| *end as usize <= items.len())
        .collect();
    let right = offsets.windows(2);
    let right = right.map(|ends| plain(&items[ends[0] as usize..ends[1] as usize]));
    let got = device.reduce_segments(&x, &device.upload(&offsets)?, op)?;
    equal("segments by offsets", got, right.collect())?;

    let mut checks = 1;
    for len in [1, 7, 1000] {
        let rows = items.len() / len;
        let got = device.reduce_rows(x.view(..rows * len)?, len, op)?;
        let right = items.chunks_exact(len).map(plain).collect();
        equal(&format!("rows of {len}"), got, right)?;
        checks += 1;
    }
    Ok(checks)
}

fn bounds(points: &[Point]) -> Box3 {
    let of = |coordinate: fn(&Point) -> f32| {
        let (mut min, mut max) = (f32::INFINITY, f32::NEG_INFINITY);
        for point in points {
            let value = coordinate(point);
            if value < min {
                min = value;
            }
            if value > max {
                max = value;
            }
        }
        (min, max)
    };
    let (x, y, z) = (of(|p| p.x), of(|p| p.y), of(|p| p.z));
    Box3 {
        min: Point {
            x: x.0,
            y: y.0,
            z: z.0,
        },
        max: Point {
            x: x.1,
            y: y.1,
            z: z.1,
        },
    }
}

fn best(pairs: &[Scored]) -> Option<Scored> {
    let mut sorted: Vec<&Scored> = pairs.iter().collect();
    sorted.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    sorted.first().map(|pair| **pair)
}

/// In integers, so that no step rounds.
fn product(matrices: &[Mat2]) -> Mat2 {
    let mut all = [[1i64, 0], [0, 1]];
    for matrix in matrices {
        let m = matrix.rows.map(|row| row.map(|x| x as i64));
        all = [0, 1].map(|i| [0, 1].map(|j| all[i][0] * m[0][j] + all[i][1] * m[1][j]));
    }
    Mat2 {
        rows: all.map(|row| row.map(|x| x as f32)),
    }
}

fn equal<T: PartialEq + Debug>(what: &str, got: T, right: T) -> Result<(), Failure> {
    match got == right {
        true => Ok(()),
        false => Err(format!("{what}: {got:?} instead of {right:?}").into()),
    }
}

/// An error unless the `f32` sum is near the exact sum in `f64`. The tolerance is well above the error bound of
/// pairwise sums of up to 2^27 values.
fn near(what: &str, got: f32, values: impl Iterator<Item = f64> + Clone) -> Result<(), Failure> {
    let size: f64 = values.clone().map(f64::abs).sum();
    let right: f64 = values.sum();
    let error = (f64::from(got) - right).abs();
    // Written so that a NaN fails.
    if error <= 2e-5 * size {
        return Ok(());
    }
    Err(format!("{what}: {got} instead of {right}").into())
}
