//! Items other than the numbers of one array: pairs from two arrays, values with an index, operators with a
//! field.

use kernels_gpu::element::Number;
use libtest_mimic::Failed;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{
    ArgMax, ArgMin, Count, Device, Dot, Element, Error, Greater, Indexed, Less, SinglePass, SumWide,
};

use super::Test;
use super::compare::is;

pub fn tests() -> Vec<Test> {
    let mut tests = vec![
        Test::new("items: two arrays", two_arrays),
        Test::new("items: two arrays of different lengths", lengths),
        Test::new("items: a graph of two arrays", graph),
        Test::new("items: operators with values", values),
        Test::new("items: indexed values of chunks", indexed_values_of_chunks),
        Test::new("items: chunks of two arrays", chunks_of_two_arrays),
    ];
    macro_rules! indexed_values {
        ($($number:ident)*) => { $(
            tests.push(Test::new(
                concat!("items: indexed values of ", stringify!($number)),
                |device| indexed_values::<$number>(device, |x| x as $number),
            ));
        )* };
    }
    indexed_values!(i32 u32 i64 u64 f32 f64);
    tests
}

const SIZES: [usize; 9] = [0, 1, 2, 31, 33, 1000, 1025, 4099, 20_001];

fn random(n: usize) -> Vec<i32> {
    let mut random = StdRng::from_rng(&mut rand::rng());
    (0..n).map(|_| random.random()).collect()
}

fn dot(a: &[i32], b: &[i32]) -> i64 {
    let products = a.iter().zip(b).map(|(a, b)| i64::from(*a) * i64::from(*b));
    products.fold(0, i64::wrapping_add)
}

/// Parts with any start, chosen for each array separately, so that the alignments agree or differ.
fn two_arrays(device: &Device) -> Result<(), Failed> {
    let mut cells = device.alloc::<i64>(1)?;
    let mut scratch = device.scratch()?;
    for n in SIZES {
        let (a, b) = (random(n + 8), random(n + 8));
        let (x, y) = (device.upload(&a)?, device.upload(&b)?);
        for (i, j) in [(0, 0), (1, 1), (1, 2), (0, 3), (5, 1)] {
            let right = dot(&a[i..i + n], &b[j..j + n]);
            let what = format!("{n} from {i} and {j}");
            let input = (x.view(i..i + n)?, y.view(j..j + n)?);
            is(device.reduce(input, Dot).run()?, right, &what)?;
            is(device.reduce(input, Dot).threads(64).run()?, right, &what)?;
            let mut plan = device.reduce(input, Dot).plan()?;
            plan.enqueue()?;
            plan.enqueue()?;
            is(plan.result()?, right, &what)?;
            device.reduce_into(input, Dot, &mut cells, 0, &mut scratch)?;
            is(device.download(&cells)?, vec![right], &what)?;
        }
        is(
            device.reduce((&x, &x), Dot).run()?,
            dot(&a, &a),
            "with itself",
        )?;
    }
    Ok(())
}

fn lengths(device: &Device) -> Result<(), Failed> {
    let (x, y) = (device.upload(&[1, 2, 3])?, device.upload(&[1, 2])?);
    let lengths = |a, b| Err(Error::Lengths { a, b });
    is(device.reduce((&x, &y), Dot).run(), lengths(3, 2), "run")?;
    is(device.dot(&y, &x), lengths(2, 3), "dot")?;
    let plan = device.reduce((&x, &y), Dot).plan().map(drop);
    is(plan, lengths(3, 2).map(|_: i64| ()), "plan")?;
    let empty = x.view(..0)?;
    is(device.dot(empty, &x), lengths(0, 3), "for one empty array")?;
    is(device.dot(empty, empty), Ok(0i64), "for empty input")
}

fn graph(device: &Device) -> Result<(), Failed> {
    for n in SIZES {
        let (a, b) = (random(n), random(n));
        let mut graph = device.graph((device.upload(&a)?, device.upload(&b)?), Dot)?;
        for _ in 0..2 {
            graph.launch()?;
            is(graph.result()?, dot(&a, &b), &format!("{n}"))?;
        }
        let (x, y) = graph.into_input();
        is((x.download()?, y.download()?), (a, b), "the input")?;
    }
    let refused = device.graph((device.upload(&[1, 2])?, device.upload(&[3])?), Dot);
    let refused = refused.map(drop).expect_err("the lengths differ");
    is(&refused.error, &Error::Lengths { a: 2, b: 1 }, "the reason")?;
    let (x, y) = refused.given;
    is((x.len(), y.len()), (2, 1), "the returned input")
}

/// The same kernel returns another result for each value.
fn values(device: &Device) -> Result<(), Failed> {
    for n in SIZES {
        let data = random(n);
        let x = device.upload(&data)?;
        for bound in [i32::MIN, -1_000_000_000, 0, 123, i32::MAX] {
            let what = format!("{n} compared with {bound}");
            let below = data.iter().filter(|x| **x < bound).count() as u64;
            let above = data.iter().filter(|x| **x > bound).count() as u64;
            is(device.reduce(&x, Count(Less(bound))).run()?, below, &what)?;
            let mut plan = device.reduce(&x, Count(Greater(bound))).plan()?;
            plan.enqueue()?;
            is(plan.result()?, above, &what)?;
            let pieces = data.chunks(777).map(Ok::<_, Error>);
            let counted = device.reduce_iter(Count(Less(bound)), pieces)?;
            is(counted, below, &what)?;
        }
    }
    Ok(())
}

