//! Reductions on the CPU, in turn with a loop that does nothing but read as many bytes on as many
//! threads: what the machine's memory allows.

mod answer;
mod record;

use std::hint::black_box;
use std::time::Instant;

use anyhow::Result;
use kernels_gpu::element::{bf16, f16};
use kernels_gpu::op::Op;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;
use warpfold::{ArgMin, Device, Indexed, Max, Min, Operator, Product, Sum, SumWide};

use self::answer::{Answer, Expected, Number};
use self::record::{Record, Row, Table};
use crate::options::{CpuOptions, ElementType};
use crate::report::Started;
use crate::{check_writable, say};

/// Whether every answer was right.
pub fn run(options: &CpuOptions) -> Result<bool> {
    let started = Started::now()?;
    if let Some(file) = &options.json {
        check_writable(file)?;
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads.unwrap_or(0).into()) // 0: one for each core
        .build()?;
    let mut record = Record::new(started, options, pool.current_num_threads());
    say(&format!("{}\n", record.header()))?;
    for element in &options.types {
        let table = pool.install(|| match element {
            ElementType::I8 => measure::<i8>(options, record.seed),
            ElementType::I16 => measure::<i16>(options, record.seed),
            ElementType::I32 => measure::<i32>(options, record.seed),
            ElementType::I64 => measure::<i64>(options, record.seed),
            ElementType::U8 => measure::<u8>(options, record.seed),
            ElementType::U16 => measure::<u16>(options, record.seed),
            ElementType::U32 => measure::<u32>(options, record.seed),
            ElementType::U64 => measure::<u64>(options, record.seed),
            ElementType::F16 => measure::<f16>(options, record.seed),
            ElementType::Bf16 => measure::<bf16>(options, record.seed),
            ElementType::F32 => measure::<f32>(options, record.seed),
            ElementType::F64 => measure::<f64>(options, record.seed),
        })?;
        say(&format!("{table}\n"))?;
        record.tables.push(table);
    }
    if let Some(file) = &options.json {
        record.write(file)?;
    }
    Ok(record.is_right())
}

/// All reductions of one type, once a round each, after the plain loop.
fn measure<T: Number>(options: &CpuOptions, seed: u64) -> Result<Table>
where
    Sum: Operator<T, Output = T>,
    SumWide: Operator<T, Output: Into<Answer>>,
    Product: Operator<T, Output = T>,
    Min: Operator<T, Output = T>,
    Max: Operator<T, Output = T>,
    ArgMin: Operator<T, Output = Indexed<T>>,
{
    let cpu = Device::cpu();
    let mut rng = SmallRng::seed_from_u64(seed);
    let data = T::draw(options.n, &mut rng);
    let expected = T::expected(&data);
    let x = cpu.upload(&data)?;
    drop(data);
    let bytes = options.n * size_of::<T>();
    let words: Vec<u64> = (0..bytes.div_ceil(8)).map(|_| rng.random()).collect();
    let read = words.iter().fold(0, |all, word| all ^ word);

    let place = || -> Result<Answer> { Ok(cpu.argmin(&x)?.map_or(-1, |i| i as i128).into()) };
    type Question<'a> = (&'static str, &'a dyn Fn() -> Result<Answer>, Expected);
    let rows: [Question<'_>; 7] = [
        (
            "plain read",
            &|| Ok(plain_read(black_box(&words)).into()),
            Expected::exact(read),
        ),
        (
            op::<T, Sum>(),
            &|| Ok(cpu.sum(black_box(&x))?.into()),
            expected.sum,
        ),
        (
            op::<T, SumWide>(),
            &|| Ok(cpu.sum_wide(black_box(&x))?.into()),
            expected.sum_wide,
        ),
        (
            op::<T, Product>(),
            &|| Ok(cpu.product(black_box(&x))?.into()),
            expected.product,
        ),
        (
            op::<T, Min>(),
            &|| Ok(cpu.reduce(black_box(&x), Min).run()?.into()),
            expected.min,
        ),
        (
            op::<T, Max>(),
            &|| Ok(cpu.reduce(black_box(&x), Max).run()?.into()),
            expected.max,
        ),
        (op::<T, ArgMin>(), &place, expected.argmin),
    ];
    let mut measured = rows.map(|(name, run, expected)| (Row::new(name), run, expected));
    for round in 0..options.warmup + options.repeats {
        for (row, run, expected) in &mut measured {
            let start = Instant::now();
            let got = run()?;
            let ms = start.elapsed().as_secs_f64() * 1e3;
            row.ran(ms, round >= options.warmup, got, expected);
        }
    }
    Ok(Table::new(
        T::NAME,
        bytes,
        measured.map(|(row, ..)| row).into(),
    ))
}

/// The operator's name.
fn op<T: Number, O: Op<T>>() -> &'static str {
    O::NAME
}

/// Reads all words, in one piece for each thread. The compiler makes vector instructions of it.
pub fn plain_read(words: &[u64]) -> u64 {
    let piece = words.len().div_ceil(rayon::current_num_threads());
    let pieces = words.par_chunks(piece.max(1));
    let read = |piece: &[u64]| piece.iter().fold(0, |all, word| all ^ word);
    pieces.map(read).reduce(|| 0, |a, b| a ^ b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[test]
    fn every_answer_is_right_and_compared_with_the_plain_read() {
        let line = "bench cpu --n 100003 --seed 1";
        let cli = crate::options::Cli::parse_from(line.split(' '));
        let crate::options::Command::Cpu(options) = cli.command else {
            panic!("another command");
        };
        for table in [
            measure::<i8>(&options, 1).unwrap(),
            measure::<u64>(&options, 2).unwrap(),
            measure::<f16>(&options, 3).unwrap(),
            measure::<bf16>(&options, 4).unwrap(),
            measure::<f32>(&options, 5).unwrap(),
            measure::<f64>(&options, 6).unwrap(),
        ] {
            assert!(table.is_right(), "{table}");
            assert_eq!(table.to_string().lines().count(), 9, "{table}");
        }
    }
}
