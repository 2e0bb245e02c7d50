//! Work on several threads.
//!
//! A function of rayon is compiled again, with some thirty others, for each closure that it calls. Every operator and element
//! has its own closures, so these functions hide them from rayon.

use rayon::prelude::*;

/// Calls both, perhaps on two threads, and returns their results.
pub(super) fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut a, mut b) = (Some(a), Some(b));
    let (mut of_a, mut of_b) = (None, None);
    both(&mut || of_a = a.take().map(|a| a()), &mut || {
        of_b = b.take().map(|b| b())
    });
    match (of_a, of_b) {
        (Some(a), Some(b)) => (a, b),
        _ => unreachable!("rayon calls both, and passes on a panic"),
    }
}

#[inline(never)]
fn both(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    rayon::join(a, b);
}

/// The results for all numbers below `number`, in order.
pub(super) fn map<A: Send>(number: usize, result: &(dyn Fn(usize) -> A + Sync)) -> Vec<A> {
    (0..number).into_par_iter().map(result).collect()
}

/// Cuts `all` into parts of `len` elements, the last of which may be shorter, and calls `work` with each and the number of
/// parts before it.
pub(super) fn for_each_part<T: Send>(
    all: &mut [T],
    len: usize,
    work: &(dyn Fn(usize, &mut [T]) + Sync),
) {
    all.par_chunks_mut(len)
        .enumerate()
        .for_each(|(number, part)| work(number, part));
}
