//! `reduce_axis`: the bits of each result are those of `reduce` for its items.

use std::fmt::Debug;

use libtest_mimic::Failed;
use rand::rngs::SmallRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use warpfold::{
    ArgMax, ArgMin, Axes, Determinism, Device, Error, Max, MeanVariance, Min, Product, SinglePass,
    Strided, Sum, SumSquares, SumWide, bf16, f16,
};

use super::Test;
use super::compare::is;
use super::segments::{Drawn, bits};

/// The tests of random cases.
const RANDOM_TESTS: usize = 8;

pub fn tests() -> Vec<Test> {
    let mut tests = vec![
        Test::new("axes: NumPy's sum(axis)", sums),
        Test::new("axes: all and none", all_and_none),
        Test::new("axes: empty ones", empty),
        Test::new("axes: indices are those along the axis", indices),
        Test::new("axes: strided arrays", strided),
        Test::new("axes: arrays backwards", backwards),
        Test::new("axes: bad arguments", bad_arguments),
        Test::new("axes: into a buffer", into),
    ];
    tests.extend((0..RANDOM_TESTS).map(|number| {
        let name = format!("axes: random cases, {number} of {RANDOM_TESTS}");
        Test::new(name, random_cases)
    }));
    tests
}

/// `np.arange(24).reshape(2, 3, 4).sum(axis)`, and so on.
fn sums(device: &Device) -> Result<(), Failed> {
    let x: Vec<i64> = (0..24).collect();
    let x = device.upload(&x)?;
    let sum = |axes: &[usize]| device.reduce_axis(&x, &[2, 3, 4], axes, Sum);
    is(
        sum(&[0])?,
        vec![12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34],
        "axis 0",
    )?;
    is(sum(&[1])?, vec![12, 15, 18, 21, 48, 51, 54, 57], "axis 1")?;
    is(sum(&[2])?, vec![6, 22, 38, 54, 70, 86], "axis 2")?;
    is(sum(&[0, 2])?, vec![60, 92, 124], "axes 0 and 2")?;
    is(sum(&[2, 0])?, vec![60, 92, 124], "axes in another order")?;
    is(sum(&[0, 1])?, vec![60, 66, 72, 78], "axes 0 and 1")?;
    is(sum(&[1, 2])?, vec![66, 210], "axes 1 and 2")
}

fn all_and_none(device: &Device) -> Result<(), Failed> {
    let x = device.upload(&[1i32, 2, 3, 4, 5, 6])?;
    is(
        device.reduce_axis(&x, &[2, 3], &[0, 1], Sum)?,
        vec![21],
        "all axes",
    )?;
    is(
        device.reduce_axis(&x, &[2, 3], &[], Max)?,
        (1..7).map(Some).collect(),
        "no axes",
    )?;
    let one = x.view(2..3)?;
    is(
        device.reduce_axis(one, &[], &[], Sum)?,
        vec![3],
        "no dimensions",
    )?;
    is(
        device.reduce_axis(&x, &[1, 2, 1, 3, 1, 1, 1, 1], &[1, 0, 6], Sum)?,
        vec![5, 7, 9],
        "eight dimensions",
    )
}

fn empty(device: &Device) -> Result<(), Failed> {
    let nothing = device.upload::<f32>(&[])?;
    is(
        device.reduce_axis(&nothing, &[3, 0], &[1], Max)?,
        vec![None; 3],
        "maxima of an empty axis",
    )?;
    let sums = device.reduce_axis(&nothing, &[0, 2], &[0], Sum)?;
    is(
        sums.iter().map(|sum| sum.to_bits()).collect(),
        vec![0; 2],
        "sums of an empty axis",
    )?;
    is(
        device.reduce_axis(&nothing, &[0, 2], &[1], Sum)?,
        vec![],
        "no results",
    )?;
    is(
        device.reduce_axis(&nothing, &[0], &[0], Max)?,
        vec![None],
        "no items",
    )?;
    let (mut output, mut scratch) = (device.alloc::<f32>(2)?, device.axis_scratch()?);
    device.reduce_axis_into(&nothing, &[0, 2], &[0], Sum, &mut output, &mut scratch)?;
    let sums = output.download()?;
    is(
        sums.iter().map(|sum| sum.to_bits()).collect(),
        vec![(-0.0f32).to_bits(); 2],
        "identities",
    )
}

