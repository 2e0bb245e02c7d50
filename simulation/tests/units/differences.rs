//! How the differences of rungs are described.

use kernels_sim::ladder::{Ladder, Rung};

/// The description of a rung.
fn describe(kernel: &str) -> String {
    let ladder = Ladder::new("sum", "i32", 256).unwrap();
    let place = |rung: &Rung| rung.kernel == kernel;
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
