//! Which elements belong to which part.

use std::slice;

use warpfold::Error;
use warpfold::file::DType;

use crate::command::Session;
use crate::failure::Failure;
use crate::options::{By, PartOptions};
use crate::reading::Reading;
use crate::source::DefaultFormat;
use crate::sources::{Elements, Part, Sources};

/// The bytes of a result: an accumulator of up to 24 bytes, and an offset.
const RESULT_BYTES: u64 = 24 + 8;

/// The parts of an array.
pub enum Layout {
    /// Along these axes.
    Axes(Axes),
    /// Rows of this length, which is not 0.
    Rows(usize),
    /// Part `s` has the elements from `offsets[s]` to `offsets[s + 1]`. There is at least one offset, and none is smaller
    /// than the one before.
    Segments { file: String, offsets: Vec<u64> },
}

#[derive(Clone)]
pub struct Axes {
    shape: Vec<usize>,
    /// Whether the first index varies fastest.
    is_fortran: bool,
    axes: Vec<usize>,
    /// The number of kept axes in front of the first reduced one, along which the array is reduced in groups.
    outer: usize,
}

/// Elements that are loaded together.
pub struct Group {
    /// The number of elements in front of them that belong to no part.
    pub skipped: usize,
    pub items: usize,
    pub parts: Parts,
}

/// The parts of a group.
pub enum Parts {
    Axes {
        shape: Vec<usize>,
        /// None in C order.
        strides: Option<Vec<isize>>,
        axes: Vec<usize>,
        /// The number of items of each part.
        len: usize,
    },
    Rows(usize),
    /// Offsets in the group; the first is 0.
    Offsets(Vec<u64>),
}

