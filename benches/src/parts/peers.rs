//! The times of other libraries: CUB on the same device, PyTorch and CuPy in processes of their own.
//!
//! A peer that fails, or whose results are wrong, has no time but a note that says why.

use std::ffi::c_void;
use std::fs;

use anyhow::{Result, bail, ensure};
use rayon::prelude::*;
use serde_json::json;
use tempfile::NamedTempFile;
use warpfold::{Device, Element, Indexed};
use warpfold_results::parts::{Form, Row, Timed};
use warpfold_results::schema::{By, Peer};

use super::{ROUNDS, Record};
use crate::exact::median;
use crate::print_line;
use crate::sweep::data;
use crate::sweep::python::Python;

/// The rounds of a call that takes more than [`SLOW_US`].
const FEW_ROUNDS: usize = 3;

/// A call that takes more microseconds is slow.
const SLOW_US: f64 = 5e4;

impl Record {
    /// A peer, or `None` and its reason in the record.
    pub fn found<P>(&mut self, by: By, peer: Result<(P, String)>) -> Result<Option<P>> {
        let (peer, version, absent) = match peer {
            Ok((peer, version)) => (Some(peer), Some(version), None),
            Err(error) => (None, None, Some(format!("{error:#}"))),
        };
        let found = match (&version, &absent) {
            (Some(version), _) => version.clone(),
            (None, reason) => format!("absent: {}", reason.as_deref().unwrap_or_default()),
        };
        print_line(&format!("{}: {found}", by.title()))?;
        self.parts.peers.push(Peer {
            by,
            version,
            absent,
        });
        Ok(peer)
    }

    /// Adds a remark.
    pub fn note(&mut self, note: String) -> Result<()> {
        print_line(&note)?;
        self.parts.notes.push(note);
        Ok(())
    }

    /// Starts PyTorch and CuPy with these items.
    pub fn start_python(&mut self, device: &Device, items: &[f32]) -> Result<Vec<(By, Python)>> {
        let index = device.info().map_or(0, |info| info.index);
        let files = data::file(items).and_then(|file| Ok([file, NamedTempFile::new()?]));
        let files = files.map_err(|error| format!("{error:#}"));
        let mut started = vec![];
        for by in [By::Torch, By::Cupy] {
            let start = || {
                let files = files
                    .as_ref()
                    .map_err(|error| anyhow::Error::msg(error.clone()))?;
                // The process needs some array, but no flush of the caches.
                let mut python = Python::start(by, index, 4)?;
                python.load::<f32>(files)?;
                let version = python.version.clone();
                Ok((python, version))
            };
            started.extend(self.found(by, start())?.map(|python| (by, python)));
        }
        Ok(started)
    }

    /// Adds the median of a peer's times in microseconds to a row, or a note.
    pub fn timed(
        &mut self,
        row: &mut Row,
        by: By,
        form: Form,
        times: Result<Vec<f64>>,
    ) -> Result<()> {
        match times.map(median) {
            Ok(Some(us)) => row.peers.push(Timed { by, form, us }),
            Ok(None) => self.note(format!("{}, {}: no time", by.title(), name(row)))?,
            Err(error) => self.note(format!("{}, {}: {error:#}", by.title(), name(row)))?,
        }
        Ok(())
    }

    /// Times PyTorch and CuPy.
    pub fn time_python<A: Compared>(
        &mut self,
        python: &mut [(By, Python)],
        row: &mut Row,
        form: Form,
        asked: &Asked,
        right: &Right<A>,
    ) -> Result<()> {
        for (by, python) in python {
            if asked.is_in(*by, &row.op) {
                let times = in_python(python, &row.op, asked, right);
                self.timed(row, *by, form, times)?;
            }
        }
        Ok(())
    }
}

fn name(row: &Row) -> String {
    format!("{} {} {}", row.op, row.element, row.parts)
}

/// What a Python process reduces.
pub enum Asked<'a> {
    /// Segments by these offsets.
    Offsets(&'a [u32]),
    /// An array of this shape along these axes.
    Axes(&'a [usize], &'a [usize]),
}

