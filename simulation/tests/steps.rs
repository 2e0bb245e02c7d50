//! The warp operations whose result every lane gets, which no entry uses. They run for every operator and
//! element type, and for every group of lanes with the same key, in the simulator with all checks.

use std::process::ExitCode;

use cuda_sim::{Buffer, Plain, Schedule, Simulator};
use cuda_std::thread::thread_idx_x;
use kernels_gpu::element::{Element, Indexed, bf16, f16};
use kernels_gpu::entry::SinglePass;
use kernels_gpu::keyed::peers::{all_reduce_peers, get_peers, match_peers};
use kernels_gpu::mem::Global;
use kernels_gpu::op::{
    And, ArgMax, ArgMin, Max, Min, NanArgMax, NanArgMin, NanMax, NanMin, NanSum, Op, Or, Product,
    Sum, SumWide, Xor,
};
use kernels_gpu::warp::{FULL_MASK, all_reduce};
use kernels_sim::oracle::{Drawn, Oracle, Value, close, same};
use kernels_sim::{Data, for_all_pairs};
use libtest_mimic::{Arguments, Failed, Trial};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const WARPS: usize = 3;
const LANES: usize = 32;
const N: usize = WARPS * LANES;

/// The number of additions of a value on its way to every lane.
const CHAIN: f64 = 5.0;

const SCHEDULES: [Schedule; 3] = [Schedule::Forward, Schedule::Reverse, Schedule::Random(3)];