impl Layout {
    pub fn of<'a>(
        options: &PartOptions,
        sources: &Sources<'a>,
        session: &mut Session<'a>,
    ) -> Result<Self, Failure> {
        match &options.by {
            By {
                axis: Some(axes), ..
            } => Ok(Self::Axes(Axes::of(axes, sources)?)),
            By {
                segments: Some(file),
                ..
            } => {
                check_order(sources, "--segments")?;
                let file = slice::from_ref(file);
                let offsets = session.find(file, DefaultFormat::Npy)?;
                let layout = Self::segments(offsets, sources.len);
                session.together("offsets", layout)
            }
            By { rows, .. } => {
                check_order(sources, "--rows")?;
                let len = rows.unwrap_or(0);
                let layout = Self::Rows(usize::try_from(len).unwrap_or(usize::MAX));
                layout.check_rows(sources.len.unwrap_or(0), &sources.name())?;
                Ok(layout)
            }
        }
    }

    fn segments(sources: Sources<'_>, n: Option<usize>) -> Result<Self, Failure> {
        let file = sources.name();
        if let [shape] = &sources.shapes[..]
            && shape.dims.len() != 1
        {
            return Err(Failure::OffsetShape {
                file,
                dims: shape.dims.len(),
            });
        }
        let offsets = match sources.dtype {
            DType::I32 => read(sources.elements::<i32>(), n),
            DType::U32 => read(sources.elements::<u32>(), n),
            DType::I64 => read(sources.elements::<i64>(), n),
            DType::U64 => read(sources.elements::<u64>(), n),
            holds => return Err(Failure::OffsetType { file, holds }),
        };
        match offsets {
            Ok(offsets) => Ok(Self::Segments { file, offsets }),
            Err(error @ (Error::Offset { .. } | Error::NoOffsets)) => Err(Failure::Parts {
                file,
                error: Box::new(error),
            }),
            // It names the file.
            Err(error) => Err(error.into()),
        }
    }

    /// An error unless rows divide the `n` elements of this file.
    fn check_rows(&self, n: usize, file: &str) -> Result<(), Failure> {
        match self {
            Self::Rows(len) if *len == 0 || !n.is_multiple_of(*len) => Err(Failure::Parts {
                file: file.into(),
                error: Box::new(Error::Rows {
                    items: n,
                    len: *len,
                }),
            }),
            _ => Ok(()),
        }
    }

    /// An error if an array that ends after `n` elements has a part that is incomplete.
    pub fn check_end(&self, n: usize, array: &str) -> Result<(), Failure> {
        let Self::Segments { file, offsets } = self else {
            return self.check_rows(n, array);
        };
        match offsets.iter().position(|offset| *offset > n as u64) {
            None => Ok(()),
            Some(index) => Err(Failure::Parts {
                file: file.clone(),
                error: Box::new(Error::Offset {
                    index,
                    value: offsets[index].into(),
                    before: index.checked_sub(1).map(|before| offsets[before].into()),
                    len: Some(n),
                }),
            }),
        }
    }

    /// The parts of rank `rank` of `size`, and their elements, of the `n` elements of the array; `None` if it has no parts.
    ///
    /// The results of all ranks, one rank after another, are those of all parts.
    pub fn of_rank(&self, rank: usize, size: usize, n: usize) -> Option<(Self, Part)> {
        match self {
            Self::Axes(axes) => {
                let (axes, part) = axes.of_rank(rank, size)?;
                Some((Self::Axes(axes), part))
            }
            Self::Rows(len) => {
                let rows = |rank| start(n / len, rank, size);
                let own = rows(rank) * len..rows(rank + 1) * len;
                (!own.is_empty()).then(|| (Self::Rows(*len), own.into()))
            }
            Self::Segments { file, offsets } => {
                // A segment costs its elements, and as much as one more.
                let cost = |segment: usize| offsets[segment] - offsets[0] + segment as u64;
                let all: Vec<u64> = (0..offsets.len()).map(cost).collect();
                let total = *all.last()? as usize;
                let cut = |rank| {
                    let before = start(total, rank, size) as u64;
                    all.partition_point(|cost| *cost < before)
                };
                let own = &offsets[cut(rank)..=cut(rank + 1)];
                let (first, last) = (*own.first()?, *own.last()?);
                let layout = || Self::Segments {
                    file: file.clone(),
                    offsets: own.iter().map(|offset| offset - first).collect(),
                };
                (own.len() > 1).then(|| (layout(), (first as usize..last as usize).into()))
            }
        }
    }

    /// The shape of the results, if it does not depend on the number of elements.
    pub fn shape(&self) -> Option<Vec<usize>> {
        match self {
            Self::Axes(axes) => Some(axes.kept(0)),
            Self::Rows(_) => None,
            Self::Segments { offsets, .. } => Some(vec![offsets.len() - 1]),
        }
    }

    /// The bytes of the largest group that cannot be divided, with its results.
    pub fn largest(&self, size: usize) -> u64 {
        match self {
            Self::Axes(axes) => bytes(axes.inner(), axes.results(), size),
            Self::Rows(len) => bytes(*len, 1, size),
            Self::Segments { offsets, .. } => bytes(longest(offsets), 1, size),
        }
    }

    /// What the largest group is, for an error.
    pub fn largest_name(&self, file: &str) -> String {
        match self {
            Self::Axes(Axes {
                is_fortran: true, ..
            }) => format!("reductions along axes of {file}, which is in Fortran order,"),
            Self::Axes(Axes { outer: 0, .. }) => {
                format!("reductions along the first axis of {file}")
            }
            Self::Axes(axes) => format!(
                "the {} elements of {file} that are reduced together",
                axes.inner()
            ),
            Self::Rows(len) => format!("rows of {len} elements"),
            Self::Segments { offsets, .. } => format!(
                "segments of {file} with up to {} elements",
                longest(offsets)
            ),
        }
    }

    /// The most elements of a group.
    pub fn longest_group(&self, size: usize, budget: u64, n: Option<usize>) -> usize {
        let most = usize::try_from(budget / size as u64).unwrap_or(usize::MAX);
        most.min(n.unwrap_or(usize::MAX))
    }

    /// The groups of at most `budget` bytes; without end for rows of an unknown number of elements.
    pub fn groups(
        &self,
        size: usize,
        budget: u64,
        n: Option<usize>,
    ) -> Box<dyn Iterator<Item = Group> + '_> {
        match self {
            Self::Axes(axes) => Box::new(axes.groups(size, budget)),
            Self::Rows(len) => {
                let rows = budget / bytes(*len, 1, size);
                let step = usize::try_from(rows).unwrap_or(usize::MAX).max(1) * len;
                let mut left = n.unwrap_or(usize::MAX);
                Box::new(std::iter::from_fn(move || {
                    let items = step.min(left);
                    left -= items;
                    (items > 0).then_some(Group {
                        skipped: 0,
                        items,
                        parts: Parts::Rows(*len),
                    })
                }))
            }
            Self::Segments { offsets, .. } => Box::new(segments(offsets, size, budget)),
        }
    }
}