impl Asked<'_> {
    /// Whether a library has a call for it.
    fn is_in(&self, by: By, op: &str) -> bool {
        match self {
            Self::Offsets(_) => (by, op) == (By::Torch, "sum"),
            Self::Axes(_, axes) => op == "sum" || axes.len() == 1,
        }
    }
}

/// The times in microseconds.
fn in_python<A: Compared>(
    python: &mut Python,
    op: &str,
    asked: &Asked,
    right: &Right<A>,
) -> Result<Vec<f64>> {
    let saved = NamedTempFile::new()?;
    let mut request = json!({
        "op": op, "save": saved.path(), "rounds": [ROUNDS, FEW_ROUNDS], "slow_us": SLOW_US,
    });
    let file;
    match asked {
        Asked::Offsets(offsets) => {
            file = data::file(offsets)?;
            request["offsets"] = json!(file.path());
        }
        Asked::Axes(shape, axes) => {
            request["shape"] = json!(shape);
            request["axes"] = json!(axes);
        }
    }
    let times = python.parts(&request)?;
    let bytes = fs::read(saved.path())?;
    let words = bytes.par_chunks_exact(size_of::<u32>());
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
    // In the worst case it adds one item after another.
    right.check(&words.map(word).collect::<Vec<_>>(), |len| len)?;
    Ok(times)
}

/// Times in microseconds of a call of CUB, which gets its temporary storage and the size of that. Without storage it must
/// only write the size.
pub fn time_cub(
    device: &Device,
    mut call: impl FnMut(*mut c_void, &mut usize) -> Result<()>,
) -> Result<Vec<f64>> {
    let mut bytes = 0;
    call(std::ptr::null_mut(), &mut bytes)?;
    let temp = device.alloc::<u32>(bytes.div_ceil(size_of::<u32>()).max(1))?;
    let mut times = vec![];
    // The first call loads the kernels.
    for round in 0..=ROUNDS {
        let ms = device.time(|| {
            call(temp.as_device_ptr() as *mut c_void, &mut bytes).map_err(warpfold::Error::other)
        })?;
        if round > 0 {
            times.push(ms * 1e3);
        }
        if times.len() == FEW_ROUNDS && ms * 1e3 > SLOW_US {
            break;
        }
    }
    Ok(times)
}

/// The length of the longest chain of additions in CUB's sum of `len` items: a block of 256 threads or more, each of which
/// adds a few items of a tile, or a scan over tiles.
pub fn chain_of_cub(len: usize) -> usize {
    len.min(len / 256 + 64)
}

/// The results that a peer must have.
pub struct Right<'a, A> {
    pub results: &'a [A],
    /// The number of items of each result. Items are from -1 to 1.
    pub len: &'a (dyn Fn(usize) -> usize + Sync),
}

impl<A: Compared> Right<'_, A> {
    /// An error unless the results in these words are near. `chain` is the length of the longest chain of additions in a
    /// sum of a number of items.
    ///
    /// The partials of a chain of c of n random items grow as a random walk, and so does the sum of their rounding errors:
    /// its standard deviation is about `EPSILON * sqrt(n * c) / 8`. The tolerance is 32 times that.
    pub fn check(&self, words: &[u32], chain: impl Fn(usize) -> usize + Sync) -> Result<()> {
        let count = self.results.len();
        let of_each = words.len() / count.max(1);
        ensure!(
            of_each > 0 && words.len() == of_each * count,
            "{} words for {count} results",
            words.len()
        );
        let got = words.par_chunks_exact(of_each);
        let is_wrong = |(i, (got, right)): &(usize, (&[u32], &A))| {
            let Some(right) = right.value() else {
                return false;
            };
            let len = (self.len)(*i);
            let tolerance = 4.0 * A::EPSILON * (len as f64 * chain(len) as f64).sqrt();
            // A NaN is not near.
            !A::of_words(got).is_some_and(|got| (got - right).abs() <= tolerance)
        };
        let wrong = got.zip(self.results).enumerate();
        if let Some((i, (got, right))) = wrong.find_first(is_wrong) {
            bail!(
                "result {i} of {} items is {:?} instead of {right:?}",
                (self.len)(i),
                A::of_words(got)
            );
        }
        Ok(())
    }
}

