//! What samples come to.

use std::cmp::Ordering;

use crate::schema::Time;

/// Sorted samples' median; `None` of none.
pub fn median(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match (sorted.len() % 2, sorted.get(middle)) {
        (0, Some(upper)) => Some(f64::midpoint(sorted[middle - 1], *upper)),
        (_, middle) => middle.copied(),
    }
}

/// The 95 % interval of the median of sorted samples, by order statistics: whatever the samples'
/// distribution, the true median lies between two of them with this probability at least. Fewer than
/// six samples have no such pair: then all of them. `None` of none.
///
/// The number of samples below the true median is binomial, of probability a half.
pub fn interval(sorted: &[f64]) -> Option<(f64, f64)> {
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    let n = sorted.len();
    // The largest k with P(fewer than k below the median) <= 2.5 %: samples k and n - k + 1, from 1.
    let (mut below, mut k) = (0.0, 0);
    // C(n, k) / 2^n by logarithms: a plain product has no range for thousands of samples.
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

/// What these samples come to, in microseconds and in the order in which they were taken; `None` of none.
///
/// Unstable is what is not known to within `spread_limit` of the median: where the interval is wider, and where the
/// medians of the first and the second half of the samples are further apart, which no interval shows.
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
        // No number is not to be relied on either.
        unstable: spread_us
            .partial_cmp(&(spread_limit * median_us))
            .is_none_or(Ordering::is_gt),
    })
}

/// How far the medians of the first and of the second half of the samples are apart; 0 of fewer than two.
fn drift(samples: &[f64]) -> f64 {
    let (first, second) = samples.split_at(samples.len() / 2);
    let of = |half: &[f64]| {
        let mut sorted = half.to_vec();
        sorted.sort_by(f64::total_cmp);
        median(&sorted)
    };
    match (of(first), of(second)) {
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

    /// The ranks of the table that textbooks print (two-sided, 95 %, sign test).
    #[test]
    fn intervals_are_those_of_the_tables() {
        let ranks = |n: usize| {
            let sorted: Vec<_> = (1..=n).map(|i| i as f64).collect();
            interval(&sorted).unwrap()
        };
        assert_eq!(ranks(5), (1.0, 5.0), "too few: all of them");
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
        assert!(!time.unstable, "the median is deaf to a tenth of outliers");
        assert_eq!(
            (time.median_us, time.min_us, time.max_us),
            (100.0, 100.0, 900.0)
        );
    }

    #[test]
    fn a_drift_is_unstable_whatever_the_interval() {
        let steps = |second: f64| [[100.0; 80].as_slice(), &[second; 150]].concat();
        let drifts = time(&steps(103.0), 0.02).unwrap();
        assert_eq!(drifts.interval_us, (103.0, 103.0), "which is narrow");
        assert!(drifts.unstable);
        assert!(!time(&steps(101.0), 0.02).unwrap().unstable);
        assert_eq!(
            (drift(&[]), drift(&[1.0]), drift(&[1.0, 3.0])),
            (0.0, 0.0, 2.0)
        );
        assert!(time(&[1.0, f64::NAN], 0.02).unwrap().unstable, "no number");
    }

    /// Of CUB's sum of 65,536 i32 with warm caches, in microseconds: samples 101 to 196, each a single launch, of the
    /// record of the H200 of 2026-11-22. What lies between its two kernels is longer every second time.
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
    fn batches_are_steady_where_single_launches_alternate() {
        assert!(time(&SINGLE, 0.03).unwrap().unstable);
        let mean = |samples: &[f64]| samples.iter().sum::<f64>() / samples.len() as f64;
        let batches: Vec<_> = SINGLE.chunks(4).map(mean).collect();
        let time = time(&batches, 0.03).unwrap();
        assert!(!time.unstable, "{time:?}");
        assert!((time.median_us - mean(&SINGLE)).abs() < 0.1, "{time:?}");
    }
}
