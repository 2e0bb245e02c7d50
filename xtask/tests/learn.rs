//! Checks puzzles in a learner's folder, as `cargo xtask learn` does.

use std::fs;
use std::time::{Duration, Instant};
use xtask::learn::{Folder, Lesson, Outcome, Progress, puzzles};
use xtask::workspace;

/// From an edit to an answer.
const LIMIT: Duration = Duration::from_secs(5);

#[test]
fn a_learner_solves_puzzles() {
    let root = workspace::root();
    let puzzles = puzzles(&root).unwrap();
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("learn");
    let folder = Folder::open(&root, &path, &puzzles).unwrap();
    let progress = Progress::load(folder.path()).unwrap();
    let mut lesson = Lesson {
        puzzles,
        folder,
        progress,
        told: None,
    };

    assert!(!lesson.check().unwrap(), "the unsolved puzzle is accepted");
    let answer = |name: &str| fs::read_to_string(root.join("book/puzzles").join(name)).unwrap();
    let file = path.join("01_map.rs");
    fs::write(&file, answer("wrong/01_map/constant.rs")).unwrap();
    assert!(!lesson.check().unwrap(), "a constant is accepted");
    fs::write(&file, "pub fn map(").unwrap();
    assert_eq!(
        lesson.folder.check(&lesson.puzzles[0]).unwrap(),
        Outcome::DoesNotCompile
    );

    // Another puzzle does not need this file.
    let second = lesson.folder.check(&lesson.puzzles[1]).unwrap();
    assert_eq!(second, Outcome::Refused);

    fs::write(&file, answer("solutions/01_map.rs")).unwrap();
    let start = Instant::now();
    assert!(lesson.check().unwrap(), "the solution is refused");
    let took = start.elapsed();
    assert!(took < LIMIT, "the check took {took:?}");
    println!(
        "summary: learn: {:.1} s from an edit to an answer",
        took.as_secs_f64()
    );
    assert_eq!(lesson.current(), 1);
    assert!(Progress::load(&path).unwrap().solved.contains("map"));

    let endless = "use kernels_gpu::mem::Global;\n\
                   pub fn map(_: Global<i32>, _: Global<i32>) { loop { std::hint::black_box(()); } }\n";
    fs::write(&file, endless).unwrap();
    lesson.folder.limit = Duration::from_millis(500);
    assert_eq!(
        lesson.folder.check(&lesson.puzzles[0]).unwrap(),
        Outcome::Endless
    );
}
