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

/// What these samples come to, in microseconds; `None` of none. More than `spread_limit` of the median
/// from one end of the interval to the other is unstable.
pub fn time(samples_us: &[f64], spread_limit: f64) -> Option<Time> {
    let mut sorted = samples_us.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median_us = median(&sorted)?;
    let interval_us = interval(&sorted)?;
    let spread_us = interval_us.1 - interval_us.0;
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
}