fn indices(device: &Device) -> Result<(), Failed> {
    let x = device.upload(&[5i32, 9, 9, 1, 9, 7, 2, 2])?;
    let least = |shape: &[usize], axes: &[usize]| -> Result<Vec<_>, Error> {
        let found = device.reduce_axis(&x, shape, axes, ArgMin)?;
        let found = found.into_iter().flatten();
        Ok(found.map(|found| (found.value(), found.index())).collect())
    };
    let wanted = vec![(5, 0), (7, 1), (2, 1), (1, 0)];
    is(least(&[2, 4], &[0])?, wanted, "along axis 0")?;
    is(least(&[2, 4], &[1])?, vec![(1, 3), (2, 2)], "along axis 1")?;
    is(
        least(&[2, 2, 2], &[0, 2])?,
        vec![(5, 0), (1, 1)],
        "of two axes",
    )?;
    is(least(&[2, 4], &[0, 1])?, vec![(1, 3)], "of all axes")
}

fn strided(device: &Device) -> Result<(), Failed> {
    let x = device.upload(&[1i32, 2, 3, 4, 5, 6])?;
    let sum = |shape: &[usize], strides: &[isize], axes: &[usize]| {
        device.reduce_axis(&x, Strided::new(shape, strides), axes, Sum)
    };
    is(sum(&[3, 2], &[1, 3], &[0])?, vec![6, 15], "a transpose")?;
    is(sum(&[3, 2], &[1, 3], &[1])?, vec![5, 7, 9], "a transpose")?;
    is(sum(&[2, 2], &[3, 1], &[1])?, vec![3, 9], "a part")?;
    is(sum(&[3], &[2], &[0])?, vec![9], "every other item")?;
    is(sum(&[3], &[2], &[])?, vec![1, 3, 5], "every other item")?;
    is(sum(&[4, 2], &[0, 1], &[0])?, vec![4, 8], "repeated items")
}

/// NumPy's `x[::-1]`, and so on.
fn backwards(device: &Device) -> Result<(), Failed> {
    let x = device.upload(&[1i32, 2, 3, 4, 5, 6])?;
    let of = |shape: &[usize], strides: &[isize], start: usize, axes: &[usize]| {
        let array = Strided::new(shape, strides).starting_at(start);
        device.reduce_axis(&x, array, axes, Sum)
    };
    is(of(&[6], &[-1], 5, &[])?, vec![6, 5, 4, 3, 2, 1], "x[::-1]")?;
    is(of(&[6], &[-1], 5, &[0])?, vec![21], "x[::-1].sum()")?;
    is(of(&[2], &[-2], 4, &[])?, vec![5, 3], "x[4:1:-2]")?;
    is(
        of(&[2, 3], &[-3, 1], 3, &[1])?,
        vec![15, 6],
        "y[::-1].sum(1)",
    )?;
    is(
        of(&[2, 3], &[3, -1], 2, &[0])?,
        vec![9, 7, 5],
        "y[:, ::-1].sum(0)",
    )?;
    is(
        of(&[2, 3], &[3, -1], 2, &[1])?,
        vec![6, 15],
        "y[:, ::-1].sum(1)",
    )?;
    is(of(&[2, 3], &[-3, -1], 5, &[0])?, vec![9, 7, 5], "both")?;
    is(
        of(&[3, 2], &[-1, -3], 5, &[1])?,
        vec![9, 7, 5],
        "a transpose",
    )?;
    is(
        of(&[4, 2], &[0, -1], 3, &[0])?,
        vec![16, 12],
        "repeated items",
    )?;
    let array = Strided::new(&[2, 3], &[3, -1]).starting_at(2);
    let found = device.reduce_axis(&x, array, &[1], ArgMax)?;
    let found: Vec<_> = found.into_iter().flatten().collect();
    let found = found.iter().map(|found| (found.value(), found.index()));
    is(
        found.collect(),
        vec![(3, 0), (6, 0)],
        "indices are those of the view",
    )?;
    // Without strides, the array is in C order from there.
    let part = Strided::from(&[2, 2]).starting_at(1);
    is(
        device.reduce_axis(&x, part, &[1], Sum)?,
        vec![5, 9],
        "a part",
    )
}

