//! `kernels_gpu::laws` finds operators that break a law, and its message explains the failure.

use kernels_gpu::laws::proptest::sample::select;
use kernels_gpu::laws::proptest::strategy::{Just, ValueTree};
use kernels_gpu::laws::proptest::test_runner::TestRunner;
use kernels_gpu::laws::{self, Broken, Law, Strategy};
use kernels_gpu::prelude::*;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// An operator whose results are its accumulators.
macro_rules! operator {
    ($op:ident: $item:ty => $acc:ty, $identity:expr, $lift:expr, $combine:expr; $($more:item)*) => {
        #[derive(Clone, Copy, Debug, Value)]
        struct $op;

        impl Op<$item> for $op {
            type Acc = $acc;
            type Output = $acc;

            fn identity(&self) -> $acc {
                $identity
            }

            fn lift(&self, item: $item, index: u64) -> $acc {
                let lift: fn($item, u64) -> $acc = $lift;
                lift(item, index)
            }

            fn combine(&self, a: $acc, b: $acc) -> $acc {
                let combine: fn($acc, $acc) -> $acc = $combine;
                combine(a, b)
            }

            fn finish(&self, acc: $acc) -> $acc {
                acc
            }

            $($more)*
        }
    };
}

mod selection;

/// The message without its last line, which contains the seed.
fn message(broken: &Broken) -> String {
    let text = broken.to_string();
    let (message, seed) = text.rsplit_once('\n').expect("several lines");
    let seed = seed.trim().strip_prefix("PROPTEST_RNG_SEED=");
    assert!(seed.is_some_and(|seed| seed.ends_with(" tries the same items again")));
    message.to_owned()
}

/// Asserts that the operator breaks this law, with one of these messages.
#[track_caller]
fn assert_breaks(result: Result<(), Broken>, law: Law, messages: &[&str]) {
    let broken = result.expect_err("a law is broken");
    assert_eq!(broken.law(), law, "{broken}");
    let message = message(&broken);
    assert!(messages.contains(&&*message), "{message}");
}

static LIFTED: AtomicU64 = AtomicU64::new(0);
operator!(Counting: u8 => u64, 0, |_, _| LIFTED.fetch_add(1, Relaxed), |a, b| a.wrapping_add(b););

#[test]
fn lift_with_a_state_of_its_own_is_caught() {
    let broken = laws::of(&Counting, 0..9u8).try_check().unwrap_err();
    assert_eq!(broken.law(), Law::Lift);
    let text = message(&broken);
    assert!(
        text.starts_with("`Counting` over `u8` breaks the law of lift:\n  lift(x, i) = "),
        "{text}"
    );
    assert!(
        text.ends_with("\n  items, the first at index 0: [0]"),
        "{text}"
    );
}

operator!(MaxAboveZero: i32 => i32, 0, |x, _| x, |a, b| a.max(b););

#[test]
fn a_wrong_identity_is_caught() {
    let result = laws::of(&MaxAboveZero, -100..100).try_check();
    let message = "`MaxAboveZero` over `i32` breaks the law of identity:
  combine(identity, a) = 0
  a = -1
  identity = 0
  items, the first at index 0: [-1]";
    assert_breaks(result, Law::Identity, &[message]);
}

operator!(Last: u32 => u32, 0, |x, _| x, |a, b| if b == 0 { a } else { b };);

#[test]
fn a_wrong_claim_to_be_commutative_is_caught() {
    let message = |x: u32, y: u32| {
        format!(
            "`Last` over `u32` breaks the law of commutativity:
  combine(a, b) = {y}
  combine(b, a) = {x}
  a = {x}
  b = {y}
  items, the first at index 0: [{x}, {y}]"
        )
    };
    let result = laws::of(&Last, 1..3u32).try_check();
    let messages = [message(1, 2), message(2, 1)];
    assert_breaks(result, Law::Commutativity, &[&messages[0], &messages[1]]);
}

operator!(LastInOrder: u32 => u32, 0, |x, _| x, |a, b| if b == 0 { a } else { b };
    const COMMUTATIVE: bool = false;
);

#[test]
fn an_operator_that_is_not_commutative_need_not_be() {
    laws::check(&LastInOrder, 0..100u32);
}

