//! The last tile alone.

use cuda_sim::{Buffer, Simulator};
use kernels_gpu::entry::Entry;
use kernels_gpu::runs::{Count, THREADS, Work, keys_of_tile};
use rand::RngExt;
use rand::rngs::StdRng;

use super::drawn::wanted;
use super::{EPOCH, Wrong};
use crate::launch::{Array, launch};

/// Whether the last tile adds the right counts of `in_front` tiles before it. One of them, any, has a sum: the tiles behind that one
/// only have counts, and those before it must not be added. The entry is the one for keys of type `u64`.
///
/// # Errors
///
/// What is wrong.
pub fn look_back(
    entry: &Entry,
    in_front: usize,
    random: &mut StdRng,
    simulator: Simulator,
) -> Result<(), Wrong> {
    let tile = keys_of_tile::<u64>();
    let with_sum = random.random_range(0..in_front);
    let keys: Vec<u64> = (0..in_front * tile + 100).map(|i| i as u64 / 7).collect();
    let n = keys.len();
    let mut words = vec![0; in_front + 1];
    let (mut before, mut sparse) = (0, 0);
    for (number, word) in words[..in_front].iter_mut().enumerate() {
        let starts = random.random_range(0..tile as u64);
        before += if number >= with_sum { starts } else { 0 };
        let sum = if number == with_sum { Work::SUM } else { 0 };
        let is_sparse = random.random_ratio(1, 2 * in_front as u32);
        let own = if is_sparse { Count::IS_SPARSE } else { 0 };
        sparse |= if number >= with_sum { own } else { 0 };
        *word = sum | EPOCH << Work::EPOCH_BIT | own | starts;
    }
    let memory: Buffer<u64> = Buffer::from(&keys);
    let unique: Buffer<u64> = Buffer::uninitialised(n);
    let (narrow, wide): (Buffer<u32>, Buffer<u64>) =
        (Buffer::from(&[]), Buffer::uninitialised(n + 1));
    let words: Buffer<u64> = Buffer::from(&words);
    let arrivals: Buffer<u32> = Buffer::from(&[in_front as u32]);
    let number: Buffer<u64> = Buffer::from(&[0]);
    let arrays = [
        Array::new("keys", memory.as_ptr(), n),
        Array::new("unique", unique.as_ptr(), n),
        Array::new("narrow", narrow.as_ptr(), 0),
        Array::new("wide", wide.as_ptr(), n + 1),
        Array::new("tiles", words.as_ptr(), words.len()),
        Array::new("arrivals", arrivals.as_ptr(), 1),
        Array::new("runs", number.as_ptr(), 1),
        Array::number("epoch", EPOCH),
    ];
    let simulator = simulator
        .grid(1)
        .block(THREADS)
        .dynamic_shared_memory(entry.needs.shared_bytes(THREADS, entry.acc_bytes));
    // SAFETY: the arrays exist, and have the lengths that the kernel requires. The block draws the last tile, and all
    // tiles in front have a count or a sum, which are less than the number of keys in front.
    unsafe { launch(entry, simulator, (), &arrays) }.map_err(Wrong::Findings)?;
    let (first, own) = (in_front * tile, &keys[in_front * tile..]);
    let mut wanted = wanted(own);
    // The tile may continue the run of the tile before.
    let continues = usize::from(own[0] == keys[first - 1]);
    wanted.offsets.drain(..continues);
    let runs = before + wanted.offsets.len() as u64 - 1;
    let (got, last) = (number.to_vec()[0], words.to_vec()[in_front]);
    let word = EPOCH << Work::EPOCH_BIT | sparse | runs;
    if got != word || last != Work::SUM | word {
        return Err(Wrong::Results(format!(
            "tile {with_sum} has the sum: {got:#x} runs and {last:#x} instead of {word:#x}"
        )));
    }
    for (run, offset) in wanted.offsets.iter().enumerate() {
        let at = before as usize + run;
        // SAFETY: the index is below `n + 1`, because a tile has fewer starts than keys. A wrong kernel may have left the
        // element uninitialised in the simulator's sense; the buffer's bytes have values all the same.
        let got = unsafe { wide.as_ptr().add(at).read() };
        if got != offset + first as u64 {
            return Err(Wrong::Results(format!("start {at} is {got}")));
        }
    }
    Ok(())
}