/// The first index of rank `rank` of `size`, of `n` indices that are cut into nearly equal parts.
fn start(n: usize, rank: usize, size: usize) -> usize {
    (n as u128 * rank as u128 / size as u128) as usize
}

/// Groups of segments.
fn segments(offsets: &[u64], size: usize, budget: u64) -> impl Iterator<Item = Group> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (first, start) = (at, offsets[at]);
        let fits = |end: usize| {
            let items = (offsets[end] - start) as usize;
            bytes(items, end - first, size) <= budget
        };
        while at + 1 < offsets.len() && (at == first || fits(at + 1)) {
            at += 1;
        }
        (at > first).then(|| Group {
            skipped: if first == 0 { start as usize } else { 0 },
            items: (offsets[at] - start) as usize,
            parts: Parts::Offsets(offsets[first..=at].iter().map(|o| o - start).collect()),
        })
    })
}

/// The bytes of elements and results.
fn bytes(items: usize, results: usize, size: usize) -> u64 {
    let items = (items as u64).saturating_mul(size as u64);
    items.saturating_add((results as u64).saturating_mul(RESULT_BYTES))
}

/// The most elements of a segment.
fn longest(offsets: &[u64]) -> usize {
    let lens = offsets.windows(2).map(|pair| pair[1] - pair[0]);
    lens.max().unwrap_or(0) as usize
}

/// All offsets, or an error in them, for an array of `n` elements if that is known.
fn read<T: warpfold::Offset + Default + Into<i128>>(
    mut elements: Elements<'_, T>,
    n: Option<usize>,
) -> Result<Vec<u64>, Error> {
    let reading = Reading::new(None);
    let mut piece = vec![T::default(); 4096];
    let mut all: Vec<u64> = vec![];
    let most = n.map_or(u64::MAX, |n| n as u64);
    while let Some(n_read) = elements.read(&mut piece, &reading)? {
        for offset in &piece[..n_read] {
            let value: i128 = (*offset).into();
            let before = all.last().copied();
            match u64::try_from(value) {
                Ok(offset) if before.unwrap_or(0) <= offset && offset <= most => all.push(offset),
                _ => {
                    return Err(Error::Offset {
                        index: all.len(),
                        value,
                        before: before.map(Into::into),
                        len: n,
                    });
                }
            }
        }
    }
    match all.is_empty() {
        true => Err(Error::NoOffsets),
        false => Ok(all),
    }
}

/// An error if the elements of an array are not in C order.
fn check_order(sources: &Sources<'_>, option: &'static str) -> Result<(), Failure> {
    match sources.shapes.iter().all(|shape| shape.is_c_order()) {
        true => Ok(()),
        false => Err(Failure::FortranOrder {
            file: sources.name(),
            option,
        }),
    }
}