/// Accumulators that peers have too.
pub trait Compared: Element {
    /// The distance of 1 and the next number; 0 for indices, which must be equal.
    const EPSILON: f64;

    /// What a peer must have; `None` if that is not specified.
    fn value(&self) -> Option<f64>;

    /// A peer's result.
    fn of_words(words: &[u32]) -> Option<f64>;
}

impl Compared for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;

    fn value(&self) -> Option<f64> {
        Some((*self).into())
    }

    fn of_words(words: &[u32]) -> Option<f64> {
        match words {
            [word] => Some(f32::from_bits(*word).into()),
            _ => None,
        }
    }
}

impl Compared for f64 {
    const EPSILON: f64 = f64::EPSILON;

    fn value(&self) -> Option<f64> {
        Some(*self)
    }

    fn of_words(words: &[u32]) -> Option<f64> {
        match words {
            [low, high] => Some(f64::from_bits(u64::from(*high) << 32 | u64::from(*low))),
            _ => None,
        }
    }
}

/// A peer's results begin with the index.
impl Compared for Indexed<f32> {
    const EPSILON: f64 = 0.0;

    fn value(&self) -> Option<f64> {
        Some(self.index())
            .filter(|index| *index != u64::MAX)
            .map(|index| index as f64)
    }

    fn of_words(words: &[u32]) -> Option<f64> {
        words.first().map(|word| (*word).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<A: Compared>(results: &[A], words: &[u32], len: usize) -> Result<()> {
        let right = Right {
            results,
            len: &|_| len,
        };
        right.check(words, chain_of_cub)
    }

    #[test]
    fn sums_have_a_tolerance_and_indices_have_none() {
        let near = [1.0f32, 2.0f32.next_up()].map(f32::to_bits);
        check(&[1.0f32, 2.0], &near, 4).unwrap();
        let error = check(&[1.0f32, 2.001], &near, 4).unwrap_err().to_string();
        assert!(
            error.starts_with("result 1 of 4 items is Some(2.0"),
            "{error}"
        );
        assert!(check(&[1.0f32, f32::NAN], &near, 4).is_err());
        assert!(check(&[1.0f32], &near, 4).is_err());
        assert!(check(&[1.0f32, 2.0, 3.0], &near, 4).is_err());
        // A sum that lacks half of its items, of the size of a standard deviation.
        let half = (1u64 << 28) as f32;
        assert!(check(&[0.0f32], &[half.sqrt().to_bits()], 1 << 28).is_err());

        let bits = (0.1f64 + 0.2).to_bits();
        check(&[0.3f64], &[bits as u32, (bits >> 32) as u32], 2).unwrap();
        assert!(check(&[0.3f64], &[bits as u32], 2).is_err());

        let results = [Indexed::new(0.5f32, 7), Indexed::new(0.0, u64::MAX)];
        check(&results, &[7, 1], 9).unwrap();
        check(&results, &[7, 0.5f32.to_bits(), 1, 0], 9).unwrap();
        assert!(check(&results, &[8, 1], 9).is_err());
    }

    #[test]
    fn a_call_that_is_slow_has_few_rounds() {
        let mut calls = 0;
        let times = time_cub(&Device::cpu(), |temp, bytes| {
            *bytes = 100;
            calls += usize::from(!temp.is_null());
            Ok(())
        });
        assert_eq!((times.unwrap().len(), calls), (ROUNDS, ROUNDS + 1));
        let slow = |temp: *mut c_void, _: &mut usize| {
            if !temp.is_null() {
                std::thread::sleep(std::time::Duration::from_micros(SLOW_US as u64));
            }
            Ok(())
        };
        let times = time_cub(&Device::cpu(), slow).unwrap();
        assert_eq!(times.len(), FEW_ROUNDS);
        let failing = |_: *mut c_void, _: &mut usize| bail!("it fails");
        assert!(time_cub(&Device::cpu(), failing).is_err());
    }
}
