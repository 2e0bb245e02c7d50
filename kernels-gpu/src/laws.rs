//! Tests of an operator's laws with random items: [`laws::check(&operator, strategy)`](check).
//!
//! A reduction groups the items by threads, warps, blocks and chunks. The result is right only if the operator
//! obeys these laws. This module also tests the library's own operators.
//!
//! | law | for all items | comparison |
//! |---|---|---|
//! | lift | `lift(x, i)` is the same each time | exact |
//! | identity | `combine(identity, a) == a == combine(a, identity)` | exact |
//! | commutativity, if [`COMMUTATIVE`](Op::COMMUTATIVE) is true | `combine(a, b) == combine(b, a)` | exact |
//! | associativity | `combine(combine(a, b), c) == combine(a, combine(b, c))` | close |
//! | absorb | `absorb(acc, rows, first)` equals `lift` and `combine` item by item, for the rows that kernels load | close |
//! | selection, if [`SELECTS`](Op::SELECTS) is true | the first item that no other [precedes](Op::precedes), lifted, equals `lift` and `combine` of all items | exact |
//! | offset | `offset(acc, by)` is the accumulator of the same items, lifted at indices larger by `by` | close |
//! | grouping | a list of up to 160 items gives the same from the left, from the right, by halves and in blocks; if the operator is commutative, also backwards and by strides | close |
//! | finish | `finish` and `empty` do not panic, and return the same each time | by `Debug` |
//!
//! *Exact* means number by number and bit by bit, with all NaNs equal. *Close* is also exact, unless the test
//! sets a [`tolerance`](Laws::tolerance) or a [`close`](Laws::close) function. For an operator that promises the same
//! bits in [any order](Op::ANY_ORDER), it is always exact. No function may panic; an
//! integer overflow panics in a test build.
//!
//! # Example
//!
//! In `tests/laws.rs` of a crate of kernels, with `kernels-gpu = { .., features = ["laws"] }` in the
//! `[dev-dependencies]`:
//!
//! ```
//! use kernels_gpu::laws::{self, Strategy};
//! use kernels_gpu::prelude::*;
//!
//! #[derive(Clone, Copy, Debug, PartialEq, Element)]
//! #[repr(C)]
//! struct Complex {
//!     re: f32,
//!     im: f32,
//! }
//!
//! /// The sum of the distances from a point.
//! #[derive(Clone, Copy, Debug, Value)]
//! #[repr(C)]
//! struct Distances {
//!     from: Complex,
//! }
//!
//! impl Op<Complex> for Distances {
//!     type Acc = f32;
//!     type Output = f32;
//!
//!     fn identity(&self) -> f32 {
//!         -0.0
//!     }
//!
//!     fn lift(&self, x: Complex, _index: u64) -> f32 {
//!         (x.re - self.from.re).hypot(x.im - self.from.im)
//!     }
//!
//!     fn combine(&self, a: f32, b: f32) -> f32 {
//!         a + b
//!     }
//!
//!     fn finish(&self, acc: f32) -> f32 {
//!         acc
//!     }
//! }
//!
//! let op = Distances { from: Complex { re: 1.0, im: 0.0 } };
//! let items = || (-1e3f32..1e3, -1e3f32..1e3).prop_map(|(re, im)| Complex { re, im });
//!
//! // Each addition rounds, so a float sum depends on the order.
//! laws::of(&op, items()).tolerance(1e-5).check();
//!
//! // Without a tolerance the check fails.
//! let broken = laws::of(&op, items()).try_check().unwrap_err();
//! assert!(broken.to_string().contains("`Distances` over `Complex` breaks the law of "));
//! ```
//!
//! # Associativity of floats
//!
//! - Every float operation rounds, so sums and products are associative only up to a tolerance, which the test
//!   must set. [`tolerance`](Laws::tolerance) fits sums, [`close`](Laws::close) other operators.
//! - If floats overflow, a tolerance does not help: `MAX + MAX - MAX` is infinite in one order and `MAX` in
//!   another. Test with items whose results stay finite.
//! - The identity of a float sum is `-0.0`, because `0.0 + -0.0` is `0.0`. If the sign of a zero does not
//!   matter, call [`zeros_equal`](Laws::zeros_equal).
//! - `f32::min` ignores a NaN, so combining the identity with a NaN loses the NaN. Test without NaNs, or let
//!   `lift` replace them.
//!
//! # When a test fails
//!
//! The message names the operator, its items, the law, both sides, and the smallest failing items that proptest
//! found. If a method panics, it names the call with its arguments and the location:
//! `combine(2147483647, 1) panicked at`.
//!
//! | environment variable | effect |
//! |---|---|
//! | `PROPTEST_RNG_SEED=n` | tests the same items again; the message contains `n` |
//! | `PROPTEST_CASES=n` | tests this many lists of items instead of 256, or of [`cases`](Laws::cases) |