fn main() -> ExitCode {
    let seed: u64 = rand::random();
    let mut trials = vec![
        Trial::test("get_peers and match_peers agree", move || masks(seed)),
        Trial::test("all_reduce_peers of two sums of i32", move || {
            by_key::<i32, Sum>(seed)
        }),
        Trial::test("all_reduce_peers of two maxima of f64", move || {
            by_key::<f64, Max>(seed)
        }),
        Trial::test("all_reduce_peers of two sums of f32", move || {
            by_key::<f32, Sum>(seed)
        }),
    ];
    macro_rules! warp {
        ($op:ident $element:ty) => {
            let entry = <$op as SinglePass<$element>>::ENTRY;
            trials.push(Trial::test(
                format!("all_reduce {} {}", entry.op, entry.items),
                move || warp::<$element, $op>(seed),
            ));
        };
    }
    for_all_pairs!(warp);
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// One block of three warps.
fn simulator(schedule: Schedule) -> Simulator {
    Simulator::new()
        .check_all()
        .schedule(schedule)
        .block(N as u32)
}

fn handle<T: Element + Plain>(buffer: &Buffer<T>) -> Global<T> {
    // SAFETY: the buffer outlives the launch, which the simulator checks.
    unsafe { Global::new(buffer.as_mut_ptr(), N) }
}

/// Every lane gets the warp's combined value, and all lanes get the same bits.
fn warp<T, O>(seed: u64) -> Result<(), Failed>
where
    T: Drawn,
    O: Op<T, Acc: Value> + Oracle<<O as Op<T>>::Acc>,
{
    for data in Data::ALL {
        let lifted: Vec<_> = (0..)
            .zip(data.draw::<T>(N, seed))
            .map(|(i, value)| <O as Op<T>>::lift(&O::OP, value, i))
            .collect();
        let chain = match data {
            Data::Whole if O::EXACT_ON_WHOLE => 0.0,
            _ => CHAIN,
        };
        for schedule in SCHEDULES {
            let (input, output) = (Buffer::from(&lifted), Buffer::uninitialised(N));
            simulator(schedule).run(|| {
                let i = thread_idx_x() as usize;
                // SAFETY: whole warps, all of whose lanes get here.
                let value = unsafe { all_reduce::<T, O>(O::OP, handle(&input).get(i)) };
                handle(&output).set(i, value);
            })?;
            let got = output.to_vec();
            for (got, values) in got.chunks(LANES).zip(lifted.chunks(LANES)) {
                close(got[0], &O::expected(values), chain)
                    .map_err(|wrong| format!("{data:?}: {wrong} (seed {seed})"))?;
                if let Some(lane) = (1..LANES).find(|&lane| !same(got[lane], got[0])) {
                    let (one, first) = (got[lane], got[0]);
                    return Err(format!("lane {lane} has {one:?}, lane 0 {first:?}").into());
                }
            }
        }
    }
    Ok(())
}

/// Keys with few and with many groups, and the lanes of each group.
fn keys(seed: u64) -> Vec<(Vec<u64>, Vec<u32>)> {
    let rng = &mut StdRng::seed_from_u64(seed);
    [1, 2, 5, 32, 1000]
        .map(|kinds| {
            // Keys that differ only in their upper halves.
            let keys: Vec<u64> = (0..N).map(|_| rng.random_range(0..kinds) << 32).collect();
            let mask = |i: usize| {
                let warp = &keys[i / LANES * LANES..][..LANES];
                let is_peer = |lane: &usize| warp[*lane] == keys[i];
                (0..LANES)
                    .filter(is_peer)
                    .fold(0, |mask, lane| mask | 1 << lane)
            };
            let masks = (0..N).map(mask).collect();
            (keys, masks)
        })
        .into()
}

fn masks(seed: u64) -> Result<(), Failed> {
    for (keys, expected) in keys(seed) {
        for schedule in SCHEDULES {
            let keys = Buffer::from(&keys);
            let (ballots, matches) = (Buffer::uninitialised(N), Buffer::uninitialised(N));
            simulator(schedule).run(|| {
                let i = thread_idx_x() as usize;
                let key = handle(&keys).get(i);
                // SAFETY: whole warps, all of whose lanes get here.
                unsafe {
                    handle(&ballots).set(i, get_peers(FULL_MASK, key));
                    handle(&matches).set(i, match_peers(FULL_MASK, key));
                }
            })?;
            if ballots.to_vec() != expected || matches.to_vec() != expected {
                return Err(
                    format!("the masks differ from those of the keys (seed {seed})").into(),
                );
            }
        }
    }
    Ok(())
}

/// Every lane gets the combined values of its peers, for two arrays.
fn by_key<T: Drawn, O: Op<T, Acc = T> + Oracle<T>>(seed: u64) -> Result<(), Failed> {
    let values = [1, 2].map(|array| Data::Whole.draw::<T>(N, seed ^ array));
    for (keys, masks) in keys(seed) {
        for schedule in SCHEDULES {
            let keys = Buffer::from(&keys);
            let inputs = [Buffer::from(&values[0]), Buffer::from(&values[1])];
            let outputs = [Buffer::uninitialised(N), Buffer::uninitialised(N)];
            simulator(schedule).run(|| {
                let i = thread_idx_x() as usize;
                let mut two = [handle(&inputs[0]).get(i), handle(&inputs[1]).get(i)];
                // SAFETY: whole warps, all of whose lanes get here, with the masks of their own keys.
                unsafe {
                    let peers = match_peers(FULL_MASK, handle(&keys).get(i));
                    all_reduce_peers::<T, O, 2>(O::OP, FULL_MASK, peers, &mut two);
                }
                handle(&outputs[0]).set(i, two[0]);
                handle(&outputs[1]).set(i, two[1]);
            })?;
            for (values, output) in values.iter().zip(&outputs) {
                for (i, got) in output.to_vec().into_iter().enumerate() {
                    let warp = &values[i / LANES * LANES..][..LANES];
                    let of_peers = (0..LANES).filter(|lane| masks[i] >> lane & 1 == 1);
                    let of_peers: Vec<T> = of_peers.map(|lane| warp[lane]).collect();
                    close(got, &O::expected(&of_peers), 0.0)
                        .map_err(|wrong| format!("lane {i}: {wrong} (seed {seed})"))?;
                }
            }
        }
    }
    Ok(())
}