fn bad_arguments(device: &Device) -> Result<(), Failed> {
    let x = device.upload(&[1.0f32; 6])?;
    let text = |found: Result<Vec<f32>, Error>| match found {
        Ok(found) => format!("no error: {found:?}"),
        Err(error) => error.to_string(),
    };
    let of = |shape: &[usize], axes: &[usize]| text(device.reduce_axis(&x, shape, axes, Sum));
    is(
        of(&[2, 3], &[2]),
        "axis 2 is out of range: the array has 2 dimensions, counted from 0".into(),
        "an axis out of range",
    )?;
    is(
        of(&[2, 3], &[1, 0, 1]),
        "axis 1 is given twice; an array is reduced along each axis only once".into(),
        "an axis twice",
    )?;
    is(
        of(&[1; 9], &[0]),
        "an array of 9 dimensions; at most 8 are supported".into(),
        "too many dimensions",
    )?;
    is(
        of(&[2, 4], &[0]),
        "shape [2, 4] has 8 items, but the array has 6; both must be equal".into(),
        "a shape of another length",
    )?;
    is(
        of(&[1 << 40, 1 << 40], &[0]),
        "shape [1099511627776, 1099511627776] has more items than a 64-bit number can count".into(),
        "a shape that overflows",
    )?;
    let strided = |shape: &[usize], strides: &[isize], start: usize| {
        let array = Strided::new(shape, strides).starting_at(start);
        text(device.reduce_axis(&x, array, &[0], Sum))
    };
    let reaches = |strides: &str, start: usize, item: &str| {
        format!(
            "shape [2, 3] with strides {strides} from item {start} on reaches item {item}, but the array has 6 items"
        )
    };
    is(
        strided(&[2, 3], &[4, 1], 0),
        reaches("[4, 1]", 0, "6"),
        "an item behind the buffer",
    )?;
    is(
        strided(&[2, 3], &[-3, 1], 2),
        reaches("[-3, 1]", 2, "-1"),
        "an item in front of the buffer",
    )?;
    is(
        strided(&[2, 3], &[-3, -1], 6),
        reaches("[-3, -1]", 6, "6"),
        "a start behind the buffer",
    )?;
    is(
        strided(&[2, 3], &[isize::MIN, 1], usize::MAX),
        reaches(
            "[-9223372036854775808, 1]",
            usize::MAX,
            "18446744073709551617",
        ),
        "offsets that overflow",
    )?;
    is(
        text(device.reduce_axis(&x, Strided::from(&[2, 3]).starting_at(1), &[0], Sum)),
        reaches("[3, 1]", 1, "6"),
        "C order behind the buffer",
    )?;
    is(
        strided(&[2, 3], &[3], 0),
        "1 strides for an array of 2 dimensions; each dimension needs one".into(),
        "too few strides",
    )?;
    let (mut output, mut scratch) = (device.alloc::<f32>(1)?, device.axis_scratch()?);
    is(
        device.reduce_axis_into(&x, &[2, 3], &[0], Sum, &mut output, &mut scratch),
        Err(Error::ViewRange {
            start: 0,
            end: 3,
            len: 1,
        }),
        "an output that is too short",
    )?;
    let mut other = device.new_stream()?.axis_scratch()?;
    let mut output = device.alloc::<f32>(3)?;
    is(
        device.reduce_axis_into(&x, &[2, 3], &[0], Sum, &mut output, &mut other),
        Err(Error::OtherStream),
        "another stream's scratch",
    )?;
    let exact = device.determinism(Determinism::Exact);
    match exact.reduce_axis(&x, &[2, 3], &[0], Sum) {
        Err(Error::Determinism { .. }) => Ok(()),
        other => Err(format!("exact sums: {other:?}").into()),
    }
}