mod called;
mod compare;
mod operator;
mod quiet;
mod trial;
mod values;

pub use proptest;
pub use proptest::strategy::Strategy;
pub use values::any;

use crate::element::name_of;
use crate::items::Items;
use crate::op::Op;
use called::Called;
use compare::{Close, Comparison};
use core::cell::Cell;
use core::fmt::{self, Debug};
use operator::List;
use proptest::collection::vec;
use proptest::prop_oneof;
use proptest::strategy::BoxedStrategy;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestCaseError, TestError, TestRunner};
use std::boxed::Box;
use std::format;
use std::hash::{BuildHasher, RandomState};
use std::string::String;
use std::vec::Vec;
use trial::{MOST_ITEMS, Trial};

/// Tests with random items that the operator obeys the [laws](self), exactly.
///
/// A range is a strategy (`0..1000i32`), and so is a pair of strategies. [`any`] generates all values of an
/// element, and [`Strategy::prop_map`] converts the items of another strategy.
///
/// ```
/// use kernels_gpu::{laws, op::{Dot, Max}};
///
/// laws::check(&Max, laws::any::<f32>());
/// laws::check(&Dot, (laws::any::<i32>(), -9..9i32));
/// ```
///
/// # Panics
///
/// If the operator breaks a law.
#[track_caller]
pub fn check<S, O>(op: &O, items: S)
where
    S: Strategy<Value: Items> + 'static,
    O: Op<S::Value, Output: Debug>,
{
    of(op, items).check();
}

/// The laws of the operator with options, to be [checked](Laws::check) with items of the strategy.
///
/// ```
/// use kernels_gpu::{laws, op::Sum};
///
/// laws::of(&Sum, -1e3..1e3f64).tolerance(1e-13).cases(100).check();
/// ```
pub fn of<S, O>(op: &O, items: S) -> Laws<S, O>
where
    S: Strategy<Value: Items> + 'static,
    O: Op<S::Value, Output: Debug>,
{
    Laws {
        op: *op,
        items,
        comparison: Comparison {
            close: Close::Exactly,
            zeros_equal: false,
        },
        config: Config::default(),
    }
}

/// The laws of an operator, and options of the check; made by [`of`].
#[must_use = "nothing is checked before `check`"]
pub struct Laws<S, O>
where
    S: Strategy<Value: Items> + 'static,
    O: Op<S::Value>,
{
    op: O,
    items: S,
    comparison: Comparison<O::Acc>,
    config: Config,
}

impl<S, O> Laws<S, O>
where
    S: Strategy<Value: Items> + 'static,
    O: Op<S::Value, Output: Debug>,
{
    /// Sets how accumulators in two orders are compared, unless the operator promises the same bits.
    fn set_close(&mut self, close: Close<O::Acc>) {
        if !O::ANY_ORDER {
            self.comparison.close = close;
        }
    }

    /// Allows floats to differ when the order of the items changes.
    ///
    /// Each float of an accumulator may differ by `tolerance` times the larger of two values: its own absolute
    /// value, and the sum of its absolute values in the lifted items.
    ///
    /// A sum of `n` items rounds `n - 1` times, each time by at most half of `EPSILON` of that scale, and a
    /// list has up to 160 items. So `1e-5` is safe for sums of `f32`, and `1e-13` for sums of `f64`. Integers,
    /// infinities and NaNs are still compared exactly.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.set_close(Close::Relative(tolerance));
        self
    }

    /// Sets the function that decides whether two accumulators of the same items are close enough. Accumulators
    /// that are exactly equal always are.
    ///
    /// ```
    /// use kernels_gpu::{laws, op::Product};
    ///
    /// laws::of(&Product, 0.5..2f64)
    ///     .close(|a, b| (a - b).abs() <= 1e-13 * a)
    ///     .check();
    /// ```
    pub fn close(mut self, close: impl Fn(O::Acc, O::Acc) -> bool + 'static) -> Self {
        self.set_close(Close::By(Box::new(close)));
        self
    }

    /// Treats `-0.0` and `0.0` as equal, in every law.
    pub fn zeros_equal(mut self) -> Self {
        self.comparison.zeros_equal = true;
        self
    }

    /// Sets the number of tested lists of items; the default is 256. The environment variable `PROPTEST_CASES`
    /// overrides it.
    pub fn cases(mut self, cases: u32) -> Self {
        if std::env::var_os("PROPTEST_CASES").is_none() {
            self.config.cases = cases;
        }
        self
    }

    /// Checks all laws.
    ///
    /// # Panics
    ///
    /// If the operator breaks a law.
    #[track_caller]
    pub fn check(self) {
        if let Err(broken) = self.try_check() {
            panic!("{broken}");
        }
    }

    /// Checks all laws, and returns the first law that fails.
    ///
    /// # Panics
    ///
    /// If the strategy rejects too many of its own values, so that the laws cannot be tested.
    pub fn try_check(self) -> Result<(), Broken> {
        let Self {
            op,
            items,
            comparison,
            config,
        } = self;
        let broken = Cell::new(None);
        let test = |items, first, by, gap| {
            let trial = Trial {
                list: Called(&List { op, items }),
                comparison: &comparison,
                first,
                by,
                gap,
            };
            trial.keeps_all(&broken)
        };
        let outcome = find_failure(config, items.boxed(), &test);
        match (outcome, broken.get()) {
            (Err(difference), Some(law)) => Err(Broken {
                law,
                text: format!(
                    "`{}` over `{}` breaks the law of {law}:\n{difference}",
                    name_of::<O>(),
                    name_of::<S::Value>()
                ),
            }),
            _ => Ok(()),
        }
    }
}