/// The first of the smallest and of the largest values, by the index in each item.
fn indexed_values<T: Number + PartialOrd>(
    device: &Device,
    number: fn(i16) -> T,
) -> Result<(), Failed>
where
    Indexed<T>: Element,
    ArgMin: SinglePass<Indexed<T>, Output = Option<Indexed<T>>>,
    ArgMax: SinglePass<Indexed<T>, Output = Option<Indexed<T>>>,
{
    let mut random = StdRng::from_rng(&mut rand::rng());
    for n in SIZES {
        // Few distinct values, so that many are equal; the indices are not in ascending order.
        let draw = |_| {
            Indexed::new(
                number(random.random_range(0..9)),
                random.random::<u32>().into(),
            )
        };
        let data: Vec<Indexed<T>> = (0..n).map(draw).collect();
        let x = device.upload(&data)?;
        for start in [0, 1.min(n)] {
            let part = &data[start..];
            let by = |first: fn(&T, &T) -> bool| {
                part.iter().copied().reduce(|a, b| {
                    let (a_first, b_first) =
                        (first(&a.value(), &b.value()), first(&b.value(), &a.value()));
                    match (a_first, b_first) {
                        (true, _) => a,
                        (_, true) => b,
                        _ if a.index() <= b.index() => a,
                        _ => b,
                    }
                })
            };
            let (least, most) = (by(|a, b| a < b), by(|a, b| a > b));
            let least_got = device.reduce(x.view(start..)?, ArgMin).run()?;
            let most_got = device.reduce(x.view(start..)?, ArgMax).run()?;
            let what = format!("{n} from {start}");
            // An item contains its index, so the start of its chunk does not matter.
            let mut chunks = part.chunks(333);
            let least_of_chunks =
                device.reduce_chunks(ArgMin, 333, |chunk: &mut [Indexed<T>]| {
                    Ok(chunks.next().map(|next| {
                        chunk[..next.len()].copy_from_slice(next);
                        next.len()
                    }))
                })?;
            is(least_of_chunks, least_got, &what)?;
            is((least_got, most_got), (least, most), &what)?;
        }
    }
    Ok(())
}

/// Chunks of equal and of different lengths.
fn chunks_of_two_arrays(device: &Device) -> Result<(), Failed> {
    for (n, len_a, len_b) in [(0, 1, 1), (1, 5, 5), (1000, 1000, 300), (20_001, 777, 800)] {
        let (a, b) = (random(n), random(n));
        let mut start = 0;
        let chunks = (device.chunks::<i32>(len_a)?, device.chunks::<i32>(len_b)?);
        let got = device.reduce_chunks_of(Dot, chunks, |(to_a, to_b)| {
            let end = n.min(start + len_a.min(len_b));
            to_a[..end - start].copy_from_slice(&a[start..end]);
            to_b[..end - start].copy_from_slice(&b[start..end]);
            let n = end - std::mem::replace(&mut start, end);
            Ok((n > 0).then_some(n))
        })?;
        is(
            got,
            dot(&a, &b),
            &format!("{n} in chunks of {len_a} and {len_b}"),
        )?;
    }
    let chunks = (device.chunks::<i32>(10)?, device.chunks::<i32>(20)?);
    let too_many = device.reduce_chunks_of(Dot, chunks, |_| Ok(Some(11)));
    match too_many {
        Err(Error::ViewRange { .. }) => Ok(()),
        other => Err(format!("11 in a chunk of 10: {other:?}").into()),
    }
}

/// The largest element of each row of 100, and the largest of those, all on the device.
fn indexed_values_of_chunks(device: &Device) -> Result<(), Failed> {
    let data = random(5000);
    let x = device.upload(&data)?;
    let mut indexed_values = device.alloc::<Indexed<i32>>(50)?;
    let mut scratch = device.scratch()?;
    for at in 0..50 {
        let row = x.view(at * 100..(at + 1) * 100)?;
        device.reduce_into(row, ArgMax, &mut indexed_values, at, &mut scratch)?;
    }
    let rows = device.download(&indexed_values)?;
    let most = device
        .reduce(&indexed_values, ArgMax)
        .run()?
        .ok_or("some rows")?;
    let largest = *data.iter().max().expect("there are some");
    is(most.value(), largest, "the largest of all rows")?;
    let right = rows.iter().filter(|item| item.value() == largest);
    let right = right.map(|item| item.index()).min();
    is(Some(most.index()), right, "its index in its row")?;
    let sum = data.iter().map(|x| i64::from(*x)).sum();
    is(device.reduce(&x, SumWide).run()?, sum, "the sum of all")
}
