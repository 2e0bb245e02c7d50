//! Medians and their intervals.

use std::cmp::Ordering;

use crate::schema::Time;

/// The median of sorted samples; `None` for no samples.
pub fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match (sorted.len() % 2, sorted.get(middle)) {
        (0, Some(upper)) => Some(f64::midpoint(sorted[middle - 1], *upper)),
        (_, middle) => middle.copied(),
    }
}

/// The 95 % interval of the median of sorted samples, by order statistics; `None` for no samples.
///
/// For any distribution, the true median lies in the interval with a probability of at least 95 %. Fewer than
/// six samples cannot give this; the interval then contains all of them.
pub fn interval(sorted: &[f64]) -> Option<(f64, f64)> {
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    let n = sorted.len();
    // The number of samples below the true median has a binomial distribution with probability 1/2. The
    // interval is from sample k to n - k + 1, for the largest k with P(fewer than k below it) <= 2.5 %.
    let (mut below, mut k) = (0.0, 0);
    // C(n, k) / 2^n by logarithms, because 2^-n underflows for thousands of samples.
    let mut log_probability = -(n as f64) * std::f64::consts::LN_2;
    while k < n / 2 {
        below += log_probability.exp();
        if below > 0.025 {
            break;
        }
        log_probability += ((n - k) as f64 / (k + 1) as f64).ln();
        k += 1;
    }
    match k {
        0 => Some((first, last)),
        k => Some((sorted[k - 1], sorted[n - k])),
    }
}

/// The statistics of samples, which must be in the order of measurement; `None` for no samples.
///
/// The row is unstable if the interval is wider than `spread_limit` times the median, or if the medians of
/// the two halves of the samples are further apart than that: a drift, which the interval does not show.
pub fn time(samples_us: &[f64], spread_limit: f64) -> Option<Time> {
    let mut sorted = samples_us.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median_us = median(&sorted)?;
    let interval_us = interval(&sorted)?;
    let spread_us = (interval_us.1 - interval_us.0).max(drift(samples_us));
    Some(Time {
        median_us,
        interval_us,
        min_us: sorted[0],
        max_us: sorted[sorted.len() - 1],
        // NaN is unstable as well.
        unstable: spread_us
            .partial_cmp(&(spread_limit * median_us))
            .is_none_or(Ordering::is_gt),
    })
}

/// The difference of the medians of the first and the second half of the samples; 0 for fewer than two.
fn drift(samples: &[f64]) -> f64 {
    let (first, second) = samples.split_at(samples.len() / 2);
    let median_of = |half: &[f64]| {
        let mut sorted = half.to_vec();
        sorted.sort_by(f64::total_cmp);
        median(&sorted)
    };
    match (median_of(first), median_of(second)) {
        (Some(first), Some(second)) => (first - second).abs(),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[2.5]), Some(2.5));
        assert_eq!(median(&[1.0, 2.0, 4.0, 100.0]), Some(3.0));
        assert_eq!(median(&[1.0, 5.0, 9.0]), Some(5.0));
    }

    /// The ranks from textbooks' tables of the two-sided sign test at 95 %.
    #[test]
    fn intervals_agree_with_published_tables() {
        let ranks = |n: usize| {
            let sorted: Vec<_> = (1..=n).map(|i| i as f64).collect();
            interval(&sorted).unwrap()
        };
        assert_eq!(ranks(5), (1.0, 5.0), "too few for 95 %");
        assert_eq!(ranks(6), (1.0, 6.0));
        assert_eq!(ranks(9), (2.0, 8.0));
        assert_eq!(ranks(10), (2.0, 9.0));
        assert_eq!(ranks(20), (6.0, 15.0));
        assert_eq!(ranks(50), (18.0, 33.0));
        assert_eq!(ranks(100), (40.0, 61.0));
        assert_eq!(interval(&[]), None);
        let (low, high) = ranks(100_000);
        assert!((low - 49_690.0).abs() < 2.0 && (high - 50_311.0).abs() < 2.0);
    }

    #[test]
    fn a_wide_interval_is_unstable() {
        let steady: Vec<_> = (0..100).map(|i| 100.0 + f64::from(i % 3) * 0.1).collect();
        assert!(!time(&steady, 0.02).unwrap().unstable);
        let two_values: Vec<_> = (0..100).map(|i| [100.0, 110.0][i % 2]).collect();
        assert!(time(&two_values, 0.02).unwrap().unstable);
        let outliers: Vec<_> = (0..100)
            .map(|i| if i % 10 == 0 { 900.0 } else { 100.0 })
            .collect();
        let time = time(&outliers, 0.02).unwrap();
        assert!(!time.unstable, "10 % outliers do not change the median");
        assert_eq!(
            (time.median_us, time.min_us, time.max_us),
            (100.0, 100.0, 900.0)
        );
    }

    #[test]
    fn a_drift_is_unstable_even_with_a_narrow_interval() {
        let steps = |second: f64| [[100.0; 80].as_slice(), &[second; 150]].concat();
        let drifts = time(&steps(103.0), 0.02).unwrap();
        assert_eq!(drifts.interval_us, (103.0, 103.0));
        assert!(drifts.unstable);
        assert!(!time(&steps(101.0), 0.02).unwrap().unstable);
        assert_eq!(
            (drift(&[]), drift(&[1.0]), drift(&[1.0, 3.0])),
            (0.0, 0.0, 2.0)
        );
        assert!(time(&[1.0, f64::NAN], 0.02).unwrap().unstable, "NaN");
    }

    /// Samples 101 to 196, each of one launch, of CUB's sum of 65,536 i32 with warm caches, in microseconds,
    /// from records/h200/2026-11-22. The gap between CUB's two kernels is longer in every second launch.
    #[rustfmt::skip]
    const SINGLE: [f64; 96] = [
        5.44, 6.46, 5.60, 6.62, 5.44, 6.46, 5.60, 6.62, 6.27, 7.42, 5.63, 6.50, 5.44, 6.46, 5.60, 6.78,
        5.44, 6.50, 5.76, 6.66, 6.56, 6.46, 5.60, 6.62, 5.60, 6.46, 6.43, 6.62, 5.60, 6.46, 6.72, 6.62,
        5.44, 6.43, 5.92, 6.62, 5.44, 6.46, 5.60, 6.78, 5.60, 6.59, 5.60, 6.62, 5.44, 6.46, 5.92, 6.62,
        5.44, 6.43, 5.63, 6.62, 5.44, 6.46, 5.76, 6.78, 5.60, 6.46, 5.63, 6.62, 5.44, 6.62, 5.63, 6.59,
        5.44, 6.46, 5.63, 6.62, 5.44, 6.46, 5.60, 6.62, 5.95, 6.46, 5.60, 7.10, 5.44, 6.46, 5.76, 6.78,
        5.47, 6.59, 5.60, 6.62, 5.76, 6.50, 5.60, 6.62, 5.60, 6.62, 5.76, 6.62, 5.44, 6.43, 5.95, 6.62,
    ];

    #[test]
    fn batches_are_stable_when_single_launches_alternate() {
        assert!(time(&SINGLE, 0.03).unwrap().unstable);
        let mean = |samples: &[f64]| samples.iter().sum::<f64>() / samples.len() as f64;
        let batches: Vec<_> = SINGLE.chunks(4).map(mean).collect();
        let time = time(&batches, 0.03).unwrap();
        assert!(!time.unstable, "{time:?}");
        assert!((time.median_us - mean(&SINGLE)).abs() < 0.1, "{time:?}");
    }
}
