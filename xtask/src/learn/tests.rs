use super::*;
use std::fs;

/// A lesson in a new folder.
fn lesson() -> (tempfile::TempDir, Lesson) {
    let root = workspace::root();
    let parent = tempfile::tempdir().unwrap();
    let puzzles = puzzles(&root).unwrap();
    let folder = Folder::open(&root, &parent.path().join("learn"), &puzzles).unwrap();
    let progress = Progress::load(folder.path()).unwrap();
    (
        parent,
        Lesson {
            puzzles,
            folder,
            progress,
            told: None,
        },
    )
}

#[test]
fn puzzles_are_numbered_without_gaps_and_have_tasks_and_hints() {
    let puzzles = puzzles(&workspace::root()).unwrap();
    assert!(puzzles.len() >= 30);
    for (at, puzzle) in puzzles.iter().enumerate() {
        assert!(
            puzzle.stem().starts_with(&format!("{:02}_", at + 1)),
            "{}",
            puzzle.stem()
        );
        assert!(
            puzzle.title().starts_with(&format!("{:02} ", at + 1)),
            "{}",
            puzzle.title()
        );
        assert!(
            ["(fill in)", "(repair)", "(make cheaper)"]
                .iter()
                .any(|kind| puzzle.title().ends_with(kind))
        );
        assert!(puzzle.task().len() > 60, "{}", puzzle.task());
        assert!(puzzle.hints().unwrap().iter().all(|hint| !hint.is_empty()));
        assert!(
            puzzle
                .source()
                .contains(&format!("pub fn {}(", puzzle.name())),
            "{}",
            puzzle.stem()
        );
    }
}

#[test]
fn progress_and_files_are_kept() {
    let (parent, mut lesson) = lesson();
    let first = lesson.folder.file(&lesson.puzzles[0]);
    fs::write(&first, "mine").unwrap();
    lesson.progress.solved.insert("map".into());
    lesson.advance();
    lesson.save().unwrap();
    assert_eq!(lesson.current(), 1);

    let path = parent.path().join("learn");
    let folder = Folder::open(&workspace::root(), &path, &lesson.puzzles).unwrap();
    assert_eq!(fs::read_to_string(&first).unwrap(), "mine");
    assert_eq!(Progress::load(folder.path()).unwrap(), lesson.progress);
    let list = lesson.list();
    assert!(
        list.starts_with("x 01 ") && list.contains("\n> 02 "),
        "{list}"
    );
    assert!(
        list.contains(&format!("1 of {} puzzles", lesson.puzzles.len())),
        "{list}"
    );

    lesson.reset(0).unwrap();
    assert_eq!(
        fs::read_to_string(&first).unwrap(),
        lesson.puzzles[0].source()
    );
    assert_eq!((lesson.current(), lesson.progress.solved.len()), (0, 0));
}

#[test]
fn the_next_puzzle_is_an_unsolved_one() {
    let (_parent, mut lesson) = lesson();
    let last = lesson.puzzles.len() - 1;
    for name in ["map", "blocks"] {
        lesson.progress.solved.insert(name.into());
    }
    lesson.progress.current = last;
    lesson.advance();
    assert_eq!(lesson.puzzles[lesson.current()].name(), "guard");
    lesson.advance();
    assert_eq!(lesson.puzzles[lesson.current()].name(), "grid_stride");
}

#[test]
fn hints_come_one_after_the_other() {
    let (_parent, mut lesson) = lesson();
    let count = lesson.puzzles[0].hints().unwrap().len();
    let hints: Vec<_> = (0..=count).map(|_| lesson.hint().unwrap()).collect();
    assert!(
        hints[0].starts_with(&format!("hint 1 of {count} for 01 ")),
        "{}",
        hints[0]
    );
    assert_eq!(hints[0], hints[count]);
}

#[test]
fn a_wrong_name_and_a_damaged_file_are_refused() {
    let (_parent, lesson) = lesson();
    assert_eq!(lesson.find("6").unwrap(), 5);
    assert_eq!(lesson.find("coalesce").unwrap(), 5);
    for name in ["0", "999", "no such"] {
        let error = lesson.find(name).unwrap_err().to_string();
        assert!(error.contains(&format!("no puzzle `{name}`")), "{error}");
    }
    fs::write(lesson.folder.path().join(".progress.json"), "{").unwrap();
    let error = Progress::load(lesson.folder.path())
        .unwrap_err()
        .to_string();
    assert!(error.contains("delete it to begin again"), "{error}");
}

#[test]
fn a_change_of_a_file_is_seen() {
    let (_parent, lesson) = lesson();
    let file = lesson.folder.file(&lesson.puzzles[0]);
    let before = modified(&file).unwrap();
    let later = before + Duration::from_secs(1);
    fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_modified(later)
        .unwrap();
    assert_ne!(modified(&file).unwrap(), before);
    fs::remove_file(&file).unwrap();
    assert!(
        modified(&file)
            .unwrap_err()
            .to_string()
            .contains("cannot read")
    );
}
