use std::rc::Rc;

use clap::Parser;
use warpfold::Op;
use warpfold_results::schema::{By, Cache, Timing};

use super::group::{cub_name, warpfold_subject};
use super::*;
use crate::driver::simulated;
use crate::options::{Cli, Command};
use crate::sweep::subject::Timer;
use crate::sweep::suites::tests::simulate;

const SEED: u64 = 11;

/// Checks the kernels on the simulated device, also over half of the items, and on the CPU.
fn check<C: Case>() {
    let plain = simulated();
    let gpu = plain.with(&KERNELS).unwrap();
    let flush_buffer = plain.upload(&[1; 1000]).unwrap();
    let timer = Timer::new(&plain, &flush_buffer).unwrap();
    let mut arrays = C::draw(20_000, SEED).unwrap();
    let mut buffers = arrays.upload(&gpu).unwrap();
    for (rank, n) in [6, 1000, 20_000].into_iter().enumerate() {
        C::plant(&mut arrays, &mut buffers, n, rank, SEED).unwrap();
        let expected = C::expected(&arrays, n).unwrap();
        let verdict = |n| {
            let subject =
                warpfold_subject::<C>(&gpu, &timer, &[&buffers, &buffers], n, expected).unwrap();
            let mut timed = timer.timed(&Rc::new(subject), Cache::Cold, Timing::Device);
            (timed.run)().unwrap().verdict
        };
        assert_eq!(verdict(n), Ok(()), "{n}");
        let differs = C::expected(&arrays, n / 2).unwrap() != expected;
        assert_eq!(verdict(n / 2).is_err(), differs, "half of {n}");

        let cpu = Device::cpu().with(&KERNELS).unwrap();
        let on_cpu = arrays.upload(&cpu).unwrap();
        let view = C::Arrays::view(&on_cpu, n).unwrap();
        let got = cpu.reduce::<ItemsOf<C>, _>(view, C::OP).run().unwrap();
        let right = C::OP.finish(expected);
        let accepted = C::accepts(By::Warpfold, &got, &right);
        assert!(accepted, "{n} on the CPU: {got:?} instead of {right:?}");
    }
}

#[test]
fn complex_sums() {
    check::<ComplexSum>();
}

#[test]
fn squares() {
    check::<SquaresAbout>();
}

#[test]
fn boxes() {
    check::<BoundingBox>();
}

#[test]
fn best_pairs() {
    check::<Best>();
}

#[test]
fn products_of_matrices() {
    check::<MatProduct>();
}

#[test]
fn dots_of_three() {
    check::<Dot3>();
}

#[test]
fn log_sum_exps() {
    check::<LogSumExp>();
}

/// Most swaps of neighbours change the product.
#[test]
fn the_order_of_matrices_matters() {
    let mut matrices = MatProduct::draw(1000, SEED).unwrap();
    let right = MatProduct::expected(&matrices, 1000).unwrap();
    let swaps = (0..999).filter(|i| {
        matrices.swap(*i, i + 1);
        let differs = MatProduct::expected(&matrices, 1000).unwrap() != right;
        matrices.swap(*i, i + 1);
        differs
    });
    assert!(swaps.count() > 500);
}

#[test]
fn large_inputs_have_few_squares_of_1() {
    let draw = |n: usize| SquaresAbout::draw(n, SEED).unwrap();
    let ones = |values: &[f32]| values.iter().filter(|x| **x != 0.5).count();
    let few = draw(1 << 16);
    assert!((1 << 14..1 << 16).contains(&ones(&few)));
    let many = draw(1 << 26);
    let ones = ones(&many);
    assert!((1 << 22..1 << 24).contains(&ones), "{ones}");
}

#[test]
fn every_operator_that_commutes_has_a_peer() {
    fn has_peers<C: Case>() -> bool {
        let name = cub_name::<C>();
        let is_defined = |name: &str| peers::SOURCE.contains(&format!("PEER({name}, "));
        assert_eq!(is_defined(&name), C::CUB.is_some(), "{name}");
        assert_eq!(
            is_defined(&format!("{name}_aligned")),
            C::HAS_ALIGNED,
            "{name}"
        );
        C::CUB.is_some()
    }
    let all = [
        has_peers::<ComplexSum>(),
        has_peers::<SquaresAbout>(),
        has_peers::<BoundingBox>(),
        has_peers::<Best>(),
        has_peers::<MatProduct>(),
        has_peers::<Dot3>(),
        has_peers::<LogSumExp>(),
    ];
    assert_eq!(all, [true, true, true, true, false, true, true]);
}

fn options(line: &str) -> SweepOptions {
    let words = ["warpfold-bench", "bench"];
    let words = words.into_iter().chain(line.split_whitespace());
    match Cli::parse_from(words).command {
        Command::Bench(options) => *options,
        other => panic!("{other:?}"),
    }
}

#[test]
fn sizes_are_powers_and_a_gibibyte() {
    let sizes = |line: &str, bytes| super::sizes(&options(line), bytes);
    let powers = [1 << 16, 1 << 20, 1 << 24];
    assert_eq!(sizes("", 4), [&powers[..], &[1 << 28]].concat());
    assert_eq!(
        sizes("", 12),
        [&powers[..], &[89_478_485, 1 << 28]].concat()
    );
    assert_eq!(sizes("", 16), [&powers[..], &[1 << 26, 1 << 28]].concat());
    assert_eq!(sizes("--quick", 16), [1 << 16, 1 << 24]);
    assert_eq!(sizes("--sizes 1000,7", 16), [7, 1000]);
    for case in &CASES {
        assert!(!(case.op)().is_empty() && case.bytes >= 4);
    }
}

/// On the simulated device, whose times mean nothing.
#[test]
fn the_suite_has_rows_of_every_way_of_timing() {
    let options =
        options("--suite operators --sizes 64 --algorithms best,dot3 --quick --quiet --seed 3");
    let results = simulate(&options, super::run);
    let row = |row: &warpfold_results::schema::Row| {
        let op = row.op.clone().unwrap_or_default();
        format!(
            "{} {op} {} {} {} {}",
            row.group, row.element, row.bytes, row.cache, row.timing
        )
    };
    let rows = results.rows.iter().map(row).collect::<Vec<_>>();
    for (group, op, element, bytes) in [(0, "best", "scored", 512), (1, "dot3", "f32_f32_f32", 768)]
    {
        for way in [
            "cold device",
            "warm device",
            "warm launch",
            "warm stream",
            "warm graph",
            "warm call",
        ] {
            let row = format!("{group} {op} {element} {bytes} {way}");
            assert!(rows.contains(&row), "{row} is not in {rows:?}");
        }
        let ceiling = format!("{group}  {element} {bytes} cold device");
        assert!(rows.contains(&ceiling), "{ceiling} is not in {rows:?}");
    }
    assert_eq!(rows.len(), 2 * 8);
}
