//! The part of an array that one of several ranks reads.

use std::ops::Range;

use warpfold::{Element, Error};

use crate::reading::Reading;
use crate::sources::Elements;

/// The elements of a window in which short runs are found.
const WINDOW: usize = 1 << 17;

/// Runs that lie closer together than so many bytes are read with what is between them: a disk reads whole pages.
const CLOSE: usize = 16 << 10;

/// Elements of an array: `runs` times `run` elements, with `gap` others in between, from `start` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub start: usize,
    pub run: usize,
    pub gap: usize,
    pub runs: usize,
}

impl From<Range<usize>> for Part {
    fn from(range: Range<usize>) -> Self {
        Self {
            start: range.start,
            run: range.len(),
            gap: 0,
            runs: 1,
        }
    }
}

impl Part {
    /// The number of its elements.
    pub fn len(&self) -> usize {
        self.run * self.runs
    }

    /// Those from the first to the last, and what is in between.
    fn extent(&self) -> usize {
        (self.len() + self.gap * self.runs).saturating_sub(self.gap)
    }
}

/// Reads a part from elements that are at its start.
pub struct PartReader<T> {
    part: Part,
    /// The elements of the current run that have not been read, and the number of runs behind it.
    left: usize,
    runs: usize,
    window: Option<Window<T>>,
}

/// Elements that have been read together.
struct Window<T> {
    elements: Vec<T>,
    unread: Range<usize>,
    /// The elements of the part's extent behind the window.
    behind: usize,
}

impl<T: Element + Default> PartReader<T> {
    pub fn new(part: Part) -> Self {
        let is_close = part.runs > 1 && (part.run + part.gap) * size_of::<T>() < CLOSE;
        Self {
            part,
            left: if part.runs > 0 { part.run } else { 0 },
            runs: part.runs.saturating_sub(1),
            window: is_close.then(|| Window {
                elements: vec![T::default(); WINDOW.min(part.extent())],
                unread: 0..0,
                behind: part.extent(),
            }),
        }
    }

    /// As [`Elements::read`], for the part.
    pub fn read(
        &mut self,
        from: &mut Elements<'_, T>,
        piece: &mut [T],
        reading: &Reading,
    ) -> Result<Option<usize>, Error> {
        let mut done = 0;
        while done < piece.len() {
            if self.left == 0 {
                if self.runs == 0 || self.part.run == 0 {
                    break;
                }
                self.pass(from, reading)?;
                (self.left, self.runs) = (self.part.run, self.runs - 1);
            }
            let len = self.left.min(piece.len() - done);
            let to = &mut piece[done..done + len];
            let read = match &mut self.window {
                Some(window) => window.read(from, to, reading)?,
                None => from.read_next(to, reading)?,
            };
            // A file that has become shorter.
            let Some(n) = read else { break };
            (done, self.left) = (done + n, self.left - n);
        }
        Ok((done > 0).then_some(done))
    }

    /// Passes over a gap.
    fn pass(&mut self, from: &mut Elements<'_, T>, reading: &Reading) -> Result<(), Error> {
        let mut gap = self.part.gap;
        let Some(window) = &mut self.window else {
            return from.skip(gap);
        };
        while gap > 0 && window.fill(from, reading)? {
            let passed = gap.min(window.unread.len());
            window.unread.start += passed;
            gap -= passed;
        }
        Ok(())
    }
}

impl<T: Element + Default> Window<T> {
    /// Reads further elements if there are none; returns whether there are some.
    fn fill(&mut self, from: &mut Elements<'_, T>, reading: &Reading) -> Result<bool, Error> {
        if self.unread.is_empty() {
            let len = self.elements.len().min(self.behind);
            let read = from.read_next(&mut self.elements[..len], reading)?;
            self.unread = 0..read.unwrap_or(0);
            self.behind -= self.unread.len();
        }
        Ok(!self.unread.is_empty())
    }

    fn read(
        &mut self,
        from: &mut Elements<'_, T>,
        to: &mut [T],
        reading: &Reading,
    ) -> Result<Option<usize>, Error> {
        if !self.fill(from, reading)? {
            return Ok(None);
        }
        let n = to.len().min(self.unread.len());
        to[..n].copy_from_slice(&self.elements[self.unread.start..][..n]);
        self.unread.start += n;
        Ok(Some(n))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::source::DefaultFormat;
    use crate::sources::Sources;

    #[test]
    fn parts_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let all: Vec<u32> = (0..200_000).collect();
        let bytes: Vec<u8> = all.iter().flat_map(|x| x.to_le_bytes()).collect();
        fs::write(&path, bytes).unwrap();
        let read = |part: Part, piece: usize| {
            let default = DefaultFormat::Raw(Some(warpfold::file::DType::U32));
            let sources = Sources::find(std::slice::from_ref(&path), default, &mut None);
            let mut elements = sources.unwrap().elements::<u32>();
            elements.only(part).unwrap();
            let reading = Reading::without_bar();
            let (mut piece, mut all) = (vec![0; piece], vec![]);
            while let Some(n) = elements.read(&mut piece, &reading).unwrap() {
                all.extend_from_slice(&piece[..n]);
            }
            assert_eq!(elements.n(), part.len());
            (all, reading.bytes())
        };
        assert_eq!(read((5..9).into(), 3), (vec![5, 6, 7, 8], 16));
        assert_eq!(read((7..7).into(), 3), (vec![], 0));
        for (run, gap, runs) in [
            (1, 1, 100_000),
            (3, 7, 19_000),
            (0, 5, 10),
            (4, 5, 0),
            (5000, 20_000, 7),
            (1, 9_999, 20),
            (199_999, 0, 1),
        ] {
            let part = Part {
                start: 1,
                run,
                gap,
                runs,
            };
            let elements = { 0..runs }.flat_map(|i| {
                let first = 1 + i * (run + gap);
                all[first..first + run].iter().copied()
            });
            let expected: Vec<u32> = elements.collect();
            for piece in [1000, 777] {
                let (got, bytes) = read(part, piece);
                assert_eq!(got, expected, "{part:?}");
                match (run + gap) * 4 < CLOSE {
                    true => assert!(bytes <= 4 * part.extent() as u64, "{part:?}: {bytes}"),
                    false => assert_eq!(bytes, 4 * part.len() as u64, "{part:?}"),
                }
            }
        }
    }
}
