//! Every call by name over arrays for which a single-pass reduction uses its largest blocks. Some kernels
//! have too many registers for these.

use std::sync::Arc;

use libtest_mimic::{Completion, Trial};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use warpfold::{Device, Error, MeanVariance, Moments, Predicate};

use crate::lab::Lab;

/// Longer than the inputs for which the policy chooses smaller blocks.
const BYTES: usize = 33 << 20;

pub fn trials(lab: &Arc<Lab>) -> Vec<Trial> {
    macro_rules! trials {
        ($($element:ident)*) => {
            vec![$(lab.trial(concat!("long ", stringify!($element)), |lab, device| {
                let mut rng = StdRng::seed_from_u64(lab.seed);
                // Small whole numbers: all sums are exact in any order.
                let data: Vec<$element> = (0..BYTES / size_of::<$element>() + 3)
                    .map(|_| rng.random_range(0..3u8) as $element)
                    .collect();
                let answers = |device: &Device| -> Result<(String, [f64; 3]), Error> {
                    let buffer = device.upload(&data)?;
                    let x = buffer.view(1..)?;
                    let mut moments = device.alloc::<Moments>(1)?;
                    let mut scratch = device.scratch()?;
                    device.reduce_into(x, MeanVariance, &mut moments, 0, &mut scratch)?;
                    let exact = (
                        (device.sum_wide(x)?, device.product(x)?),
                        (device.min_max(x)?, device.argmin(x)?, device.argmax(x)?),
                        (device.norm_l1(x)?, device.norm_l2(x)?, device.dot(x, x)?),
                        (device.norm_inf(x)?, device.all(x)?, device.any(x)?),
                        device.count(x, Predicate::Less(1 as $element))?,
                        device.count(x, Predicate::Nonzero)?,
                    );
                    let (returned, stored) = (device.mean_variance(x)?, moments.download()?[0]);
                    let are_equal = returned.is_some_and(|returned| returned == stored);
                    let mean = device.mean(x)?.unwrap_or(f64::NAN);
                    Ok((
                        format!("{exact:?}, returned and stored moments are equal: {are_equal}"),
                        [mean, stored.mean(), stored.variance()],
                    ))
                };
                let (exact, rounded) = answers(device)?;
                let (expected, expected_rounded) = answers(&Device::cpu())?;
                // Moments are combined in another order.
                let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * b.abs();
                let mut pairs = rounded.iter().zip(&expected_rounded);
                if exact != expected || !pairs.all(near) {
                    let wrong = format!(
                        "{exact} and {rounded:?} instead of {expected} and {expected_rounded:?} \
                         (seed {})",
                        lab.seed
                    );
                    return Err(wrong.into());
                }
                Ok(Completion::Completed)
            })),*]
        };
    }
    trials!(i8 u8 i16 u16 i32 u32 i64 u64 f32 f64)
}