fn into(device: &Device) -> Result<(), Failed> {
    let x: Vec<f32> = (0..6000).map(|i| i as f32).collect();
    let x = device.upload(&x)?;
    let (mut output, mut scratch) = (device.alloc::<f32>(3000)?, device.axis_scratch()?);
    for (shape, axes) in [([2, 3000], [0]), ([3000, 2], [0]), ([3000, 2], [1])] {
        device.reduce_axis_into(&x, &shape, &axes, Sum, &mut output, &mut scratch)?;
        let wanted = device.reduce_axis(&x, &shape, &axes, Sum)?;
        let got = output.download()?;
        is(got[..wanted.len()].to_vec(), wanted, "sums")?;
    }
    Ok(())
}

fn random_cases(device: &Device) -> Result<(), Failed> {
    let (cases, most) = match device.info() {
        Some(info) if info.multiprocessors > 32 => (200, 1 << 18),
        Some(_) => (6, 6000),
        None => (40, 1 << 14),
    };
    for _ in 0..cases {
        let seed = rand::random();
        let random = &mut SmallRng::seed_from_u64(seed);
        let case = Case::draw(random, most);
        match random.random_range(0..15) {
            0 => case.check::<f32, _>(device, Sum, random),
            1 => case.check::<f64, _>(device, Sum, random),
            2 => case.check::<f16, _>(device, Sum, random),
            3 => case.check::<i8, _>(device, Sum, random),
            4 => case.check::<i64, _>(device, Max, random),
            5 => case.check::<u16, _>(device, Min, random),
            6 => case.check::<f32, _>(device, ArgMin, random),
            7 => case.check::<f64, _>(device, MeanVariance, random),
            8 => case.check::<f16, _>(device, MeanVariance, random),
            9 => case.check::<bf16, _>(device, SumSquares, random),
            10 => case.check::<i32, _>(device, ArgMax, random),
            11 => case.check::<i8, _>(device, SumWide, random),
            12 => case.check::<f32, _>(device, SumWide, random),
            13 => case.check::<bf16, _>(device, SumWide, random),
            _ => case.check::<f32, _>(device, Product, random),
        }
        .map_err(|wrong| format!("{} (seed {seed})", wrong.message().unwrap_or_default()))?;
    }
    Ok(())
}

/// An array and its axes.
#[derive(Debug)]
struct Case {
    shape: Vec<usize>,
    /// None in C order.
    strides: Option<Vec<isize>>,
    /// The index of the item at index 0 of all dimensions.
    start: usize,
    axes: Vec<usize>,
    /// The number of items of the input.
    n: usize,
}

impl Case {
    /// An array of at most about `most` items.
    fn draw(random: &mut SmallRng, most: usize) -> Self {
        let count = random.random_range(0..=8);
        let mut shape = vec![];
        let mut left = random.random_range(1..=most);
        for _ in 0..count {
            let len = 2f64.powf(random.random_range(0.0..=(left as f64).log2()));
            shape.push((len as usize).max(1));
            left /= shape[shape.len() - 1];
        }
        shape.shuffle(random);
        let mut axes: Vec<usize> = (0..count).collect();
        axes.shuffle(random);
        axes.truncate(random.random_range(0..=count));
        let n = shape.iter().product();
        let mut case = Self {
            shape,
            strides: None,
            start: 0,
            axes,
            n,
        };
        if random.random() {
            case.draw_strides(random);
        }
        case
    }

