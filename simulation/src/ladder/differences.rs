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
    pub fn describe_costs(&self) -> String {
        let costs = QUANTITIES.iter().filter_map(|quantity| {
            let is = (quantity.of)(self);
            (is > 0.0).then(|| format!("{} {}", quantity.name, short(is)))
        });
        format!("{}: {}", self.kernel, costs.collect::<Vec<_>>().join(", "))
    }

    /// Describes what is better than in `before`, and what is worse.
    pub fn describe_changes(&self, before: &Rung) -> String {
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
