//! Describes the differences of two rungs. All text is computed from the counters.

use cuda_sim::{InstructionKind, Space};

use super::Rung;

/// A quantity per 1000 elements that costs time, or saves it.
struct Quantity {
    name: &'static str,
    of: fn(&Rung) -> f64,
    more_is_better: bool,
}

const fn cost(name: &'static str, of: fn(&Rung) -> f64) -> Quantity {
    Quantity {
        name,
        of,
        more_is_better: false,
    }
}

const QUANTITIES: [Quantity; 9] = [
    cost("queue for global atomics", |rung| {
        rung.per_1000(rung.atomics(Space::Global).passes)
    }),
    cost("queue for shared atomics", |rung| {
        rung.per_1000(rung.atomics(Space::Shared).passes)
    }),
    cost("global loads", |rung| {
        rung.per_1000(rung.global_loads().requests)
    }),
    cost("shared requests", |rung| {
        rung.per_1000(rung.counters.shared().requests)
    }),
    Quantity {
        name: "lanes in a shared request",
        of: |rung| rung.counters.shared().lanes_per_request(),
        more_is_better: true,
    },
    cost("wavefronts", |rung| {
        rung.per_1000(rung.counters.shared().wavefronts)
    }),
    cost("bank conflicts", |rung| {
        rung.per_1000(rung.counters.shared().conflicts())
    }),
    cost("barriers", |rung| {
        rung.per_1000(rung.counters.of(InstructionKind::Barrier).requests)
    }),
    cost("shuffles", |rung| rung.per_1000(rung.exchanges())),
];

/// Smaller changes are not mentioned.
const NOTABLE: f64 = 0.05;

impl Rung {
    fn per_1000(&self, count: u64) -> f64 {
        1000.0 * count as f64 / self.elements as f64
    }

    /// Describes the costs of the lowest rung.
    pub(super) fn describe_costs(&self) -> String {
        let costs = QUANTITIES.iter().filter_map(|quantity| {
            let is = (quantity.of)(self);
            (is > 0.0).then(|| format!("{} {}", quantity.name, short(is)))
        });
        format!("{}: {}", self.kernel, costs.collect::<Vec<_>>().join(", "))
    }

    /// Describes what is better than in `before`, and what is worse.
    pub(super) fn describe_changes(&self, before: &Rung) -> String {
        let (mut better, mut worse) = (Vec::new(), Vec::new());
        for quantity in &QUANTITIES {
            let (was, is) = ((quantity.of)(before), (quantity.of)(self));
            // There is no mean if one of the two has no such instructions.
            let comparable = was.is_finite() && is.is_finite();
            if !comparable || (is - was).abs() <= NOTABLE * was.abs() {
                continue;
            }
            let change = format!("{} {} -> {}", quantity.name, short(was), short(is));
            if (is > was) == quantity.more_is_better {
                better.push(change);
            } else {
                worse.push(change);
            }
        }
        let mut text = format!("{} after {}:", self.kernel, before.kernel);
        for (verdict, changes) in [("better", better), ("worse", worse)] {
            if !changes.is_empty() {
                text += &format!(" {verdict}: {};", changes.join(", "));
            }
        }
        match text.strip_suffix(';') {
            Some(text) => text.into(),
            None => text + " all counters are equal",
        }
    }
}

fn short(value: f64) -> String {
    if value >= 100.0 || value == value.round() {
        format!("{value:.0}")
    } else {
        format!("{value:.1}")
    }
}

#[cfg(test)]
mod tests {
    use crate::ladder::Ladder;

    /// The description of a rung.
    fn describe(kernel: &str) -> String {
        let ladder = Ladder::new("sum", "i32", 256).unwrap();
        let place = |rung: &super::Rung| rung.kernel == kernel;
        let i = ladder.rungs().iter().position(place).unwrap();
        ladder.rungs()[i].describe_changes(ladder.before(i).unwrap())
    }

    #[test]
    fn each_rung_shows_what_it_mends() {
        let reduce_1 = describe("reduce_1");
        let (better, worse) = reduce_1.split_once("; worse: ").unwrap();
        assert!(
            better.starts_with("reduce_1 after reduce_0: better: "),
            "{better}"
        );
        assert!(better.contains("lanes in a shared request 6"), "{better}");
        assert!(worse.starts_with("bank conflicts 0 -> "), "{worse}");

        let reduce_2 = describe("reduce_2");
        assert!(
            reduce_2.contains("bank conflicts ") && reduce_2.contains(" -> 0"),
            "{reduce_2}"
        );
        assert!(!reduce_2.contains("worse"), "{reduce_2}");

        let reduce_4 = describe("reduce_4");
        assert!(
            reduce_4.contains("better: ") && reduce_4.contains("barriers"),
            "{reduce_4}"
        );
        assert!(reduce_4.ends_with("worse: shuffles 0 -> 9.8"), "{reduce_4}");

        let first = Ladder::new("sum", "i32", 64).unwrap().rungs()[0].describe_costs();
        assert_eq!(
            first,
            "reduce_naive: queue for global atomics 1000, global loads 31.2"
        );
    }

    #[test]
    fn what_is_not_counted_is_not_claimed() {
        let modulo = describe("reduce_0_modulo");
        assert_eq!(
            modulo,
            "reduce_0_modulo after reduce_0: all counters are equal"
        );
    }

    #[test]
    fn variants_stand_behind_their_rung() {
        let ladder = Ladder::new("sum", "i32", 32).unwrap();
        let names: Vec<_> = ladder.rungs().iter().map(|rung| rung.kernel).collect();
        let place = |kernel| names.iter().position(|name| *name == kernel).unwrap();
        assert_eq!(place("reduce_4_redux"), place("reduce_4") + 1);
        assert_eq!(place("reduce_5_x16"), place("reduce_5") + 5);
        assert_eq!(place("reduce_5_x2"), place("reduce_5") + 2);
        assert_eq!(place("reduce_naive"), 0);
        assert_eq!(names.last(), Some(&"read_ceiling"));
    }
}
