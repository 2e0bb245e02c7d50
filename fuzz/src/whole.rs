//! Fuzzes calls such as count, mean and dot, and chunks, graphs and pinned memory, on the CPU.

use arbitrary::{Arbitrary, Unstructured};
use warpfold::file::DType;
use warpfold::{ArgMin, Device, Error, Indexed, Min, Predicate, SinglePass, View, bf16, f16};

use crate::calls::input::{self, Range};
use crate::calls::number::Number;
use crate::calls::oracle;

/// Decodes a call and its arguments from the bytes; the remaining bytes are the elements.
///
/// With valid arguments, the result is that of plain loops. Otherwise the call returns the documented error.
pub fn whole(bytes: &[u8]) {
    let mut source = Unstructured::new(bytes);
    // Too few bytes for a call are not tested.
    let _ = call(&mut source);
}

fn call(source: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    macro_rules! dispatch {
        ($($dtype:ident $number:ident $wide:ident),*) => {
            match *source.choose(&DType::ALL)? {
                $(DType::$dtype => any::<$number, $wide>(source, |device, x| device.norm_l2(x)),)*
            }
        };
    }
    dispatch!(
        I8 i8 i64, I16 i16 i64, I32 i32 i64, I64 i64 i64, U8 u8 u64, U16 u16 u64, U32 u32 u64,
        U64 u64 u64, F16 f16 f64, Bf16 bf16 f64, F32 f32 f64, F64 f64 f64
    )
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Call {
    Count(Condition, u16),
    AllAny,
    MinMax,
    Mean,
    MeanVariance,
    Dot(Range),
    Norms,
    Chunks {
        len: u16,
        pieces: u16,
        too_many: bool,
    },
    Graph {
        start: u16,
        len: u16,
    },
    Pinned {
        capacity: u16,
        len: u16,
        start: usize,
    },
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Condition {
    Equal,
    Less,
    Greater,
    InRange,
    Nan,
    Nonzero,
}

/// `W` is the type of dot products.
fn any<T, W: Number>(
    source: &mut Unstructured<'_>,
    norm_l2: fn(&Device, View<'_, T>) -> Result<f64, Error>,
) -> arbitrary::Result<()>
where
    T: Number + warpfold::Number<Dot = W>,
    Min: SinglePass<T, Output = Option<T>>,
    ArgMin: SinglePass<T, Output = Option<Indexed<T>>>,
{
    let call: Call = source.arbitrary()?;
    let range: Range = source.arbitrary()?;
    let all = input::elements::<T>(source)?;
    let device = Device::cpu();
    let buffer = device.upload(&all).expect("enough memory");
    let Some((view, x)) = range.of(&buffer, &all) else {
        return Ok(());
    };
    let wide = |x: &T| Number::to_f64(*x);
    let succeeded = |result: Result<_, Error>| result.unwrap_or_else(|error| panic!("{error}"));
    match call {
        Call::Count(condition, index) => {
            let value = x
                .get(usize::from(index))
                .copied()
                .unwrap_or(T::nearest(0.0));
            let zero = T::nearest(0.0);
            let (predicate, right) = match condition {
                Condition::Equal => (Predicate::Equal(value), count(x, |x| x == value)),
                Condition::Less => (Predicate::Less(value), count(x, |x| x < value)),
                Condition::Greater => (Predicate::Greater(value), count(x, |x| x > value)),
                Condition::InRange => {
                    let end = x.last().copied().unwrap_or(value);
                    let right = count(x, |x| value <= x && x < end);
                    (Predicate::InRange(value, end), right)
                }
                Condition::Nan => (Predicate::Nan, count(x, Number::is_nan)),
                Condition::Nonzero => (Predicate::Nonzero, count(x, |x| x != zero)),
            };
            assert_eq!(device.count(view, predicate), Ok(right));
        }
        Call::AllAny => {
            let nonzero = count(x, |x| x != T::nearest(0.0));
            assert_eq!(device.all(view), Ok(nonzero == x.len() as u64));
            assert_eq!(device.any(view), Ok(nonzero > 0));
        }
        Call::MinMax => match device.min_max(view) {
            Ok(None) => assert!(x.is_empty()),
            Ok(Some(extrema)) => {
                oracle::extremum(Some(extrema.min()), oracle::least(x), x);
                oracle::extremum(Some(extrema.max()), oracle::greatest(x), x);
            }
            Err(error) => panic!("{error}"),
        },
        Call::Mean => match device.mean(view) {
            Ok(None) => assert!(x.is_empty()),
            Ok(Some(mean)) => near(mean, x, x.len() as f64),
            Err(error) => panic!("{error}"),
        },
        Call::MeanVariance => match device.mean_variance(view) {
            Ok(None) => assert!(x.is_empty()),
            Ok(Some(moments)) => {
                assert_eq!(moments.count(), x.len() as f64);
                near(moments.mean(), x, x.len() as f64);
                variance(moments.variance(), moments.mean(), x);
            }
            Err(error) => panic!("{error}"),
        },
        Call::Dot(other) => {
            let Some((other, y)) = other.of(&buffer, &all) else {
                return Ok(());
            };
            match device.dot(view, other) {
                Ok(dot) if T::ROUNDOFF == 0.0 => {
                    assert_eq!(x.len(), y.len());
                    let pairs = x.iter().zip(y);
                    let products = pairs.map(|(x, y)| x.order().wrapping_mul(y.order()));
                    let sum = products.fold(0, i128::wrapping_add);
                    assert_eq!(dot, W::wrapped(sum));
                }
                Ok(dot) => {
                    let pairs = x.iter().zip(y);
                    let products: Vec<f64> = pairs.map(|(x, y)| wide(x) * wide(y)).collect();
                    near(dot.to_f64(), &products, 1.0);
                }
                Err(Error::Lengths { a, b }) => {
                    assert!(a != b && (a, b) == (x.len(), y.len()));
                }
                Err(error) => panic!("{error}"),
            }
        }
        Call::Norms => {
            let root = succeeded(norm_l2(&device, view));
            let squares = x.iter().map(|x| wide(x) * wide(x)).sum::<f64>();
            if squares.is_finite() && squares > 1e-250 {
                assert!(
                    (root / squares.sqrt() - 1.0).abs() < 1e-9,
                    "{root} of {squares}"
                );
            }
            let largest = x.iter().map(|x| wide(x).abs()).max_by(f64::total_cmp);
            let got = device
                .norm_inf(view)
                .unwrap_or_else(|error| panic!("{error}"));
            match (got, largest) {
                (Some(got), Some(largest)) => assert!(got.is(largest), "{got} for {largest}"),
                (got, largest) => assert_eq!(got, largest),
            }
        }
        Call::Chunks {
            len,
            pieces,
            too_many,
        } => chunks(&device, x, len.into(), pieces.into(), too_many),
        Call::Graph { start, len } => graph(&device, &all, start.into(), len.into()),
        Call::Pinned {
            capacity,
            len,
            start,
        } => pinned(&device, x, capacity.into(), len.into(), start),
    }
    Ok(())
}

/// Chunks of `len` elements. The caller fills at most `most`; with `too_many`, it returns a larger number.
fn chunks<T: Number>(device: &Device, x: &[T], len: usize, most: usize, too_many: bool)
where
    ArgMin: SinglePass<T, Output = Option<Indexed<T>>>,
{
    let (mut rest, most) = (x, most.max(1));
    let got = device.reduce_chunks(ArgMin, len, |chunk| {
        let n = rest.len().min(most).min(chunk.len());
        chunk[..n].copy_from_slice(&rest[..n]);
        rest = &rest[n..];
        Ok(match too_many {
            true => Some(chunk.len() + 1),
            false => (n > 0).then_some(n),
        })
    });
    match got {
        Ok(got) => {
            assert!(len > 0 && !too_many);
            oracle::index(got, x, |a, b| a < b);
        }
        Err(Error::ChunkLength { .. }) => assert_eq!(len, 0),
        Err(Error::ViewRange { .. }) => assert!(too_many),
        Err(error) => panic!("{error}"),
    }
}

/// A graph after a write of the array's last `len` elements from index `start` on.
fn graph<T: Number>(device: &Device, all: &[T], start: usize, len: usize)
where
    Min: SinglePass<T, Output = Option<T>>,
{
    let mut right = all.to_vec();
    let buffer = device.upload(all).expect("enough memory");
    let mut graph = device
        .graph(buffer, Min)
        .expect("the buffer is on the device");
    assert!(matches!(graph.result(), Err(Error::NotEnqueued { .. })));
    let len = len.min(all.len());
    let part = all[all.len() - len..].to_vec();
    let end = start.checked_add(len).filter(|end| *end <= right.len());
    match (graph.write(start, &part), end) {
        (Ok(()), Some(end)) => right[start..end].copy_from_slice(&part),
        (Err(Error::ViewRange { .. }), None) => {}
        (result, end) => panic!("{result:?} for a write to {end:?}"),
    }
    assert_eq!(graph.launch(), Ok(()));
    let got = graph.result().unwrap_or_else(|error| panic!("{error}"));
    oracle::extremum(got, oracle::least(&right), &right);
}

/// A write of the first `len` of `capacity` pinned elements from index `start` on.
fn pinned<T: Number>(device: &Device, x: &[T], capacity: usize, len: usize, start: usize) {
    let mut from = device.pinned::<T>(capacity).expect("enough memory");
    let mut to = device.upload(x).expect("enough memory");
    from.wait()
        .expect("the CPU never fails")
        .fill(T::nearest(1.0));
    let fits = len <= capacity && start.checked_add(len).is_some_and(|end| end <= x.len());
    match device.enqueue_write(&mut from, len, &mut to, start) {
        Ok(()) => {
            assert!(fits);
            let got = to.download().expect("enough memory");
            assert!(
                got[start..start + len]
                    .iter()
                    .all(|x| *x == T::nearest(1.0))
            );
        }
        Err(Error::ViewRange { .. }) => assert!(!fits),
        Err(error) => panic!("{error}"),
    }
}

fn count<T: Copy>(x: &[T], condition: impl Fn(T) -> bool) -> u64 {
    x.iter().filter(|x| condition(**x)).count() as u64
}

/// The largest magnitude; `None` if squares may overflow, or after a check of the result if an element is
/// NaN.
fn magnitude<T: Number>(got: f64, x: &[T]) -> Option<f64> {
    if x.iter().any(|x| x.is_nan()) {
        assert!(got.is_nan(), "{got:e} for input with a NaN");
        return None;
    }
    let magnitude = x.iter().map(|x| x.to_f64().abs()).fold(0.0, f64::max);
    (magnitude < 1e100).then_some(magnitude)
}

fn close(got: f64, exact: f64, bound: f64) {
    assert!(
        (got - exact).abs() <= bound + 1e-290,
        "{got:e} instead of {exact:e}"
    );
}

/// Checks a sum divided by `n`.
fn near<T: Number>(got: f64, x: &[T], n: f64) {
    if let Some(magnitude) = magnitude(got, x) {
        let terms = || x.iter().map(|x| x.to_f64());
        let scale = terms().map(f64::abs).sum::<f64>() / n + magnitude * f64::EPSILON;
        close(got, terms().sum::<f64>() / n, 1e-9 * scale);
    }
}

/// Checks a variance by the bound of [`Device::mean_variance`]: k roundings, multiplied by the ratio of
/// magnitude to standard deviation.
fn variance<T: Number>(got: f64, mean: f64, x: &[T]) {
    if let Some(magnitude) = magnitude(got, x) {
        let squares = x.iter().map(|x| (x.to_f64() - mean).powi(2));
        let exact = squares.sum::<f64>() / x.len() as f64;
        let roundings = (64 + x.len()) as f64 * f64::EPSILON;
        let of_mean = (roundings * magnitude).powi(2);
        close(
            got,
            exact,
            roundings * (exact + magnitude * exact.sqrt()) + of_mean,
        );
    }
}