// Declared as not commutative, so that only adjacent items are combined.
operator!(Saturating: i8 => i8, 0, |x, _| x, |a, b| a.saturating_add(b);
    const COMMUTATIVE: bool = false;
);

#[test]
fn an_operator_that_is_not_associative_is_caught() {
    let message = |[x, y, z]: [i8; 3], left: i8, right: i8| {
        format!(
            "`Saturating` over `i8` breaks the law of associativity:
  combine(combine(a, b), c) = {left}
  combine(a, combine(b, c)) = {right}
  a = {x}
  b = {y}
  c = {z}
  items, the first at index 0: [{x}, {y}, {z}]"
        )
    };
    let messages = [
        message([100, 100, -100], 27, 100),
        message([-100, 100, 100], 100, 27),
    ];
    let result = laws::of(&Saturating, select(vec![100i8, -100])).try_check();
    assert_breaks(result, Law::Associativity, &[&messages[0], &messages[1]]);
    // Integers are compared exactly, whatever the tolerance for floats.
    let tolerant = laws::of(&Saturating, select(vec![100i8, -100])).tolerance(1e9);
    assert_breaks(
        tolerant.try_check(),
        Law::Associativity,
        &[&messages[0], &messages[1]],
    );
}

#[test]
fn an_overflow_is_caught_with_its_line() {
    operator!(Overflowing: i32 => i32, 0, |x, _| x, |a, b| a + b;);
    let result = laws::of(&Overflowing, select(vec![0, i32::MAX])).try_check();
    let text = result.unwrap_err().to_string();
    for part in [
        "`Overflowing` over `i32` breaks the law of identity:\n  combine(2147483647, 2147483647) panicked at ",
        "main.rs:",
        ":\n  attempt to add with overflow\n  items, the first at index 0: [2147483647, 2147483647]",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn sums_of_floats_ask_for_a_tolerance() {
    let sum = || laws::of(&Sum, -1e3f32..1e3);
    let broken = sum().try_check().unwrap_err();
    // In rare cases only four items break a law.
    assert!([Law::Associativity, Law::Grouping].contains(&broken.law()));
    let text = broken.to_string();
    assert!(text.contains("floats round: if that is the difference, state a `tolerance`"));
    sum().tolerance(1e-5).check();
    assert!(sum().tolerance(1e-9).try_check().is_err());
    sum().close(|a, b| (a - b).abs() < 1.0).check();
    assert!(sum().close(|_, _| false).try_check().is_err());
}

#[test]
fn the_sign_of_a_zero_counts_unless_the_test_allows_it() {
    operator!(SumFromZero: f32 => f32, 0.0, |x, _| x, |a, b| a + b;);
    let zeros = || laws::of(&SumFromZero, select(vec![1.0, -0.0]));
    let message = "`SumFromZero` over `f32` breaks the law of identity:
  combine(identity, a) = 0.0
  a = -0.0
  identity = 0.0
  items, the first at index 0: [-0.0]";
    assert_breaks(zeros().try_check(), Law::Identity, &[message]);
    zeros().zeros_equal().check();
}

operator!(SumForgetful: u32 => u32, 0, |x, _| x, |a, b| a + b;
    fn absorb<const N: usize, const K: usize>(
        &self,
        acc: u32,
        rows: [[u32; N]; K],
        _: [u64; K],
    ) -> u32 {
        acc + rows.as_flattened()[1..].iter().sum::<u32>()
    }
);

#[test]
fn absorb_that_forgets_an_item_is_caught() {
    let message = "`SumForgetful` over `u32` breaks the law of absorb:
  absorb(acc, rows, first) = 0
  lift and combine, item by item = 1
  acc = 0
  rows = [[1]]
  first = [0]
  items, the first at index 0: [1]";
    let result = laws::of(&SumForgetful, 0..9u32).try_check();
    assert_breaks(result, Law::Absorb, &[message]);
}

// The index behind the last item.
operator!(End: u8 => u64, 0, |_, i| i + 1, |a, b| a.max(b);
    fn absorb<const N: usize, const K: usize>(
        &self,
        acc: u64,
        _: [[u8; N]; K],
        first: [u64; K],
    ) -> u64 {
        // As if one row followed the other.
        acc.max(first[0] + (N * K) as u64)
    }

    fn offset(&self, acc: u64, by: u64) -> u64 {
        if acc == 0 { 0 } else { acc + by }
    }
);

#[test]
fn absorb_with_wrong_indices_is_caught() {
    let message = "`End` over `u8` breaks the law of absorb:
  absorb(acc, rows, first) = 2
  lift and combine, item by item = 3
  acc = 0
  rows = [[0], [0]]
  first = [0, 2]
  items, the first at index 0: [0, 0]";
    let result = laws::of(&End, 0..9u8).try_check();
    assert_breaks(result, Law::Absorb, &[message]);
}

operator!(FirstIndex: u8 => u64, u64::MAX, |_, i| i, |a, b| a.min(b););

#[test]
fn a_forgotten_offset_is_caught() {
    let message = "`FirstIndex` over `u8` breaks the law of offset:
  offset(acc, 1) = 0
  lifted at those indices = 1
  acc = 0
  `lift` uses the index: implement `offset`; offset(0, 1) must return 1
  items, the first at index 0: [0]";
    let result = laws::of(&FirstIndex, 0..9u8).try_check();
    assert_breaks(result, Law::Offset, &[message]);
}

#[test]
fn an_offset_of_the_identity_is_caught() {
    operator!(FirstIndexMoved: u8 => u64, u64::MAX, |_, i| i, |a, b| a.min(b);
        fn offset(&self, acc: u64, by: u64) -> u64 {
            acc.wrapping_add(by)
        }
    );
    let message = "`FirstIndexMoved` over `u8` breaks the law of offset:
  offset(acc, 1) = 0
  lifted at those indices = 18446744073709551615
  acc = 18446744073709551615
  `acc` is the identity, which `offset` must return unchanged
  items, the first at index 0: []";
    let result = laws::of(&FirstIndexMoved, 0..9u8).try_check();
    assert_breaks(result, Law::Offset, &[message]);
}

#[test]
fn an_identity_that_is_a_lifted_item_is_caught() {
    // Of no item and of the one at index 0 the accumulator is 0.
    operator!(LastIndex: u8 => u64, 0, |_, i| i, |a, b| a.max(b););
    let message = "`LastIndex` over `u8` breaks the law of offset:
  offset(acc, 1) = 0
  lifted at those indices = 1
  acc = 0
  `lift` gives the identity, which `offset` must not move: choose an identity that differs from every lifted item
  items, the first at index 0: [0]";
    let result = laws::of(&LastIndex, 0..9u8).try_check();
    assert_breaks(result, Law::Offset, &[message]);
}

/// That the operator breaks this law by a panic, and that the message names this call.
#[track_caller]
fn assert_panics(result: Result<(), Broken>, law: Law, call: &str, rest: &str) {
    let broken = result.expect_err("a law is broken");
    assert_eq!(broken.law(), law, "{broken}");
    let text = message(&broken);
    let before = format!("breaks the law of {law}:\n  {call} panicked at ");
    assert!(text.contains(&before), "no {before:?} in {text}");
    assert!(text.ends_with(rest), "no {rest:?} at the end of {text}");
}

#[test]
fn a_call_that_panics_is_named_with_its_arguments() {
    operator!(FirstIndexOverflow: u8 => u64, u64::MAX, |_, i| i, |a, b| a.min(b);
        fn offset(&self, acc: u64, by: u64) -> u64 {
            acc + by
        }
    );
    assert_panics(
        laws::of(&FirstIndexOverflow, 0..9u8).try_check(),
        Law::Offset,
        "offset(18446744073709551615, 1)",
        "\n  attempt to add with overflow
  `acc` is the identity, which `offset` must return unchanged
  items, the first at index 0: []",
    );

    operator!(Checked: i8 => i8, 0, |x, _| x, |a, b| a + b;);
    assert_panics(
        laws::of(&Checked, Just(100i8)).try_check(),
        Law::Identity,
        "combine(100, 100)",
        "\n  attempt to add with overflow\n  items, the first at index 0: [100, 100]",
    );

    operator!(Positive: i8 => i8, 0, |x, _| { assert!(x >= 0, "below 0"); x }, |a, b| a.max(b););
    assert_panics(
        laws::of(&Positive, Just(-1i8)).try_check(),
        Law::Lift,
        "lift(-1, 0)",
        "\n  below 0\n  items, the first at index 0: [-1]",
    );

    operator!(Absorbs: u8 => u8, 0, |x, _| x, |a, b| a.max(b);
        fn absorb<const N: usize, const K: usize>(
            &self,
            acc: u8,
            rows: [[u8; N]; K],
            _: [u64; K],
        ) -> u8 {
            let max = rows.as_flattened().iter().copied().fold(acc, u8::max);
            assert!(N * K < 2, "more than one");
            max
        }
    );
    assert_panics(
        laws::of(&Absorbs, Just(3u8)).try_check(),
        Law::Absorb,
        "absorb(0, [[3], [3]], [0, 1])",
        "\n  more than one\n  items, the first at index 0: [3, 3]",
    );
}

#[test]
fn an_operator_that_fails_on_partials_alone_is_caught() {
    // Three items do not reach the bounds.
    operator!(Bounded: i32 => i32, 0, |x, _| x, |a, b| (a + b).clamp(-3, 3););
    let broken = laws::of(&Bounded, select(vec![1, -1])).try_check();
    let broken = broken.unwrap_err();
    assert_eq!(broken.law(), Law::Grouping);
    let text = message(&broken);
    assert!(text.contains("`Bounded` over `i32` breaks the law of grouping:\n  combined "));
    assert!(text.contains("\n  combined from the left = "), "{text}");
    let (_, items) = text.rsplit_once('[').unwrap();
    assert!(items.split(',').count() > 3, "{text}");
}

/// The mean of integers, with a given `finish`.
macro_rules! mean {
    ($op:ident, $finish:expr) => {
        #[derive(Clone, Copy, Debug, Value)]
        struct $op;

        impl Op<i32> for $op {
            type Acc = [i64; 2];
            type Output = i64;

            fn identity(&self) -> [i64; 2] {
                [0, 0]
            }

            fn lift(&self, item: i32, _: u64) -> [i64; 2] {
                [item.into(), 1]
            }

            fn combine(&self, a: [i64; 2], b: [i64; 2]) -> [i64; 2] {
                [a[0] + b[0], a[1] + b[1]]
            }

            fn finish(&self, [sum, count]: [i64; 2]) -> i64 {
                let finish: fn(i64, i64) -> i64 = $finish;
                finish(sum, count)
            }
        }
    };
}

#[test]
fn finish_that_panics_for_empty_input_is_caught() {
    mean!(Mean, |sum, count| sum / count);
    let broken = laws::of(&Mean, laws::any::<i32>()).try_check();
    let text = broken.as_ref().unwrap_err().to_string();
    assert_eq!(broken.unwrap_err().law(), Law::Finish);
    for part in [
        "`Mean` over `i32` breaks the law of finish:\n  finish([0, 0]) panicked at ",
        "\n  attempt to divide by zero\n  items, the first at index 0: []",
    ] {
        assert!(text.contains(part), "{text}");
    }
    mean!(MeanOrZero, |sum, count| sum.checked_div(count).unwrap_or(0));
    laws::check(&MeanOrZero, laws::any::<i32>());
}

#[test]
fn finish_with_a_state_of_its_own_is_caught() {
    static FINISHED: AtomicU64 = AtomicU64::new(0);
    mean!(Tired, |_, _| FINISHED.fetch_add(1, Relaxed) as i64);
    let broken = laws::of(&Tired, 0..9).try_check().unwrap_err();
    assert_eq!(broken.law(), Law::Finish);
    assert!(broken.to_string().contains("\n  finish(identity) again = "));
}

/// A structure of several types that implements only what elements require.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Mixed {
    floats: [f32; 2],
    integer: u32,
    small: [i16; 2],
}

#[test]
fn structures_are_compared_number_by_number() {
    operator!(SumOfMixed: Mixed => Mixed,
        Mixed { floats: [-0.0; 2], integer: 0, small: [0; 2] },
        |x, _| x,
        |a, b| Mixed {
            floats: [0, 1].map(|i| a.floats[i] + b.floats[i]),
            integer: a.integer.wrapping_add(b.integer),
            small: [0, 1].map(|i| a.small[i].wrapping_add(b.small[i])),
        };
    );
    let bounded = || {
        laws::any::<Mixed>().prop_map(|mut mixed| {
            mixed.floats = mixed
                .floats
                .map(|x| if x.is_finite() { x / 256.0 } else { x });
            mixed
        })
    };
    laws::of(&SumOfMixed, bounded()).tolerance(1e-5).check();
}

#[test]
fn items_of_several_arrays_and_operators_with_values_are_checked() {
    #[derive(Clone, Copy, Debug, Value)]
    #[repr(C)]
    struct Weighted {
        power: u32,
    }

    impl Op<(u16, i8, u64)> for Weighted {
        type Acc = i64;
        type Output = i64;

        fn identity(&self) -> i64 {
            0
        }

        fn lift(&self, (x, y, z): (u16, i8, u64), _: u64) -> i64 {
            let product = i64::from(x).wrapping_mul(y.into());
            product.wrapping_mul(z as i64).wrapping_pow(self.power)
        }

        fn combine(&self, a: i64, b: i64) -> i64 {
            a.wrapping_add(b)
        }

        fn finish(&self, acc: i64) -> i64 {
            acc
        }
    }

    let items = (laws::any(), laws::any(), laws::any());
    laws::check(&Weighted { power: 3 }, items);
}

#[test]
fn any_gives_the_notable_values() {
    fn values<T: Element>(text: impl Fn(T) -> String) -> HashSet<String> {
        let mut runner = TestRunner::deterministic();
        let mut next = || laws::any::<T>().new_tree(&mut runner).unwrap().current();
        (0..2000).map(|_| text(next())).collect()
    }
    let floats = values::<f32>(|x| format!("{x:e}"));
    for notable in [
        "0e0",
        "-0e0",
        "1e0",
        "NaN",
        "inf",
        "-inf",
        "3.4028235e38",
        "1e-45",
    ] {
        assert!(floats.contains(notable), "{notable}");
    }
    let integers = values::<i16>(|x| x.to_string());
    for notable in ["0", "1", "-32768", "32767", "16384"] {
        assert!(integers.contains(notable), "{notable}");
    }
    let of_fields = [
        values::<Mixed>(|x| format!("{:?}", x.floats[1])),
        values::<Mixed>(|x| x.small[1].to_string()),
    ];
    assert!(of_fields[0].contains("NaN") && of_fields[1].contains("-32768"));
}

#[test]
#[should_panic(expected = "`MaxAboveZero` over `i32` breaks the law of identity")]
fn check_panics_with_the_message() {
    laws::check(&MaxAboveZero, -100..100);
}

#[test]
#[should_panic(expected = "the laws cannot be checked: ")]
fn a_strategy_that_rejects_all_is_told() {
    laws::check(
        &MaxAboveZero,
        Just(1).prop_filter("nothing is right", |_| false),
    );
}

/// Runs itself in child processes with other variables.
#[test]
fn the_environment_gives_cases_and_seed() {
    const CHILD: &str = "KERNELS_GPU_LAWS_CHILD";
    if std::env::var_os(CHILD).is_some() {
        static TRIED: AtomicU64 = AtomicU64::new(0);
        let counted = (0..1 << 30).prop_map(|x| {
            TRIED.fetch_add(1, Relaxed);
            x
        });
        laws::of(&Xor, counted).cases(1).check();
        println!("tried {}", TRIED.load(Relaxed));
        println!(
            "{}",
            laws::of(&Last, 0..1u32 << 30).try_check().unwrap_err()
        );
        return;
    }
    let output = |variables: &[(&str, &str)]| {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child
            .args([
                "--exact",
                "--nocapture",
                "the_environment_gives_cases_and_seed",
            ])
            .env_remove("PROPTEST_CASES")
            .env_remove("PROPTEST_RNG_SEED")
            .env(CHILD, "1")
            .envs(variables.iter().copied());
        let output = child.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        let (_, tried) = text.split_once("tried ").unwrap();
        let (tried, broken) = tried.split_once('\n').unwrap();
        let (broken, _) = broken.split_once(" tries the same").unwrap();
        (tried.parse::<u64>().unwrap(), broken.to_owned())
    };
    // A list has up to 160 items.
    let (few, _) = output(&[]);
    assert!(few <= 160, "{few}");
    let (many, seven) = output(&[("PROPTEST_CASES", "500"), ("PROPTEST_RNG_SEED", "7")]);
    assert!(many > 1000, "{many}");
    assert!(seven.ends_with("PROPTEST_RNG_SEED=7"), "{seven}");
    let (_, again) = output(&[("PROPTEST_CASES", "500"), ("PROPTEST_RNG_SEED", "7")]);
    assert_eq!(seven, again);
}
