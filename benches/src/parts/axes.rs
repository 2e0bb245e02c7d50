//! `warpfold-bench axes`: sums and minima with their indices along axes of arrays in C order.

use anyhow::Result;
use rand::RngExt;
use rand::rngs::StdRng;
use warpfold::{ArgMin, Axes, Device, Sum};
use warpfold_results::parts::{Form, Row};
use warpfold_results::schema::By;

use super::peers::{Asked, Compared, Right};
use super::{Bits, ROUNDS, Record, drawn, is_chosen, is_right};
use crate::options::PartsOptions;
use crate::sweep::python::Python;

/// The shapes for 2^28 items, as powers of two, and the axes.
const SHAPES: [(&[u32], &[usize]); 14] = [
    (&[24, 4], &[0]),
    (&[24, 4], &[1]),
    (&[27, 1], &[0]),
    (&[27, 1], &[1]),
    (&[1, 27], &[0]),
    (&[1, 27], &[1]),
    (&[4, 24], &[0]),
    (&[20, 8], &[0]),
    (&[20, 8], &[1]),
    (&[8, 20], &[0]),
    (&[14, 14], &[0]),
    (&[14, 14], &[1]),
    (&[6, 11, 11], &[0, 2]),
    (&[6, 11, 11], &[1]),
];

pub fn run(options: &PartsOptions) -> Result<()> {
    let device = Device::first()?;
    let mut record = Record::new(&device, "items and results")?;
    let items = drawn(options.n, |random: &mut StdRng| {
        random.random_range(-1.0f32..1.0)
    });
    let mut python = match options.peers {
        true => record.start_python(&device, &items)?,
        false => vec![],
    };
    record.head(&[Form::Call])?;
    let (record, python) = (&mut record, &mut python[..]);
    time(&device, options, (Sum, "sum"), &items, record, python)?;
    time(
        &device,
        options,
        (ArgMin, "arg_min"),
        &items,
        record,
        python,
    )?;
    record.write(options)
}

/// Times an operator along all axes.
fn time<O: Axes<f32, Acc: Bits + Compared> + Copy>(
    device: &Device,
    options: &PartsOptions,
    (op, name): (O, &str),
    items: &[f32],
    record: &mut Record,
    python: &mut [(By, Python)],
) -> Result<()> {
    let (n, cpu) = (items.len(), Device::cpu());
    let x = device.upload(items)?;
    for (powers, axes) in SHAPES {
        let mut shape: Vec<usize> = powers.iter().map(|power| 1 << power).collect();
        // Other numbers of items change the largest dimension.
        let longest = (0..shape.len()).max_by_key(|&dim| shape[dim]);
        let longest = longest.expect("a shape has dimensions");
        let others: usize = shape.iter().product::<usize>() / shape[longest];
        if !n.is_multiple_of(others) {
            continue;
        }
        shape[longest] = n / others;
        let title = format!("{shape:?} axes {axes:?}");
        if !is_chosen(options, &title) {
            continue;
        }
        let reduced: usize = axes.iter().map(|&axis| shape[axis]).product();
        let count = n / reduced;
        let bytes = n * size_of::<f32>() + count * size_of::<O::Acc>();
        let expected = {
            let (mut expected, mut scratch) = (cpu.alloc::<O::Acc>(count)?, cpu.axis_scratch()?);
            let x = cpu.view_host(items)?;
            cpu.reduce_axis_into(x, &shape, axes, op, &mut expected, &mut scratch)?;
            expected.download()?
        };
        let ceiling = device.alloc::<f32>(bytes / size_of::<f32>())?;
        let mut read = device.read_ceiling(&ceiling)?;
        let (mut output, mut scratch) = (device.alloc::<O::Acc>(count)?, device.axis_scratch()?);
        let mut times = [vec![], vec![], vec![]];
        // The first round loads the kernels and makes room.
        for round in 0..=ROUNDS {
            times[0].push(device.time(|| read.enqueue())?);
            let call = || device.reduce_axis_into(&x, &shape, axes, op, &mut output, &mut scratch);
            times[1].push(device.time(call)?);
            if round == 0 {
                is_right(&output.download()?, &expected, &title)?;
                times.iter_mut().for_each(Vec::clear);
            }
        }
        let mut row = Row {
            op: name.into(),
            element: "f32".into(),
            parts: title,
            n,
            results: count,
            bytes,
            read_us: 0.0,
            call_us: 0.0,
            rows_us: None,
            peers: vec![],
        };
        let right = Right {
            results: &expected,
            len: &|_| reduced,
        };
        record.time_python(
            python,
            &mut row,
            Form::Call,
            &Asked::Axes(&shape, axes),
            &right,
        )?;
        record.push(row, times)?;
    }
    Ok(())
}