    fn draw_strides(&mut self, random: &mut SmallRng) {
        let count = self.shape.len();
        let mut order: Vec<usize> = (0..count).collect();
        order.shuffle(random);
        let mut strides = vec![0; count];
        let (mut stride, mut last) = (1, 0);
        let backwards = *[0.0, 0.0, 0.5, 1.0].choose(random).expect("not empty");
        for axis in order {
            if random.random_range(0..10) == 0 {
                continue;
            }
            let own = stride + random.random_range(0..2) * random.random_range(0..2);
            let length = (self.shape[axis] - 1) * own;
            last += length;
            stride = stride.max(own * self.shape[axis]);
            strides[axis] = own as isize;
            if random.random_bool(backwards) {
                strides[axis] = -strides[axis];
                self.start += length;
            }
        }
        let before = random.random_range(0..2) * random.random_range(0..5);
        self.start += before;
        self.n = before + last + 1 + random.random_range(0..3);
        self.strides = Some(strides);
    }

    /// The offsets of the items of each result, in C order.
    fn columns(&self) -> Vec<Vec<usize>> {
        let c_order = |axis: usize| self.shape[axis + 1..].iter().product::<usize>() as isize;
        let stride = |axis: usize| match &self.strides {
            Some(strides) => strides[axis],
            None => c_order(axis),
        };
        let offsets = |is_reduced: bool| {
            let mut offsets = vec![0isize];
            for (axis, len) in self.shape.iter().enumerate() {
                if self.axes.contains(&axis) == is_reduced {
                    let stride = stride(axis);
                    let inner = |outer: isize| (0..*len as isize).map(move |i| outer + i * stride);
                    offsets = offsets.into_iter().flat_map(inner).collect();
                }
            }
            offsets
        };
        let items = offsets(true);
        let item = |offset: isize| self.start.checked_add_signed(offset).expect("in the array");
        let column = |base: isize| items.iter().map(|offset| item(base + offset)).collect();
        offsets(false).into_iter().map(column).collect()
    }

    fn check<T: Drawn, O: Axes<T> + SinglePass<T>>(
        &self,
        device: &Device,
        op: O,
        random: &mut SmallRng,
    ) -> Result<(), Failed>
    where
        O::Acc: Debug,
    {
        // The view starts anywhere.
        let skipped = random.random_range(0..3);
        let items: Vec<T> = (0..skipped + self.n).map(|_| T::drawn(random)).collect();
        let x = device.upload(&items)?;
        let x = x.view(skipped..)?;
        let shape = match &self.strides {
            None => Strided::from(&self.shape),
            Some(strides) => Strided::new(&self.shape, strides).starting_at(self.start),
        };
        let columns = self.columns();
        let mut output = device.alloc::<O::Acc>(columns.len())?;
        let mut scratch = device.axis_scratch()?;
        device.reduce_axis_into(x, shape, &self.axes, op, &mut output, &mut scratch)?;
        let got = device.download(&output)?;
        let cpu = Device::cpu();
        let mut cell = cpu.alloc::<O::Acc>(1)?;
        let mut cpu_scratch = cpu.scratch()?;
        for (column, (got, offsets)) in got.iter().zip(columns).enumerate() {
            let gathered = offsets.iter().map(|offset| items[skipped + offset]);
            let gathered: Vec<T> = gathered.collect();
            cpu.reduce_into(
                cpu.view_host(&gathered)?,
                op,
                &mut cell,
                0,
                &mut cpu_scratch,
            )?;
            let wanted = cell.download()?[0];
            if bits(*got) != bits(wanted) {
                return Err(format!(
                    "{} of {self:?}, result {column}: {got:?}, not {wanted:?}",
                    <O as SinglePass<T>>::ENTRY.name
                )
                .into());
            }
        }
        Ok(())
    }
}
