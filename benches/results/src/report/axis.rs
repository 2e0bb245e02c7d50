//! The axes of a line chart and the units of its heights.

use std::ops::Range;

use plotters::coord::ranged1d::{BoldPoints, DefaultFormatting, KeyPointHint};
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;

/// The largest number of marks on an axis of speeds.
pub const HEIGHTS: usize = 7;

/// The unit of the vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// On a linear scale that begins at 0.
    GbPerS,
    /// Microseconds, on a logarithmic scale.
    Us,
    /// Errors in units in the last place, on a logarithmic scale whose lowest mark is 0.
    Ulps,
}

/// The coordinate of an error of 0, far enough below those of all others, which are at least half an ulp.
const NO_ERROR: f64 = -2.0;

impl Unit {
    pub fn name(self) -> &'static str {
        match self {
            Unit::GbPerS => "GB/s",
            Unit::Us => "us",
            Unit::Ulps => "ulps",
        }
    }

    /// The label at a coordinate of the axis.
    pub fn label(self, coordinate: f64) -> String {
        match self {
            Unit::GbPerS => ((coordinate * 1e6).round() / 1e6).to_string(),
            // Two digits are enough for the marks.
            Unit::Us => {
                let us = 10f64.powf(coordinate);
                let digit = 10f64.powf(1.0 - us.log10().floor());
                ((us * digit).round() / digit).to_string()
            }
            Unit::Ulps if coordinate < 0.0 => "0".into(),
            Unit::Ulps => match coordinate.round() {
                power @ ..4.0 => 10f64.powf(power).round().to_string(),
                power => format!("1e{power}"),
            },
        }
    }

    /// The coordinate of a height on the axis.
    pub fn coordinate(self, height: f64) -> f64 {
        match self {
            Unit::GbPerS => height,
            Unit::Us => height.log10(),
            Unit::Ulps => height.log10().max(NO_ERROR),
        }
    }

    /// The marks of the axis.
    pub fn marked(self) -> Marked {
        match self {
            Unit::GbPerS => Marked::Even,
            Unit::Us => Marked::Tens,
            Unit::Ulps => Marked::Errors,
        }
    }

    /// A sentence for the caption of a chart.
    pub fn caption(self) -> &'static str {
        match self {
            Unit::GbPerS => "Bandwidth against the number of elements.",
            Unit::Us => {
                "Time against the number of elements, both on logarithmic scales. The lowest possible time is \
                 that of the empty kernel."
            }
            Unit::Ulps => {
                "Error against the number of elements, both on logarithmic scales. The lowest mark is no error."
            }
        }
    }

    /// The coordinates of the ends of the axis for these heights.
    pub fn axis(self, heights: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
        let most = heights.clone().map(|height| self.coordinate(height));
        let most = most.fold(f64::NEG_INFINITY, f64::max);
        match self {
            // The scale must not be empty.
            Unit::GbPerS => (0.0, most.max(1e-6) * 1.06),
            Unit::Us => {
                let least = heights.map(|height| self.coordinate(height));
                let least = least.fold(f64::INFINITY, f64::min);
                (least - 0.1, most + 0.1)
            }
            Unit::Ulps => (NO_ERROR - 0.4, most.max(0.0) + 0.4),
        }
    }
}

/// An axis with its marks.
#[derive(Clone)]
pub struct Axis {
    range: Range<f64>,
    axis: RangedCoordf64,
    marked: Marked,
}

#[derive(Clone, Copy)]
pub enum Marked {
    /// Up to ten whole numbers.
    Whole,
    /// The marks that plotters chooses.
    Even,
    /// No error, and powers of ten.
    Errors,
    /// On a logarithmic axis: powers of ten; on a short axis also 2 and 5 times these, or all multiples.
    Tens,
}

impl Axis {
    pub fn of(range: Range<f64>, marked: Marked) -> Self {
        Self {
            axis: range.clone().into(),
            range,
            marked,
        }
    }

    pub fn marks(&self) -> Vec<f64> {
        let Range { start, end } = self.range;
        match self.marked {
            Marked::Whole => {
                let step = ((end - start) / 10.0).ceil().max(1.0) as usize;
                let whole = start.ceil() as i32..=end.floor() as i32;
                whole.step_by(step).map(f64::from).collect()
            }
            Marked::Even => self.axis.key_points(BoldPoints(HEIGHTS)),
            Marked::Errors => {
                let step = (end / 8.0).ceil().max(1.0) as usize;
                let powers = (0..=end.floor() as i32).step_by(step);
                let powers = powers.map(f64::from);
                std::iter::once(NO_ERROR).chain(powers).collect()
            }
            Marked::Tens => {
                let factors: &[f64] = match end - start {
                    ..0.7 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
                    ..3.0 => &[1.0, 2.0, 5.0],
                    _ => &[1.0],
                };
                let step = ((end - start) / 10.0).ceil().max(1.0) as usize;
                let powers = (start.floor() as i32..=end.floor() as i32).step_by(step);
                let marks = powers.flat_map(|power| {
                    let factors = factors.iter();
                    factors.map(move |factor| f64::from(power) + factor.log10())
                });
                marks.filter(|mark| (start..=end).contains(mark)).collect()
            }
        }
    }
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, coordinate: &f64, limit: (i32, i32)) -> i32 {
        self.axis.map(coordinate, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.marks()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_of_times_have_powers_of_ten() {
        let labels = |low: f64, high: f64| {
            let axis = Axis::of(low.log10()..high.log10(), Marked::Tens);
            let marks = axis.marks().into_iter().map(|mark| Unit::Us.label(mark));
            marks.collect::<Vec<_>>()
        };
        assert_eq!(labels(1.2, 70.0), ["2", "5", "10", "20", "50"]);
        assert_eq!(labels(0.5, 2e4), ["1", "10", "100", "1000", "10000"]);
        assert_eq!(labels(3.1, 8.2), ["4", "5", "6", "7", "8"]);
        assert_eq!(labels(0.011, 0.024), ["0.015", "0.02"]);
        assert!(labels(1e-9, 1e9).len() <= 10);
    }

    #[test]
    fn an_axis_of_times_has_margins() {
        let (low, high) = Unit::Us.axis([10.0, 100.0].into_iter());
        assert!(low < 1.0 && high > 2.0 && high - low < 1.5);
        let (low, high) = Unit::Us.axis([7.0].into_iter());
        assert!(low < high, "a single time");
        assert_eq!(Unit::GbPerS.axis([0.0].into_iter()).0, 0.0);
    }

    #[test]
    fn an_axis_of_errors_begins_with_none() {
        let labels = |most: f64| {
            let (low, high) = Unit::Ulps.axis([0.0, most].into_iter());
            let axis = Axis::of(low..high, Unit::Ulps.marked());
            let marks = axis.marks().into_iter();
            marks.map(|mark| Unit::Ulps.label(mark)).collect::<Vec<_>>()
        };
        assert_eq!(labels(0.0), ["0", "1"]);
        assert_eq!(labels(2e4), ["0", "1", "10", "100", "1000", "1e4"]);
        assert_eq!(labels(3e11), ["0", "1", "100", "1e4", "1e6", "1e8", "1e10"]);
        assert_eq!(Unit::Ulps.coordinate(0.0), Unit::Ulps.coordinate(1e-3));
    }
}
