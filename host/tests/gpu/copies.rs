//! Copies of every width and size, between arrays with equal and with different alignments, of any length.

use std::sync::Arc;

use libtest_mimic::{Completion, Failed, Trial};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{CopyWidth, Device, Element};

use crate::lab::Lab;

pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    CopyWidth::ALL
        .into_iter()
        .flat_map(|width| {
            let name = width.kernel_name();
            macro_rules! of {
                ($element:ty) => {
                    lab.trial(
                        format!("{name} {}", stringify!($element)),
                        move |lab, device| {
                            copies(lab, device, width, |rng| rng.random::<$element>())
                        },
                    )
                };
            }
            [
                of!(u8),
                of!(i16),
                of!(i32),
                of!(u64),
                of!([u8; 3]),
                of!([f32; 3]),
            ]
        })
        .collect()
}

fn copies<T: Element>(
    lab: &Lab,
    device: &Device,
    width: CopyWidth,
    element: fn(&mut StdRng) -> T,
) -> Result<Completion, Failed> {
    const LONGEST: usize = 3_000_001;
    const SPARE: usize = 16;
    let mut rng = StdRng::seed_from_u64(lab.seed);
    let source: Vec<T> = (0..LONGEST + SPARE).map(|_| element(&mut rng)).collect();
    let filling: Vec<T> = (0..LONGEST + SPARE).map(|_| element(&mut rng)).collect();
    let x = device.upload(&source)?;
    for n in [0, 1, 2, 3, 4, 5, 31, 1000, 270_336, LONGEST] {
        for from in [0, 1, 2, 3, 4, 7] {
            // Every offset for short arrays; one offset in turn for the others.
            let offsets = if n < 2000 { 0..8 } else { from..from + 1 };
            for at in offsets.map(|offset| (offset + n) % 8) {
                let mut y = device.upload(&filling[..at + n + 8])?;
                device
                    .copy(x.view(from..from + n)?, &mut y, at, width)?
                    .run()?;
                let after = y.download()?;
                let copied = after[at..at + n] == source[from..from + n];
                let unchanged =
                    after[..at] == filling[..at] && after[at + n..] == filling[at + n..at + n + 8];
                if !(copied && unchanged) {
                    let seed = lab.seed;
                    return Err(format!(
                        "{width:?} of {n} elements from {from} to {at}: copied: {copied}, others \
                         unchanged: {unchanged} (seed {seed})"
                    )
                    .into());
                }
            }
        }
    }
    Ok(Completion::Completed)
}
