//! Indices, sizes, lanes and `activemask`.

use conformance_kernels::index as kernel;
use rand::{RngExt, rngs::StdRng};

use super::Trial;
use crate::case::{Case, Expectation, Launch, Word, sentinels};

/// Grid and block.
const SHAPES: [([u32; 3], [u32; 3]); 9] = [
    ([1, 1, 1], [1, 1, 1]),
    ([7, 1, 1], [96, 1, 1]),
    ([2, 3, 4], [5, 6, 7]),
    ([1, 5, 1], [1, 70, 1]),
    ([1, 1, 6], [1, 1, 64]),
    ([3, 1, 2], [33, 1, 1]),
    ([1, 1, 1], [1024, 1, 1]),
    ([2, 2, 2], [8, 16, 8]),
    ([300, 2, 1], [1, 1, 3]),
];

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::new("thread/indices", |rng| {
            let (grid, block) = ([0; 3], [0; 3]);
            let random = (
                grid.map(|_: u32| rng.random_range(1..6)),
                block.map(|_: u32| rng.random_range(1..10)),
            );
            SHAPES
                .into_iter()
                .chain([random])
                .map(|(grid, block)| indices(grid, block, rng))
                .collect()
        }),
        Trial::new("memory/spaces", |rng| {
            [0, 8, 4096].map(|bytes| spaces(bytes, rng)).into()
        }),
        Trial::new("warp/activemask", |rng| {
            (0..4).map(|_| activemask(rng)).collect()
        }),
    ]
}

/// All positions below `size`, x fastest.
fn positions(size: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..size[2])
        .flat_map(move |z| (0..size[1]).flat_map(move |y| (0..size[0]).map(move |x| [x, y, z])))
}

fn indices(grid: [u32; 3], block: [u32; 3], rng: &mut StdRng) -> Case {
    let mut words = Vec::new();
    let mut number = 0_u32;
    for block_index in positions(grid) {
        for (in_block, thread_index) in positions(block).enumerate() {
            let parts = [thread_index, block_index, block, grid].concat();
            words.extend(parts.iter().map(|&part| Word::Is(part.into())));
            let among_all: [u32; 3] =
                std::array::from_fn(|axis| block_index[axis] * block[axis] + thread_index[axis]);
            let [x, y, z] = among_all;
            let (lane, first) = (in_block as u32 % 32, u32::from(number == 0));
            let rest = [number, x, x, y, x, y, z, lane, first, 1];
            words.extend(rest.iter().map(|&part| Word::Is(part.into())));
            number += 1;
        }
    }
    Case {
        name: format!("grid {grid:?} block {block:?}"),
        launches: vec![Launch {
            grid,
            block,
            ..Launch::new("thread_indexes", 1, 1)
        }],
        input: vec![],
        output: sentinels(rng, words.len()),
        scratch_bytes: 0,
        expectation: Expectation::words(words, |i| {
            const PARTS: [&str; 4] = ["thread_idx", "block_idx", "block_dim", "grid_dim"];
            const REST: [&str; 10] = [
                "index",
                "index_1d",
                "index_2d.x",
                "index_2d.y",
                "index_3d.x",
                "index_3d.y",
                "index_3d.z",
                "lane_id",
                "first",
                "vector forms",
            ];
            let thread = i / kernel::OUTPUT;
            let part = i % kernel::OUTPUT;
            match part.checked_sub(12) {
                None => format!(
                    "thread {thread} {}.{}",
                    PARTS[part / 3],
                    ["x", "y", "z"][part % 3]
                ),
                Some(rest) => format!("thread {thread} {}", REST[rest]),
            }
        }),
    }
}

/// The address spaces of pointers to global, dynamic shared, static shared and local memory, their conversion
/// and back, and the size of shared memory. The size of both kinds together may be rounded up by the device.
fn spaces(bytes: u32, rng: &mut StdRng) -> Case {
    use conformance_kernels::memory::{GLOBAL, LOCAL, RETURNS, SHARED, STATIC_BYTES};
    const SURPLUS: u64 = 2048;
    let dynamic = u64::from(bytes);
    let pointers = [GLOBAL, SHARED, SHARED, LOCAL].map(|space| space | RETURNS);
    let least = dynamic + STATIC_BYTES;
    Case {
        name: format!("{bytes} bytes of dynamic shared memory"),
        launches: vec![Launch::new("memory_spaces", 1, 1).shared_bytes(bytes)],
        input: vec![],
        output: sentinels(rng, pointers.len() + 2),
        scratch_bytes: 0,
        expectation: Expectation::property(move |got| {
            let (spaces, sizes) = got.split_at(pointers.len());
            if spaces != pointers {
                return Err(format!(
                    "pointers to global, dynamic, static and local memory: expected {pointers:x?}, \
                     got {spaces:x?}"
                ));
            }
            if sizes[0] != dynamic || !(least..=least + SURPLUS).contains(&sizes[1]) {
                return Err(format!(
                    "shared memory, dynamic and in all: expected {dynamic} and at least {least} \
                     bytes, got {sizes:?}"
                ));
            }
            Ok(())
        }),
    }
}

/// The properties of `activemask` in a branch: it contains the lane itself, and no lane of the other branch.
fn activemask(rng: &mut StdRng) -> Case {
    const WARPS: usize = 8;
    let mut input = Vec::new();
    let mut branches = Vec::new();
    for warp in 0..WARPS {
        let odds: u32 = match warp {
            0 => u32::MAX,
            1 => 0xFFFF,
            2 => 0x5555_5555,
            3 => 1 << rng.random_range(0..32),
            _ => rng.random(),
        };
        for lane in 0..32 {
            let odd = odds >> lane & 1;
            let branch = if odd == 1 { odds } else { !odds };
            input.extend([odd.into(), u64::from(branch)]);
            branches.push((branch, u64::from(odd)));
        }
    }
    Case {
        name: "branches".into(),
        launches: vec![Launch::new("activemask", 1, 32 * WARPS as u32)],
        output: sentinels(rng, input.len()),
        input,
        scratch_bytes: 0,
        expectation: Expectation::property(move |got| {
            for (thread, &(branch, odd)) in branches.iter().enumerate() {
                let (mask, taken) = (got[2 * thread], got[2 * thread + 1]);
                let lane = thread % 32;
                if taken != odd || mask & !u64::from(branch) != 0 || mask >> lane & 1 == 0 {
                    return Err(format!(
                        "warp {} lane {lane}: branch {odd} of lanes {branch:#010x}, \
                         got branch {taken:#x} with activemask {mask:#x}",
                        thread / 32
                    ));
                }
            }
            Ok(())
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x_varies_fastest() {
        let all: Vec<_> = positions([2, 1, 2]).collect();
        assert_eq!(all, [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]]);
    }
}
