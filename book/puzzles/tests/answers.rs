//! Every solution is accepted, every unsolved puzzle and every plausible wrong answer is refused.

use warpfold_puzzles::Verdict;

/// An answer to a puzzle.
struct Answer {
    file: &'static str,
    check: fn() -> Verdict,
}

include!(concat!(env!("OUT_DIR"), "/answers.rs"));

/// The complaints of all answers.
fn assert_each(answers: &[Answer], complaint: impl Fn(&Answer) -> Option<String>) {
    let complaints: Vec<_> = answers
        .iter()
        .filter_map(|answer| Some(format!("{}:\n{}", answer.file, complaint(answer)?)))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// What is refused, and why.
fn assert_refused(answer: &Answer, why: &str) -> Option<String> {
    match (answer.check)() {
        Ok(()) => Some("accepted".into()),
        Err(refusal) if refusal.to_string().contains(why) => None,
        Err(refusal) => Some(format!("refused, but not because of `{why}`:\n{refusal}")),
    }
}

#[test]
fn solutions_are_accepted() {
    assert_each(SOLUTIONS, |answer| {
        (answer.check)().err().map(|refusal| refusal.to_string())
    });
}

#[test]
fn unsolved_puzzles_are_refused() {
    assert_each(EXERCISES, |answer| assert_refused(answer, ""));
}

#[test]
fn plausible_wrong_answers_are_refused() {
    assert_each(WRONG, |answer| {
        let text = std::fs::read_to_string(answer.file).expect("a wrong answer");
        let first = text.lines().next().unwrap_or_default();
        let why = first
            .strip_prefix("//! Refused: ")
            .expect("the reason in the first line");
        assert_refused(answer, why)
    });
}

#[test]
fn every_puzzle_has_a_solution_a_wrong_answer_and_a_hint() {
    assert!(EXERCISES.len() >= 30, "{} puzzles", EXERCISES.len());
    assert_eq!(EXERCISES.len(), SOLUTIONS.len());
    for (puzzle, solution) in EXERCISES.iter().zip(SOLUTIONS) {
        assert_eq!(puzzle.file.replace("exercises", "solutions"), solution.file);
        let wrong = puzzle
            .file
            .replace("exercises", "wrong")
            .replace(".rs", "/");
        assert!(
            WRONG.iter().any(|answer| answer.file.starts_with(&wrong)),
            "{wrong}"
        );
        let hint = puzzle
            .file
            .replace("exercises", "hints")
            .replace(".rs", ".md");
        assert!(
            std::fs::read_to_string(&hint).is_ok_and(|hint| !hint.is_empty()),
            "{hint}"
        );
    }
}