/// A test of items, the index of the first, and two distances for [`Trial`].
type Test<'a, I> = &'a dyn Fn(Vec<I>, u64, u64, u64) -> Result<(), String>;

/// Runs the test for random lists of items. `Err` is the message for the smallest failing list.
fn find_failure<I: Items + Debug>(
    config: Config,
    items: BoxedStrategy<I>,
    test: Test<'_, I>,
) -> Result<(), String> {
    let seed = match config.rng_seed {
        RngSeed::Fixed(seed) => seed,
        RngSeed::Random => RandomState::new().hash_one(0),
    };
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(seed),
        // Without optimisation, ChaCha would take most of the time.
        rng_algorithm: RngAlgorithm::XorShift,
        // The caller's source file is not known here.
        failure_persistence: None,
        max_shrink_iters: MOST_SHRINK_STEPS,
        ..config
    });
    // Some lists are long, and some indices need more than 32 bits.
    let lists = prop_oneof![3 => vec(items.clone(), 0..=8), 1 => vec(items, 0..=MOST_ITEMS)];
    let index = || (0..=40u32, 0..1u64 << 40).prop_map(|(bits, index)| index >> (40 - bits));
    let inputs = (lists, index(), index(), 0..10u64);
    let outcome = runner.run(&inputs, |(items, first, by, gap)| {
        test(items, first, by, gap).map_err(TestCaseError::fail)
    });
    match outcome {
        Ok(()) => Ok(()),
        Err(TestError::Fail(difference, (items, first, ..))) => Err(format!(
            "{difference}\n  items, the first at index {first}: {items:?}\n  \
             PROPTEST_RNG_SEED={seed} tries the same items again"
        )),
        Err(error) => panic!("the laws cannot be checked: {error}"),
    }
}

/// The maximum number of steps in the search for a smaller failing input.
const MOST_SHRINK_STEPS: u32 = 50_000;

/// A law of operators; see the table in the [module's documentation](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// `lift` depends only on the item and the index.
    Lift,
    /// The identity changes no accumulator.
    Identity,
    /// Two accumulators may be exchanged.
    Commutativity,
    /// Three accumulators may be grouped either way.
    Associativity,
    /// `absorb` equals `lift` and `combine`.
    Absorb,
    /// An operator that selects gives the item that precedes all others.
    Selection,
    /// `offset` moves the indices.
    Offset,
    /// A list may be grouped in any way.
    Grouping,
    /// Every accumulator can be finished.
    Finish,
}

impl Law {
    /// All laws, the simplest first.
    const ALL: [Self; 9] = [
        Self::Lift,
        Self::Identity,
        Self::Commutativity,
        Self::Associativity,
        Self::Absorb,
        Self::Selection,
        Self::Offset,
        Self::Grouping,
        Self::Finish,
    ];
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format!("{self:?}").to_lowercase())
    }
}

/// A law that an operator breaks, with the failing items in its text.
#[derive(Clone, Debug)]
pub struct Broken {
    law: Law,
    text: String,
}

impl Broken {
    /// The law.
    pub fn law(&self) -> Law {
        self.law
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl core::error::Error for Broken {}
