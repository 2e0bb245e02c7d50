//! Whether concurrent read-modify-writes of one address can have happened one
//! after another.
//!
//! Every operation is an edge from the value that it found to the value that it
//! left. They were atomic exactly when some order of them leads from the first
//! value of the address to its last, each starting where the one before ended:
//! an Eulerian trail. A directed graph has one when every value was left as often
//! as it was found (but for the two ends) and all edges hang together. The test
//! holds for every operation, type and schedule, with no tolerance.

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
    let mut values = vec![first, last];
    values.extend(steps.iter().flat_map(|step| [step.found, step.left]));
    values.sort_unstable();
    values.dedup();
    let number = |value| values.partition_point(|&other| other < value);

    // Times found minus times left. The address starts as if left once, and its last
    // value as if found once.
    let mut balance = vec![0_i64; values.len()];
    // Values that hang together point, over others, to the same one.
    let mut parents: Vec<usize> = (0..values.len()).collect();
    balance[number(first)] -= 1;
    balance[number(last)] += 1;
    for step in steps {
        let (found, left) = (number(step.found), number(step.left));
        balance[found] += 1;
        balance[left] -= 1;
        let (a, b) = (root(&mut parents, found), root(&mut parents, left));
        parents[a] = b;
    }

    if let Some(i) = balance.iter().position(|&surplus| surplus != 0) {
        let value = values[i];
        let found = steps.iter().filter(|step| step.found == value).count();
        let left = steps.iter().filter(|step| step.left == value).count();
        let verdict = if balance[i] > 0 {
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
    let start = root(&mut parents, number(first));
    let apart = steps
        .iter()
        .filter(|step| root(&mut parents, number(step.found)) != start)
        .count();
    if apart == 0 {
        Ok(())
    } else {
        Err(format!(
            "{apart} of {} operations cannot be reached from the first value {first:#x}",
            steps.len()
        ))
    }
}

/// The value that `value` points to in the end; halves the way on the way.
fn root(parents: &mut [usize], mut value: usize) -> usize {
    while parents[value] != value {
        parents[value] = parents[parents[value]];
        value = parents[value];
    }
    value
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