impl Axes {
    /// The axes of the only array, negative ones counted from the end.
    fn of(given: &[i64], sources: &Sources<'_>) -> Result<Self, Failure> {
        let file = sources.name();
        let array = match (&sources.shapes[..], sources.files()) {
            ([array], 1) => array,
            (_, 1) => return Err(Failure::NoShape { file }),
            _ => {
                let text = "--axis reduces one array: give one file, or --each";
                return Err(Failure::Usage(text.into()));
            }
        };
        let dims = array.dims.len();
        let mut axes = vec![];
        for axis in given {
            let from_end = if *axis < 0 { dims as i64 } else { 0 };
            let index = usize::try_from(axis.saturating_add(from_end));
            let Some(index) = index.ok().filter(|index| *index < dims) else {
                let axis = *axis;
                return Err(Failure::Axis { file, axis, dims });
            };
            if axes.contains(&index) {
                return Err(Failure::AxisTwice { file, axis: *axis });
            }
            axes.push(index);
        }
        let is_fortran = !array.is_c_order();
        let outer = match is_fortran {
            true => 0,
            false => axes.iter().min().copied().unwrap_or(dims),
        };
        Ok(Self {
            shape: array.dims.clone(),
            is_fortran,
            axes,
            outer,
        })
    }

    /// The lengths of the kept axes from axis `first` on.
    fn kept(&self, first: usize) -> Vec<usize> {
        let lens = self.shape.iter().enumerate().skip(first);
        let kept = lens.filter(|(axis, _)| !self.axes.contains(axis));
        kept.map(|(_, len)| *len).collect()
    }

    /// The elements of a group for one index of the outer axes.
    fn inner(&self) -> usize {
        product(&self.shape[self.outer..])
    }

    /// The results of such a group.
    fn results(&self) -> usize {
        product(&self.kept(self.outer))
    }

    /// As [`Layout::of_rank`]: a range of the indices of the first kept axis.
    fn of_rank(&self, rank: usize, size: usize) -> Option<(Self, Part)> {
        let dims = &self.shape;
        let is_cut = |axis: &usize| !self.axes.contains(axis) && dims[*axis] > 1;
        let Some(axis) = (0..dims.len()).find(is_cut) else {
            return (rank == 0).then(|| (self.clone(), (0..product(dims)).into()));
        };
        let (own, len) = (
            start(dims[axis], rank, size)..start(dims[axis], rank + 1, size),
            dims[axis],
        );
        let (before, behind) = (product(&dims[..axis]), product(&dims[axis + 1..]));
        // The elements between two indices of the axis, and how often all of its indices appear.
        let (inner, runs) = match self.is_fortran {
            true => (before, behind),
            false => (behind, before),
        };
        let part = Part {
            start: own.start * inner,
            run: own.len() * inner,
            gap: (len - own.len()) * inner,
            runs,
        };
        let mut shape = dims.clone();
        shape[axis] = own.len();
        let axes = Self {
            shape,
            ..self.clone()
        };
        (!own.is_empty()).then_some((axes, part))
    }

    /// The strides of an array in Fortran order.
    fn strides(&self) -> Vec<isize> {
        let mut stride = 1isize;
        let strides = self.shape.iter().map(|len| {
            let own = stride;
            stride = stride.saturating_mul(isize::try_from(*len).unwrap_or(isize::MAX));
            own
        });
        strides.collect()
    }

