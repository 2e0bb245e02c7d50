//! `cargo xtask learn`: puzzles, which the simulator checks; no GPU is needed.
//!
//! The learner's files are in a folder of their own, which git ignores. It is a package with a program for each puzzle,
//! so that a file that does not compile disturbs no other puzzle, and editors know the crates.

mod folder;
mod progress;
mod puzzle;

pub use folder::{Folder, Outcome};
pub use progress::Progress;
pub use puzzle::{Puzzle, puzzles};

use crate::{process, workspace};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

/// Learn by puzzles, which the simulator checks: cargo xtask learn, then edit the file that it names
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Check the current puzzle, or the named one, which becomes the current one [default]
    Check {
        /// A number or a name: 6, coalesce
        puzzle: Option<String>,
    },
    /// Check the current puzzle whenever its file changes, and go on to the next when it is solved
    Watch,
    /// Print the next hint for the current puzzle
    Hint,
    /// Go to the next unsolved puzzle
    Next,
    /// List the puzzles and which are solved
    List,
    /// Replace a file by the unsolved puzzle
    Reset {
        /// A number or a name; by default the current puzzle
        puzzle: Option<String>,
    },
}

/// How often `watch` looks at the file.
const LOOK: Duration = Duration::from_millis(200);

impl Args {
    /// Runs the command. The exit code is 1 if the puzzle is not solved.
    pub fn run(self) -> Result<ExitCode> {
        let root = workspace::root();
        let puzzles = puzzles(&root)?;
        let folder = Folder::open(&root, &root.join("learn"), &puzzles)?;
        let mut lesson = Lesson {
            progress: Progress::load(folder.path())?,
            puzzles,
            folder,
            told: None,
        };
        match self.command.unwrap_or(Command::Check { puzzle: None }) {
            Command::Check { puzzle } => {
                if let Some(name) = puzzle {
                    lesson.progress.current = lesson.find(&name)?;
                }
                return Ok(match lesson.check()? {
                    true => ExitCode::SUCCESS,
                    false => ExitCode::FAILURE,
                });
            }
            Command::Watch => lesson.watch()?,
            Command::Hint => {
                let text = lesson.hint()?;
                lesson.save()?;
                process::print(&text)?;
            }
            Command::Next => {
                lesson.advance();
                lesson.save()?;
                process::print(&lesson.task()?)?;
            }
            Command::List => process::print(&lesson.list())?,
            Command::Reset { puzzle } => {
                let at = match puzzle {
                    Some(name) => lesson.find(&name)?,
                    None => lesson.current(),
                };
                let text = lesson.reset(at)?;
                process::print(&text)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The puzzles, the learner's files, and what is solved.
pub struct Lesson {
    /// All puzzles in order.
    pub puzzles: Vec<Puzzle>,
    /// The learner's files.
    pub folder: Folder,
    /// What is solved.
    pub progress: Progress,
    /// The puzzle whose task was printed last.
    pub told: Option<usize>,
}

impl Lesson {
    /// The index of the current puzzle.
    pub fn current(&self) -> usize {
        self.progress.current.min(self.puzzles.len() - 1)
    }

    /// The index of the puzzle with this number or name.
    fn find(&self, name: &str) -> Result<usize> {
        let number = name.parse::<usize>().ok();
        let matches = |(at, puzzle): (usize, &Puzzle)| {
            number == Some(at + 1) || puzzle.name() == name || puzzle.file() == name
        };
        match self.puzzles.iter().enumerate().position(matches) {
            Some(at) => Ok(at),
            None => bail!(
                "there is no puzzle `{name}`; write a number from 1 to {} or a name, such as `{}`",
                self.puzzles.len(),
                self.puzzles[0].name()
            ),
        }
    }

    /// Checks the current puzzle and prints the outcome; true if it is solved.
    pub fn check(&mut self) -> Result<bool> {
        let puzzle = &self.puzzles[self.current()];
        if self.folder.is_untouched(puzzle) {
            if self.told != Some(self.current()) {
                process::print(&self.task()?)?;
            }
            process::print("\nwhat the check says until then:\n\n")?;
        }
        let outcome = self.folder.check(puzzle)?;
        let solved = outcome == Outcome::Solved;
        let name = puzzle.name().to_owned();
        let file = self.folder.shown(puzzle);
        let text = match outcome {
            Outcome::Solved => {
                let mut text = format!(
                    "solved: {}\na solution to compare with: book/puzzles/solutions/{}.rs\n",
                    puzzle.title(),
                    puzzle.stem()
                );
                self.progress.solved.insert(name);
                self.advance();
                let done = self.progress.count(&self.puzzles);
                text += &format!("{done} of {} puzzles are solved\n\n", self.puzzles.len());
                if done < self.puzzles.len() {
                    self.told = Some(self.current());
                    text += &self.task()?;
                }
                text
            }
            outcome => {
                self.progress.solved.remove(&name);
                let why = outcome.remark();
                format!("\nnot solved yet: {file}{why}\n`cargo xtask learn hint` prints a hint\n")
            }
        };
        self.save()?;
        process::print(&text)?;
        Ok(solved)
    }

    /// Makes the next unsolved puzzle the current one; after the last comes the first.
    fn advance(&mut self) {
        let (at, all) = (self.current(), self.puzzles.len());
        let next = (1..=all)
            .map(|step| (at + step) % all)
            .find(|next| !self.progress.solved.contains(self.puzzles[*next].name()));
        if let Some(next) = next {
            self.progress.current = next;
        }
    }

    /// The current puzzle's file and task.
    fn task(&self) -> Result<String> {
        let puzzle = &self.puzzles[self.current()];
        Ok(format!(
            "{}\n\n{}\n\nedit {}, then `cargo xtask learn`\n",
            puzzle.title(),
            puzzle.task(),
            self.folder.shown(puzzle)
        ))
    }

    /// The next hint for the current puzzle; after the last comes the first.
    fn hint(&mut self) -> Result<String> {
        let puzzle = &self.puzzles[self.current()];
        let hints = puzzle.hints()?;
        let given = self
            .progress
            .hints
            .entry(puzzle.name().to_owned())
            .or_default();
        let at = *given % hints.len();
        *given += 1;
        Ok(format!(
            "hint {} of {} for {}\n\n{}\n",
            at + 1,
            hints.len(),
            puzzle.title(),
            hints[at]
        ))
    }

    fn list(&self) -> String {
        let mut text = String::new();
        for (at, puzzle) in self.puzzles.iter().enumerate() {
            let solved = self.progress.solved.contains(puzzle.name());
            let mark = match (solved, at == self.current()) {
                (_, true) => ">",
                (true, _) => "x",
                _ => " ",
            };
            text += &format!("{mark} {}\n", puzzle.title());
        }
        let done = self.progress.count(&self.puzzles);
        text + &format!(
            "{done} of {} puzzles are solved (x); > is the current one\n",
            self.puzzles.len()
        )
    }

    fn reset(&mut self, at: usize) -> Result<String> {
        let puzzle = &self.puzzles[at];
        self.folder.reset(puzzle)?;
        self.progress.solved.remove(puzzle.name());
        self.progress.hints.remove(puzzle.name());
        self.progress.current = at;
        self.save()?;
        Ok(format!(
            "{} is the unsolved puzzle again\n",
            self.folder.shown(&self.puzzles[at])
        ))
    }

    fn save(&self) -> Result<()> {
        self.progress.save(self.folder.path())
    }

    /// Checks the current puzzle whenever its file changes, until all puzzles are solved.
    fn watch(&mut self) -> Result<()> {
        while self.progress.count(&self.puzzles) < self.puzzles.len() {
            let path = self.folder.file(&self.puzzles[self.current()]);
            let before = modified(&path)?;
            if self.check()? {
                continue;
            }
            process::report(&format!(
                "waiting for a change of {}; Ctrl-C ends",
                self.folder.shown(&self.puzzles[self.current()])
            ));
            while modified(&path)? == before {
                std::thread::sleep(LOOK);
            }
        }
        Ok(())
    }
}

/// When a file was changed. An editor may replace the file, so it may be missing for a moment.
fn modified(path: &Path) -> Result<SystemTime> {
    let mut tries = 10;
    loop {
        match path.metadata().and_then(|metadata| metadata.modified()) {
            Ok(time) => return Ok(time),
            Err(_) if tries > 0 => tries -= 1,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        }
        std::thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests;
