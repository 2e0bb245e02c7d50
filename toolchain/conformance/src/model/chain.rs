//! Checks whether concurrent read-modify-writes of one address can have happened in some sequential order.
//!
//! Every operation is an edge from its old to its new value. The operations were atomic if and only if some
//! order leads from the initial value to the final one, where each operation starts at its predecessor's new
//! value: an Eulerian trail. A directed graph has one if every value is stored as often as it is found
//! (except for the two ends), and all edges are connected. The check is exact for every operation, type and
//! schedule.

/// One atomic operation: its old and its new value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The old value, as the operation returned it.
    pub found: u64,
    /// The value that the operation must have stored.
    pub left: u64,
}

/// Checks that `steps`, in some order, lead from `first` to `last`.
///
/// # Errors
/// A sentence that names a value where the chain breaks.
pub fn check(first: u64, last: u64, steps: &[Step]) -> Result<(), String> {
    let mut values = vec![first, last];
    values.extend(steps.iter().flat_map(|step| [step.found, step.left]));
    values.sort_unstable();
    values.dedup();
    let number = |value| values.partition_point(|&other| other < value);

    // How often each value was found, minus how often it was stored. The initial value counts as stored once,
    // and the final one as found once.
    let mut balance = vec![0_i64; values.len()];
    // Connected values have the same representative (union-find).
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
            "found more often than it was stored"
        } else {
            "overwritten without being found"
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

/// The representative of `value`; halves the path to it.
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
    fn increments_in_any_order() {
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
        // 1 -> 2 -> 1 -> 3, a chain that returns to an earlier value.
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