    fn groups(&self, size: usize, budget: u64) -> impl Iterator<Item = Group> + '_ {
        let (inner, indices) = (self.inner(), product(&self.shape[..self.outer]));
        let reduced = self.axes.iter().map(|axis| self.shape[*axis]);
        let len = product(&reduced.collect::<Vec<_>>());
        let whole = self.outer == 0 || inner == 0 || indices == 0;
        let step = match whole {
            true => 1,
            false => usize::try_from(budget / bytes(inner, self.results(), size))
                .unwrap_or(usize::MAX)
                .clamp(1, indices),
        };
        let groups = match whole {
            true => 1,
            false => indices.div_ceil(step),
        };
        (0..groups).map(move |group| {
            let count = step.min(indices - (group * step).min(indices));
            let (items, parts) = match whole {
                true => (
                    product(&self.shape),
                    Parts::Axes {
                        shape: self.shape.clone(),
                        strides: self.is_fortran.then(|| self.strides()),
                        axes: self.axes.clone(),
                        len,
                    },
                ),
                false => (
                    count * inner,
                    Parts::Axes {
                        shape: [&[count], &self.shape[self.outer..]].concat(),
                        strides: None,
                        axes: self.axes.iter().map(|axis| axis - self.outer + 1).collect(),
                        len,
                    },
                ),
            };
            Group {
                skipped: 0,
                items,
                parts,
            }
        })
    }
}

/// The product of lengths, which is at most the number of elements; 0 if one is 0.
fn product(lens: &[usize]) -> usize {
    match lens.contains(&0) {
        true => 0,
        false => lens.iter().copied().fold(1, usize::saturating_mul),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group_lens(layout: &Layout, budget: u64, n: Option<usize>) -> Vec<(usize, usize)> {
        let groups = layout.groups(4, budget, n).take(9);
        groups.map(|group| (group.skipped, group.items)).collect()
    }

    #[test]
    fn groups_have_whole_segments() {
        let layout = Layout::Segments {
            file: "a".into(),
            offsets: vec![5, 8, 8, 20, 21],
        };
        assert_eq!(layout.largest(4), 12 * 4 + RESULT_BYTES);
        let two = 3 * 4 + 2 * RESULT_BYTES;
        assert_eq!(group_lens(&layout, two, None), [(5, 3), (0, 12), (0, 1)]);
        assert_eq!(group_lens(&layout, two - 1, None)[0], (5, 3));
        assert_eq!(group_lens(&layout, 1 << 20, None), [(5, 16)]);
        let none = Layout::Segments {
            file: "a".into(),
            offsets: vec![3],
        };
        assert_eq!(group_lens(&none, 1 << 20, None), []);
    }

    #[test]
    fn groups_have_whole_rows() {
        let layout = Layout::Rows(10);
        let row = 40 + RESULT_BYTES;
        assert_eq!(
            group_lens(&layout, 3 * row, Some(70)),
            [(0, 30), (0, 30), (0, 10)]
        );
        assert_eq!(group_lens(&layout, 3 * row - 1, None), [(0, 20); 9]);
        assert_eq!(group_lens(&layout, 3 * row, Some(0)), []);
    }

    #[test]
    fn groups_have_whole_indices_of_the_outer_axes() {
        let axes = |shape: &[usize], axes: &[usize], is_fortran: bool| {
            Layout::Axes(Axes {
                shape: shape.into(),
                is_fortran,
                axes: axes.into(),
                outer: match is_fortran {
                    true => 0,
                    false => axes.iter().min().copied().unwrap(),
                },
            })
        };
        let layout = axes(&[2, 3, 4, 5], &[2], false);
        let one = 20 * 4 + 5 * RESULT_BYTES;
        assert_eq!(layout.largest(4), one);
        assert_eq!(group_lens(&layout, 4 * one, None), [(0, 80), (0, 40)]);
        let first = axes(&[2, 3, 4, 5], &[0], false);
        assert_eq!(group_lens(&first, 1, None), [(0, 120)]);
        assert_eq!(first.shape(), Some(vec![3, 4, 5]));
        let fortran = axes(&[2, 3, 4, 5], &[2], true);
        assert_eq!(group_lens(&fortran, 1, None), [(0, 120)]);
        // Without elements.
        assert_eq!(group_lens(&axes(&[2, 0], &[1], false), 1, None), [(0, 0)]);
        assert_eq!(group_lens(&axes(&[0, 2], &[1], false), 1, None), [(0, 0)]);
    }
}
