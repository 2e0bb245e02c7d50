//! Whether concurrent read-modify-writes of one address can have happened one
//! after another.
//!
//! Every operation is an edge from the value that it found to the value that it
//! left. They were atomic exactly when some order of them leads from the first
//! value of the address to its last, each starting where the one before ended:
//! an Eulerian trail. A directed graph has one when every value was left as often
//! as it was found (but for the two ends) and all edges hang together. The test
//! holds for every operation, type and schedule, with no tolerance.

use std::collections::HashMap;

/// One atomic operation: the value it found and the value it left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The old value, as the operation returned it.
    pub found: u64,
    /// What the operation must have stored.
    pub left: u64,
}

/// Checks that `steps`, in some order, lead from `first` to `last`.
///
/// # Errors
/// A sentence naming a value at which the chain breaks.
pub fn check(first: u64, last: u64, steps: &[Step]) -> Result<(), String> {
    // Times found minus times left. The address starts as if left once, and its
    // last value as if found once.
    let mut balance: HashMap<u64, i64> = HashMap::new();
    *balance.entry(first).or_default() -= 1;
    *balance.entry(last).or_default() += 1;
    for step in steps {
        *balance.entry(step.found).or_default() += 1;
        *balance.entry(step.left).or_default() -= 1;
    }
    if let Some((value, surplus)) = balance
        .iter()
        .filter(|(_, surplus)| **surplus != 0)
        .min_by_key(|(value, _)| **value)
    {
        let found = steps.iter().filter(|s| s.found == *value).count();
        let left = steps.iter().filter(|s| s.left == *value).count();
        let verdict = if *surplus > 0 {
            "found more often than it was there"
        } else {
            "overwritten unseen"
        };
        return Err(format!(
            "value {value:#x} was {verdict}: left by {left} and found by {found} of {} operations \
             (first value {first:#x}, last {last:#x})",
            steps.len()
        ));
    }

    let mut onward: HashMap<u64, Vec<u64>> = HashMap::new();
    for step in steps {
        onward.entry(step.found).or_default().push(step.left);
    }
    // In a balanced graph everything weakly connected is reachable from the start.
    let mut open = vec![first];
    let mut reached = 0;
    while let Some(value) = open.pop() {
        let next = onward.remove(&value).unwrap_or_default();
        reached += next.len();
        open.extend(next);
    }
    if reached == steps.len() {
        Ok(())
    } else {
        Err(format!(
            "{} of {} operations cannot be reached from the first value {first:#x}",
            steps.len() - reached,
            steps.len()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(pairs: &[(u64, u64)]) -> Vec<Step> {
        pairs
            .iter()
            .map(|&(found, left)| Step { found, left })
            .collect()
    }

    #[test]
    fn tickets_in_any_order() {
        assert_eq!(check(0, 3, &steps(&[(2, 3), (0, 1), (1, 2)])), Ok(()));
    }

    #[test]
    fn nothing_happened() {
        assert_eq!(check(5, 5, &[]), Ok(()));
        assert!(check(5, 6, &[]).is_err());
    }

    #[test]
    fn a_lost_update() {
        let error = check(0, 2, &steps(&[(0, 1), (0, 1), (1, 2)])).unwrap_err();
        assert!(error.contains("0x0 was found more often"), "{error}");
    }

    #[test]
    fn operations_that_change_nothing() {
        assert_eq!(
            check(4, 9, &steps(&[(9, 9), (4, 4), (4, 9), (9, 9)])),
            Ok(())
        );
    }

    #[test]
    fn the_same_value_twice() {
        // 1 -> 2 -> 1 -> 3, an exchange chain that comes back.
        assert_eq!(check(1, 3, &steps(&[(1, 3), (2, 1), (1, 2)])), Ok(()));
    }

    #[test]
    fn balanced_but_apart() {
        let error = check(1, 2, &steps(&[(1, 2), (7, 8), (8, 7)])).unwrap_err();
        assert!(error.contains("2 of 3 operations"), "{error}");
    }

    #[test]
    fn a_wrong_last_value() {
        assert!(check(0, 7, &steps(&[(0, 1), (1, 2)])).is_err());
    }
}
