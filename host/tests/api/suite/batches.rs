//! Batch invariance: a segment has the same bits alone and among any others, at any place and alignment.

use kernels_sim::kernels::{Horner, KERNELS};
use libtest_mimic::Failed;
use rand::rngs::SmallRng;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use warpfold::{
    ArgMax, ArgMin, Axes, Device, Embedded, MeanVariance, Product, Sum, SumSquares, bf16, f16,
};

use super::Test;
use super::segments::{Drawn, bits};

pub fn tests() -> Vec<Test> {
    vec![Test::new("batches: the same bits alone", random_cases)]
}

/// The cases on all devices but simulated ones. A case is a segment in an array among others.
const CASES: usize = 10_000;

/// The segments of a round, each of which is reduced alone, and in some batches.
const SEGMENTS: usize = 25;

/// The batches of a round.
const BATCHES: usize = 4;

/// The most items of the others in a batch.
const MOST: usize = 1 << 18;

fn random_cases(device: &Device) -> Result<(), Failed> {
    let (cases, longest) = match device.info() {
        None => (CASES, 12.0),
        Some(info) if info.multiprocessors > 32 => (CASES, 15.0),
        Some(_) => (120, 8.0),
    };
    // A GPU has no machine code of this operator's kernels.
    static USERS: Embedded = Embedded {
        kernels: &KERNELS,
        arches: &[],
    };
    let with_users = match device.is_gpu() {
        true => None,
        false => Some(device.with(&USERS)?),
    };
    let mut done = 0;
    while done < cases {
        let seed = rand::random();
        let random = &mut SmallRng::seed_from_u64(seed);
        let round = Round { device, longest };
        let (kinds, users) = match &with_users {
            None => (0..9, round),
            Some(device) => (0..11, Round { device, longest }),
        };
        done += match random.random_range(kinds) {
            0 => round.check::<f32, _>(Sum, random),
            1 => round.check::<f64, _>(Sum, random),
            2 => round.check::<f16, _>(Sum, random),
            3 => round.check::<bf16, _>(Sum, random),
            4 => round.check::<f32, _>(ArgMax, random),
            5 => round.check::<f64, _>(ArgMin, random),
            6 => round.check::<f32, _>(MeanVariance, random),
            7 => round.check::<f32, _>(Product, random),
            8 => round.check::<bf16, _>(SumSquares, random),
            // It depends on the order and the index of every item.
            _ => users.check::<u32, _>(Horner { x: random.random() }, random),
        }
        .map_err(|wrong| format!("{} (seed {seed})", wrong.message().unwrap_or_default()))?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Round<'d> {
    device: &'d Device,
    /// The logarithm of the most items of a segment.
    longest: f64,
}

/// How a batch is reduced.
#[derive(Clone, Copy, Debug)]
enum By {
    Segments,
    Rows,
    Columns,
}

impl Round<'_> {
    /// Compares segments alone and in batches; the number of cases.
    fn check<T: Drawn, O: Axes<T>>(&self, op: O, random: &mut SmallRng) -> Result<usize, Failed> {
        let len = |random: &mut SmallRng| 2f64.powf(random.random_range(0.0..self.longest));
        let same = match random.random_range(0..3) {
            0 => Some(len(random) as usize),
            _ => None,
        };
        let len = |random: &mut SmallRng| match (same, random.random_range(0..3)) {
            (Some(len), _) => len,
            (None, 0) => random.random_range(0..9),
            (None, _) => len(random) as usize - 1,
        };
        let draw = |random: &mut SmallRng| items::<T>(len(random), random);
        let segments: Vec<Vec<T>> = (0..SEGMENTS).map(|_| draw(random)).collect();
        let alone = segments.iter().map(|segment| {
            let start = random.random_range(0..17);
            let batch = [segment.as_slice()];
            Ok(self
                .reduce(op, &batch, By::Segments, [start, 0], random)?
                .remove(0))
        });
        let alone: Vec<O::Acc> = alone.collect::<Result<_, Failed>>()?;
        let mut cases = 0;
        for _ in 0..BATCHES {
            let mut order: Vec<usize> = (0..SEGMENTS).collect();
            order.shuffle(random);
            order.truncate(random.random_range(1..=SEGMENTS));
            // Some others between them.
            let most = *[1, 3, 20].choose(random).expect("it is not empty");
            let mut others: Vec<Vec<T>> = vec![];
            let mut numbers: Vec<Option<usize>> = vec![];
            let mut left = MOST;
            for number in &order {
                for _ in 0..random.random_range(0..most) {
                    let other = draw(random);
                    let Some(less) = left.checked_sub(other.len()) else {
                        break;
                    };
                    left = less;
                    others.push(other);
                    numbers.push(None);
                }
                numbers.push(Some(*number));
            }
            let mut next = others.iter();
            let batch = numbers.iter().map(|number| match number {
                Some(number) => &segments[*number],
                None => next.next().expect("one for each that has no number"),
            });
            let batch: Vec<&[T]> = batch.map(Vec::as_slice).collect();
            let by = match (same, random.random_range(0..3)) {
                (Some(_), 0) => By::Rows,
                (Some(_), 1) => By::Columns,
                _ => By::Segments,
            };
            let starts = [random.random_range(0..17), random.random_range(0..9)];
            let got = self.reduce(op, &batch, by, starts, random)?;
            for (place, (got, number)) in got.iter().zip(&numbers).enumerate() {
                let Some(number) = *number else { continue };
                cases += 1;
                if bits(*got) != bits(alone[number]) {
                    return Err(format!(
                        "{} of {} items: {got:?} as number {place} of {} {by:?} from {starts:?}, but {:?} alone",
                        <O as Axes<T>>::ENTRIES[0].name,
                        segments[number].len(),
                        batch.len(),
                        alone[number],
                    )
                    .into());
                }
            }
        }
        Ok(cases)
    }

    /// The accumulators of a batch in a view that starts with item `starts[0]` of its memory. Segments are behind `starts[1]`
    /// other items.
    fn reduce<T: Drawn, O: Axes<T>>(
        &self,
        op: O,
        batch: &[&[T]],
        by: By,
        starts: [usize; 2],
        random: &mut SmallRng,
    ) -> Result<Vec<O::Acc>, Failed> {
        let (device, count) = (self.device, batch.len());
        let mut output = device.alloc::<O::Acc>(count)?;
        let [start, before] = starts;
        let mut memory = items::<T>(start, random);
        match by {
            By::Segments => {
                memory.extend(items::<T>(before, random));
                let mut offsets = vec![before as u32];
                for segment in batch {
                    memory.extend(*segment);
                    offsets.push((memory.len() - start) as u32);
                }
                memory.extend(items::<T>(before / 2, random));
                let (x, offsets) = (device.upload(&memory)?, device.upload(&offsets)?);
                let mut scratch = device.segment_scratch()?;
                let x = x.view(start..)?;
                device.reduce_segments_into(x, &offsets, op, &mut output, &mut scratch)?;
                scratch.check(&offsets)?;
            }
            By::Rows => {
                memory.extend(batch.concat());
                let (x, mut scratch) = (device.upload(&memory)?, device.segment_scratch()?);
                let (x, len) = (x.view(start..)?, batch[0].len());
                device.reduce_rows_into(x, len, op, &mut output, &mut scratch)?;
            }
            By::Columns => {
                let len = batch[0].len();
                let item = |i: usize| batch[i % count][i / count];
                memory.extend((0..len * count).map(item));
                let (x, mut scratch) = (device.upload(&memory)?, device.axis_scratch()?);
                let x = x.view(start..)?;
                let shape = [len, count];
                device.reduce_axis_into(x, &shape, &[0], op, &mut output, &mut scratch)?;
            }
        }
        Ok(device.download(&output)?)
    }
}

/// Random items, of which many are equal in some segments.
fn items<T: Drawn>(len: usize, random: &mut SmallRng) -> Vec<T> {
    let few: Vec<T> = (0..random.random_range(1..20))
        .map(|_| T::drawn(random))
        .collect();
    let has_few = random.random_range(0..4) == 0;
    let item = |random: &mut SmallRng| match has_few {
        true => *few.choose(random).expect("at least one"),
        false => T::drawn(random),
    };
    (0..len).map(|_| item(random)).collect()
}
