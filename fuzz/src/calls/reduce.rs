//! `Device::reduce` by every operator, algorithm and number of threads.

use arbitrary::{Arbitrary, Unstructured};
use kernels_gpu::entry::ENTRIES;
use kernels_gpu::entry::single_pass::{self, SinglePassEntry};
use warpfold::{
    Algorithm, And, ArgMax, ArgMin, Device, Error, Indexed, Max, Min, NanMax, NanMin, Operator, Or,
    Product, Sum, SumWide, Xor,
};

use super::input::{self, Range};
use super::number::Number;
use super::oracle;

/// What a reduction is asked for besides its operator and its elements.
struct How {
    algorithm: Option<Algorithm>,
    threads: Option<u32>,
    range: Range,
}

impl How {
    fn of(source: &mut Unstructured<'_>) -> arbitrary::Result<Self> {
        Ok(Self {
            algorithm: algorithm(source)?,
            threads: input::threads(source)?,
            range: source.arbitrary()?,
        })
    }
}

/// `None` where the call is to choose.
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

/// What `op` gives; `None` where it is refused, as it must be.
fn run<T: Number, O: Operator<T>>(
    how: &How,
    all: &[T],
    op: O,
    judge: impl FnOnce(O::Output, &[T]),
) {
    let device = Device::cpu();
    let buffer = device.upload(all).expect("there is memory for it");
    let Some((view, elements)) = how.range.of(&buffer, all) else {
        return;
    };
    let mut reduction = device.reduce(view, op);
    if let Some(algorithm) = how.algorithm {
        reduction = reduction.algorithm(algorithm);
    }
    if let Some(threads) = how.threads {
        reduction = reduction.threads(threads);
    }
    let good_chunks = match how.algorithm {
        Some(Algorithm::Reduce5Loop { chunks }) => chunks > 0,
        Some(Algorithm::Reduce5 { chunks }) => [1, 2, 4, 8, 16].contains(&chunks),
        _ => true,
    };
    let good_vector = match how.algorithm {
        Some(
            Algorithm::Stable { vector }
            | Algorithm::WarpAtomic { vector }
            | Algorithm::BlockAtomic { vector },
        ) => [1, 2, 4].contains(&vector),
        _ => true,
    };
    // There is always a default.
    let there_is = how.algorithm.is_none_or(|algorithm| {
        let key = (algorithm.kernel_name(), O::NAME, T::NAME);
        let mut single_passes = single_pass::ENTRIES.iter();
        let mut entries = ENTRIES.iter();
        entries.any(|entry| (entry.kernel, entry.op, entry.element) == key)
            || single_passes.any(|entry| (SinglePassEntry::KERNEL, entry.op, entry.element) == key)
    });
    match reduction.run() {
        Ok(got) => {
            assert!(good_chunks && good_vector && there_is && input::is_block_size(how.threads));
            judge(got, elements);
        }
        Err(Error::Chunks { .. }) => assert!(!good_chunks),
        Err(Error::Vector { .. }) => assert!(!good_vector),
        Err(Error::NotAvailable { .. }) => assert!(!there_is),
        Err(Error::BlockSize { .. }) => assert!(!input::is_block_size(how.threads)),
        Err(error) => panic!("{error}"),
    }
}

/// A reduction of integers, whose wide type is `W`.
pub fn integers<T: Number, W: Number>(source: &mut Unstructured<'_>) -> arbitrary::Result<()>
where
    Sum: Operator<T, Output = T>,
    SumWide: Operator<T, Output = W>,
    Product: Operator<T, Output = T>,
    And: Operator<T, Output = T>,
    Or: Operator<T, Output = T>,
    Xor: Operator<T, Output = T>,
    Min: Operator<T, Output = T>,
    Max: Operator<T, Output = T>,
    ArgMin: Operator<T, Output = Indexed<T>>,
    ArgMax: Operator<T, Output = Indexed<T>>,
{
    let operator = source.int_in_range(0..=9)?;
    let how = How::of(source)?;
    let all = input::elements::<T>(source)?;
    let fold = |x: &[T], start, combine: fn(i128, i128) -> i128| {
        T::wrapped(x.iter().map(|x| x.order()).fold(start, combine))
    };
    match operator {
        0 => run(&how, &all, Sum, |got, x| {
            assert_eq!(got, fold(x, 0, i128::wrapping_add));
        }),
        1 => run(&how, &all, SumWide, |got, x| {
            let sum = x.iter().map(|x| x.order()).sum();
            assert_eq!(got, W::wrapped(sum));
        }),
        2 => run(&how, &all, Product, |got, x| {
            assert_eq!(got, fold(x, 1, i128::wrapping_mul));
        }),
        3 => run(&how, &all, And, |got, x| {
            assert_eq!(got, fold(x, -1, |a, b| a & b));
        }),
        4 => run(&how, &all, Or, |got, x| {
            assert_eq!(got, fold(x, 0, |a, b| a | b));
        }),
        5 => run(&how, &all, Xor, |got, x| {
            assert_eq!(got, fold(x, 0, |a, b| a ^ b));
        }),
        other => comparison(other - 6, &how, &all),
    }
    Ok(())
}

/// A reduction of floats.
pub fn floats<T: Number>(source: &mut Unstructured<'_>) -> arbitrary::Result<()>
where
    Sum: Operator<T, Output = T>,
    SumWide: Operator<T, Output = f64>,
    Product: Operator<T, Output = T>,
    NanMin: Operator<T, Output = T>,
    NanMax: Operator<T, Output = T>,
    Min: Operator<T, Output = T>,
    Max: Operator<T, Output = T>,
    ArgMin: Operator<T, Output = Indexed<T>>,
    ArgMax: Operator<T, Output = Indexed<T>>,
{
    let operator = source.int_in_range(0..=8)?;
    let how = How::of(source)?;
    let all = input::elements::<T>(source)?;
    match operator {
        0 => run(&how, &all, Sum, |got, x| oracle::sum(got, x)),
        1 => run(&how, &all, SumWide, |got, x| {
            let wide: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
            oracle::sum(got, &wide);
        }),
        2 => run(&how, &all, Product, |got, x| oracle::product(got, x)),
        3 => run(&how, &all, NanMin, |got, x| {
            let numbers = x.iter().copied().filter(|x| !x.is_nan());
            oracle::is(got, numbers.min_by_key(|x| x.order()), x);
        }),
        4 => run(&how, &all, NanMax, |got, x| {
            let numbers = x.iter().copied().filter(|x| !x.is_nan());
            oracle::is(got, numbers.max_by_key(|x| x.order()), x);
        }),
        other => comparison(other - 5, &how, &all),
    }
    Ok(())
}

/// What every type has.
fn comparison<T: Number>(operator: u8, how: &How, all: &[T])
where
    Min: Operator<T, Output = T>,
    Max: Operator<T, Output = T>,
    ArgMin: Operator<T, Output = Indexed<T>>,
    ArgMax: Operator<T, Output = Indexed<T>>,
{
    match operator {
        0 => run(how, all, Min, |got, x| oracle::is(got, oracle::least(x), x)),
        1 => run(how, all, Max, |got, x| {
            oracle::is(got, oracle::greatest(x), x)
        }),
        2 => run(how, all, ArgMin, |got, x| {
            oracle::place(got, x, |a, b| a < b)
        }),
        _ => run(how, all, ArgMax, |got, x| {
            oracle::place(got, x, |a, b| a > b)
        }),
    }
}
