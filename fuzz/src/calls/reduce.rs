//! Fuzzes `Device::reduce` with every operator, algorithm and number of threads.

use arbitrary::{Arbitrary, Unstructured};
use kernels_gpu::entry::{self, Ladder};
use warpfold::{
    Algorithm, And, ArgMax, ArgMin, Device, Error, Indexed, Max, Min, NanMax, NanMin, Or, Product,
    SinglePass, Sum, SumWide, View, Xor,
};

use super::input::{self, Range};
use super::number::Number;
use super::oracle;

/// Reduces a view by an algorithm; also returns whether the kernel exists.
type Rung<T, R> = fn(&Device, View<'_, T>, Algorithm, Option<u32>) -> (bool, Result<R, Error>);

/// The operators of an element type that have the ladder's kernels.
pub struct Ladders<T: Number> {
    sum: Option<Rung<T, T>>,
    min: Option<Rung<T, Option<T>>>,
    max: Option<Rung<T, Option<T>>>,
}

impl<T: Number> Ladders<T> {
    pub const NONE: Self = Self {
        sum: None,
        min: None,
        max: None,
    };

    pub fn of_sums() -> Self
    where
        Sum: SinglePass<T, Output = T> + Ladder<T>,
    {
        Self {
            sum: Some(|device, view, algorithm, threads| by(device, view, Sum, algorithm, threads)),
            ..Self::NONE
        }
    }

    pub fn of_all() -> Self
    where
        Sum: SinglePass<T, Output = T> + Ladder<T>,
        Min: SinglePass<T, Output = Option<T>> + Ladder<T>,
        Max: SinglePass<T, Output = Option<T>> + Ladder<T>,
    {
        Self {
            min: Some(|device, view, algorithm, threads| by(device, view, Min, algorithm, threads)),
            max: Some(|device, view, algorithm, threads| by(device, view, Max, algorithm, threads)),
            ..Self::of_sums()
        }
    }
}

fn by<T: Number, O: SinglePass<T> + Ladder<T>>(
    device: &Device,
    view: View<'_, T>,
    op: O,
    algorithm: Algorithm,
    threads: Option<u32>,
) -> (bool, Result<O::Output, Error>) {
    let mut reduction = device.reduce(view, op).algorithm(algorithm);
    if let Some(threads) = threads {
        reduction = reduction.threads(threads);
    }
    let has_kernel = algorithm == Algorithm::SinglePass
        || entry::find(<O as Ladder<T>>::ENTRIES, algorithm.kernel_name()).is_some();
    (has_kernel, reduction.run())
}

/// The options of a reduction.
struct Options {
    algorithm: Option<Algorithm>,
    threads: Option<u32>,
    range: Range,
}

impl Options {
    fn of(source: &mut Unstructured<'_>) -> arbitrary::Result<Self> {
        Ok(Self {
            algorithm: algorithm(source)?,
            threads: input::threads(source)?,
            range: source.arbitrary()?,
        })
    }
}

/// An algorithm; `None` for the default.
fn algorithm(source: &mut Unstructured<'_>) -> arbitrary::Result<Option<Algorithm>> {
    #[derive(Arbitrary)]
    enum Any {
        Default,
        Named(u8),
        Reduce5Loop(u32),
        Reduce5(u32),
        Stable(u32),
        WarpAtomic(u32),
        BlockAtomic(u32),
    }
    Ok(match source.arbitrary()? {
        Any::Default => None,
        Any::Named(i) => Algorithm::all().nth(usize::from(i) % Algorithm::all().count()),
        Any::Reduce5Loop(chunks) => Some(Algorithm::Reduce5Loop { chunks }),
        Any::Reduce5(chunks) => Some(Algorithm::Reduce5 { chunks }),
        Any::Stable(vector) => Some(Algorithm::Stable { vector }),
        Any::WarpAtomic(vector) => Some(Algorithm::WarpAtomic { vector }),
        Any::BlockAtomic(vector) => Some(Algorithm::BlockAtomic { vector }),
    })
}

/// Reduces by the default algorithm. Checks the result, or that the error fits the options.
fn run<T: Number, O: SinglePass<T>>(
    options: &Options,
    all: &[T],
    op: O,
    check: impl FnOnce(O::Output, &[T]),
) {
    let device = Device::cpu();
    let buffer = device.upload(all).expect("enough memory");
    let Some((view, elements)) = options.range.of(&buffer, all) else {
        return;
    };
    let mut reduction = device.reduce(view, op);
    if let Some(threads) = options.threads {
        reduction = reduction.threads(threads);
    }
    match reduction.run() {
        Ok(got) => {
            assert!(input::is_block_size(options.threads));
            check(got, elements);
        }
        Err(Error::BlockSize { .. }) => assert!(!input::is_block_size(options.threads)),
        Err(error) => panic!("{error}"),
    }
}

/// As [`run`], but by the algorithm in the options if the operator has the ladder's kernels.
fn run_rung<T: Number, O: SinglePass<T>>(
    options: &Options,
    all: &[T],
    op: O,
    rung: Option<Rung<T, O::Output>>,
    check: impl FnOnce(O::Output, &[T]),
) {
    let (Some(rung), Some(algorithm)) = (rung, options.algorithm) else {
        return run(options, all, op, check);
    };
    let device = Device::cpu();
    let buffer = device.upload(all).expect("enough memory");
    let Some((view, elements)) = options.range.of(&buffer, all) else {
        return;
    };
    let is_valid_chunks = match algorithm {
        Algorithm::Reduce5Loop { chunks } => chunks > 0,
        Algorithm::Reduce5 { chunks } => [1, 2, 4, 8, 16].contains(&chunks),
        _ => true,
    };
    let is_valid_vector = match algorithm {
        Algorithm::Stable { vector }
        | Algorithm::WarpAtomic { vector }
        | Algorithm::BlockAtomic { vector } => [1, 2, 4].contains(&vector),
        _ => true,
    };
    let (has_kernel, got) = rung(&device, view, algorithm, options.threads);
    match got {
        Ok(got) => {
            assert!(
                is_valid_chunks
                    && is_valid_vector
                    && has_kernel
                    && input::is_block_size(options.threads)
            );
            check(got, elements);
        }
        Err(Error::Chunks { .. }) => assert!(!is_valid_chunks),
        Err(Error::Vector { .. }) => assert!(!is_valid_vector),
        Err(Error::NotAvailable { .. }) => assert!(!has_kernel),
        Err(Error::BlockSize { .. }) => assert!(!input::is_block_size(options.threads)),
        Err(error) => panic!("{error}"),
    }
}

/// Fuzzes reductions of integers, whose wide type is `W`.
pub fn integers<T: Number, W: Number>(
    source: &mut Unstructured<'_>,
    ladders: &Ladders<T>,
) -> arbitrary::Result<()>
where
    Sum: SinglePass<T, Output = T>,
    SumWide: SinglePass<T, Output = W>,
    Product: SinglePass<T, Output = T>,
    And: SinglePass<T, Output = T>,
    Or: SinglePass<T, Output = T>,
    Xor: SinglePass<T, Output = T>,
    Min: SinglePass<T, Output = Option<T>>,
    Max: SinglePass<T, Output = Option<T>>,
    ArgMin: SinglePass<T, Output = Option<Indexed<T>>>,
    ArgMax: SinglePass<T, Output = Option<Indexed<T>>>,
{
    let operator = source.int_in_range(0..=9)?;
    let options = Options::of(source)?;
    let all = input::elements::<T>(source)?;
    let fold = |x: &[T], start, combine: fn(i128, i128) -> i128| {
        T::wrapped(x.iter().map(|x| x.order()).fold(start, combine))
    };
    match operator {
        0 => run_rung(&options, &all, Sum, ladders.sum, |got, x| {
            assert_eq!(got, fold(x, 0, i128::wrapping_add));
        }),
        1 => run(&options, &all, SumWide, |got, x| {
            let sum = x.iter().map(|x| x.order()).sum();
            assert_eq!(got, W::wrapped(sum));
        }),
        2 => run(&options, &all, Product, |got, x| {
            assert_eq!(got, fold(x, 1, i128::wrapping_mul));
        }),
        3 => run(&options, &all, And, |got, x| {
            assert_eq!(got, fold(x, -1, |a, b| a & b));
        }),
        4 => run(&options, &all, Or, |got, x| {
            assert_eq!(got, fold(x, 0, |a, b| a | b));
        }),
        5 => run(&options, &all, Xor, |got, x| {
            assert_eq!(got, fold(x, 0, |a, b| a ^ b));
        }),
        other => comparison(other - 6, &options, &all, ladders),
    }
    Ok(())
}

/// Fuzzes reductions of floats.
pub fn floats<T: Number>(
    source: &mut Unstructured<'_>,
    ladders: &Ladders<T>,
) -> arbitrary::Result<()>
where
    Sum: SinglePass<T, Output = T>,
    SumWide: SinglePass<T, Output = f64>,
    Product: SinglePass<T, Output = T>,
    NanMin: SinglePass<T, Output = Option<T>>,
    NanMax: SinglePass<T, Output = Option<T>>,
    Min: SinglePass<T, Output = Option<T>>,
    Max: SinglePass<T, Output = Option<T>>,
    ArgMin: SinglePass<T, Output = Option<Indexed<T>>>,
    ArgMax: SinglePass<T, Output = Option<Indexed<T>>>,
{
    let operator = source.int_in_range(0..=8)?;
    let options = Options::of(source)?;
    let all = input::elements::<T>(source)?;
    match operator {
        0 => run_rung(&options, &all, Sum, ladders.sum, |got, x| {
            oracle::sum(got, x)
        }),
        1 => run(&options, &all, SumWide, |got, x| {
            let wide: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
            oracle::sum(got, &wide);
        }),
        2 => run(&options, &all, Product, |got, x| oracle::product(got, x)),
        3 => run(&options, &all, NanMin, |got, x| {
            let numbers = x.iter().copied().filter(|x| !x.is_nan());
            oracle::extremum(got, numbers.min_by_key(|x| x.order()), x);
        }),
        4 => run(&options, &all, NanMax, |got, x| {
            let numbers = x.iter().copied().filter(|x| !x.is_nan());
            oracle::extremum(got, numbers.max_by_key(|x| x.order()), x);
        }),
        other => comparison(other - 5, &options, &all, ladders),
    }
    Ok(())
}

/// Fuzzes the operators that every element type has.
fn comparison<T: Number>(operator: u8, options: &Options, all: &[T], ladders: &Ladders<T>)
where
    Min: SinglePass<T, Output = Option<T>>,
    Max: SinglePass<T, Output = Option<T>>,
    ArgMin: SinglePass<T, Output = Option<Indexed<T>>>,
    ArgMax: SinglePass<T, Output = Option<Indexed<T>>>,
{
    match operator {
        0 => run_rung(options, all, Min, ladders.min, |got, x| {
            oracle::extremum(got, oracle::least(x), x)
        }),
        1 => run_rung(options, all, Max, ladders.max, |got, x| {
            oracle::extremum(got, oracle::greatest(x), x)
        }),
        2 => run(options, all, ArgMin, |got, x| {
            oracle::index(got, x, |a, b| a < b)
        }),
        _ => run(options, all, ArgMax, |got, x| {
            oracle::index(got, x, |a, b| a > b)
        }),
    }
}
