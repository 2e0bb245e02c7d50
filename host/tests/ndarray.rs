//! Reductions of `ndarray`'s arrays, compared with `ndarray`'s own.

use ndarray::{Array, Array1, ArrayD, ArrayViewD, Axis, IxDyn, Slice, arr0, array, s};
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use warpfold::{ArgMin, Device, Error, Max, Min, Sum, SumWide};

/// A device, and the CPU if that is another one.
fn devices() -> Vec<Device> {
    let auto = Device::auto().unwrap();
    match auto.is_gpu() {
        true => vec![auto, Device::cpu()],
        false => vec![auto],
    }
}

/// A random array of up to 5 dimensions, of which some may be empty.
fn drawn<T>(random: &mut SmallRng, mut item: impl FnMut(&mut SmallRng) -> T) -> ArrayD<T> {
    let dims = random.random_range(1..=5);
    let shape = (0..dims).map(|_| match random.random_range(0..20) {
        0 => 0,
        1..5 => 1,
        _ => random.random_range(2..=9),
    });
    let shape: Vec<usize> = shape.collect();
    Array::from_shape_simple_fn(IxDyn(&shape), || item(random))
}

/// Calls `check` with several views of an array: of other orders of the axes, and of parts, also backwards.
fn for_views<T: Clone>(
    array: &ArrayD<T>,
    random: &mut SmallRng,
    mut check: impl FnMut(ArrayViewD<'_, T>, &mut SmallRng),
) {
    check(array.view(), random);
    let mut axes: Vec<usize> = (0..array.ndim()).collect();
    axes.shuffle(random);
    let transposed = array.view().permuted_axes(IxDyn(&axes));
    check(transposed.clone(), random);
    let mut backwards = transposed.clone();
    for axis in 0..array.ndim() {
        if random.random() {
            backwards.invert_axis(Axis(axis));
        }
    }
    check(backwards, random);
    for step in [1, 2, -1] {
        let mut part = transposed.clone();
        part.slice_each_axis_inplace(|axis| {
            let start = random.random_range(0..=axis.len / 2);
            let end = random.random_range(start..=axis.len);
            Slice::new(start as isize, Some(end as isize), step)
        });
        check(part, random);
    }
    // All rows are one row.
    if array.ndim() > 0 && array.shape()[0] > 0 {
        let row = array.index_axis(Axis(0), 0);
        let shape = [&[4], row.shape()].concat();
        check(row.broadcast(IxDyn(&shape)).unwrap(), random);
    }
}

/// Some axes in any order.
fn some_axes(dims: usize, random: &mut SmallRng) -> Vec<Axis> {
    let mut axes: Vec<Axis> = (0..dims).map(Axis).collect();
    axes.shuffle(random);
    axes.truncate(random.random_range(0..=dims));
    axes
}

/// `ndarray`'s fold along several axes.
fn folded<T: Copy, R: Clone>(
    array: &ArrayViewD<'_, T>,
    axes: &[Axis],
    first: R,
    step: impl Fn(R, T) -> R,
) -> ArrayD<R> {
    let kept = (0..array.ndim()).filter(|axis| !axes.contains(&Axis(*axis)));
    let kept: Vec<usize> = kept.collect();
    let shape: Vec<usize> = kept.iter().map(|axis| array.shape()[*axis]).collect();
    let mut results = Array::from_elem(IxDyn(&shape), first);
    for (index, x) in array.indexed_iter() {
        let at: Vec<usize> = kept.iter().map(|axis| index[*axis]).collect();
        let result = &mut results[IxDyn(&at)];
        *result = step(result.clone(), *x);
    }
    results
}

#[test]
fn sums_and_extrema_along_random_axes() {
    let seed: u64 = rand::random();
    println!("seed {seed}");
    let random = &mut SmallRng::seed_from_u64(seed);
    for device in devices() {
        for _ in 0..60 {
            let array = drawn(random, |random| random.random::<i32>());
            for_views(&array, random, |view, random| {
                for axis in (0..view.ndim()).map(Axis) {
                    let wide = view.mapv(i64::from).sum_axis(axis);
                    assert_eq!(device.reduce_axis_of(&view, axis, SumWide), Ok(wide));
                    let least = view.map_axis(axis, |lane| lane.iter().copied().min());
                    assert_eq!(device.reduce_axis_of(&view, axis, Min), Ok(least));
                }
                let axes = some_axes(view.ndim(), random);
                let sums = folded(&view, &axes, 0i32, |sum, x| sum.wrapping_add(x));
                assert_eq!(device.reduce_axes_of(&view, &axes, Sum), Ok(sums));
                let greatest = folded(&view, &axes, None, |max, x| max.max(Some(x)));
                assert_eq!(device.reduce_axes_of(&view, &axes, Max), Ok(greatest));
            });
        }
    }
}

#[test]
fn floats_have_the_bits_of_the_array_in_c_order() {
    let random = &mut SmallRng::seed_from_u64(rand::random());
    for device in devices() {
        for _ in 0..30 {
            let array = drawn(random, |random| random.random_range(-1.0f32..1.0));
            for_views(&array, random, |view, random| {
                let axes = some_axes(view.ndim(), random);
                let indices: Vec<usize> = axes.iter().map(|axis| axis.index()).collect();
                let gathered: Vec<f32> = view.iter().copied().collect();
                let x = device.upload(&gathered).unwrap();
                let wanted = device.reduce_axis(&x, view.shape(), &indices, Sum);
                let got = device.reduce_axes_of(&view, &axes, Sum).unwrap();
                let bits = |sums: Vec<f32>| sums.into_iter().map(f32::to_bits).collect::<Vec<_>>();
                assert_eq!(bits(got.into_raw_vec_and_offset().0), bits(wanted.unwrap()));
            });
        }
    }
}

#[test]
fn indices_are_those_along_the_axis() {
    let random = &mut SmallRng::seed_from_u64(rand::random());
    for device in devices() {
        for _ in 0..30 {
            // Many are equal.
            let array = drawn(random, |random| random.random_range(0..4u32));
            for_views(&array, random, |view, _| {
                for axis in (0..view.ndim()).map(Axis) {
                    let wanted = view.map_axis(axis, |lane| {
                        let least = lane.iter().min()?;
                        let index = lane.iter().position(|x| x == least)?;
                        Some((index as u64, *least))
                    });
                    let found = device.reduce_axis_of(&view, axis, ArgMin).unwrap();
                    let found = found.mapv(|x| x.map(|x| (x.index(), x.value())));
                    assert_eq!(found, wanted);
                }
            });
        }
    }
}

#[test]
fn arrays_of_fixed_dimensions() -> Result<(), Error> {
    for device in devices() {
        let cube = Array::from_iter(0..24)
            .into_shape_with_order((2, 3, 4))
            .unwrap();
        let sums = device.reduce_axis_of(&cube, Axis(1), Sum)?;
        assert_eq!(sums, cube.sum_axis(Axis(1)));
        assert_eq!(sums.dim(), (2, 4));
        let columns = cube.slice(s![.., 1, ..;2]);
        assert_eq!(
            device.reduce_axis_of(&columns, Axis(0), Sum)?,
            array![20, 24]
        );
        let one = array![5, 7];
        assert_eq!(device.reduce_axis_of(&one, Axis(0), Sum)?, arr0(12));
        assert_eq!(
            device.reduce_axes_of(&arr0(3), &[], Sum)?,
            arr0(3).into_dyn()
        );
        let empty = Array::<i32, _>::zeros((0, 3));
        assert_eq!(
            device.reduce_axis_of(&empty, Axis(0), Sum)?,
            array![0, 0, 0]
        );
        assert_eq!(
            device.reduce_axis_of(&empty, Axis(1), Max)?,
            Array1::default(0)
        );
    }
    Ok(())
}

#[test]
fn bad_axes_are_errors() {
    for device in devices() {
        let x = array![[1, 2], [3, 4]];
        let out = Error::AxisRange { axis: 2, dims: 2 };
        assert_eq!(device.reduce_axis_of(&x, Axis(2), Sum), Err(out.clone()));
        assert_eq!(
            device.reduce_axes_of(&x, &[Axis(0), Axis(2)], Sum),
            Err(out)
        );
        let twice = Error::AxisTwice { axis: 1 };
        assert_eq!(
            device.reduce_axes_of(&x, &[Axis(1), Axis(1)], Sum),
            Err(twice)
        );
        let deep = ArrayD::<i32>::zeros(IxDyn(&[1; 9]));
        let too_many = Error::TooManyDims { dims: 9, limit: 8 };
        assert_eq!(device.reduce_axis_of(&deep, Axis(0), Sum), Err(too_many));
        let none = ArrayD::<i32>::zeros(IxDyn(&[0, 2]));
        let out = Error::AxisRange { axis: 5, dims: 2 };
        assert_eq!(device.reduce_axis_of(&none, Axis(5), Sum), Err(out));
    }
}
