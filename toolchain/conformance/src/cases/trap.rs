//! Panics: a launch must fail exactly if a thread panics.

use conformance_kernels::trap as kernel;
use rand::{RngExt, rngs::StdRng};

use super::Trial;
use crate::case::{Case, Expectation, Launch, Word, sentinels};

const THREADS: usize = 64;

/// The kernels' sources, which contain the lines of panics.
const TRAP: (&str, &str) = (
    "kernels/src/trap.rs",
    include_str!("../../kernels/src/trap.rs"),
);
const IO: (&str, &str) = ("kernels/src/io.rs", include_str!("../../kernels/src/io.rs"));

/// A device's text for a message with values, except that of an index.
const VALUES: &str = "a message with values, which a GPU cannot format";

/// A launch that must fail. It makes the device's context unusable, so it requires its own process.
pub struct Trap {
    /// `trap/...`
    pub name: &'static str,
    kind: u64,
    /// The file, and the text of the line.
    place: ((&'static str, &'static str), &'static str),
    /// The message with its values.
    message: &'static str,
    /// The values that a device does not print.
    has_values: bool,
}

impl Trap {
    /// The launch, in which one thread panics.
    pub fn case(&self) -> Case {
        let mut input = vec![0; THREADS];
        input[THREADS - 1] = u64::MAX;
        Case {
            name: self.name.into(),
            launches: vec![launch(self.kind)],
            output: vec![0; THREADS],
            input,
            scratch_bytes: 0,
            expectation: Expectation::property(|_| {
                Err("a thread panicked and the launch did not fail".into())
            }),
        }
    }

    /// The location of the panic: the end of the file's path, and the line.
    ///
    /// # Panics
    /// If the kernel's source has no such line, or several.
    pub fn place(&self) -> String {
        let ((file, source), text) = self.place;
        let mut lines = source.lines().enumerate();
        let mut found = lines.by_ref().filter(|(_, line)| line.contains(text));
        let (line, _) = found.next().expect("the kernel's source has the line");
        assert!(
            found.next().is_none(),
            "{file} has several lines with {text}"
        );
        format!("{file}:{}", line + 1)
    }

    /// The simulator's finding: message and location.
    pub fn finding(&self) -> [String; 2] {
        let thread = format!(
            "block 0 thread {} (warp 1 lane 31): panicked: ",
            THREADS - 1
        );
        [thread + self.message, self.place() + ":"]
    }

    /// The message that a device prints, with panic messages.
    pub fn text(&self) -> &'static str {
        if self.has_values {
            VALUES
        } else {
            self.message
        }
    }

    /// The end of the line that the driver prints.
    pub fn printed(&self) -> String {
        format!(
            "{}: panicked: block: [0,0,0], thread: [{},0,0] Assertion `{}` failed.",
            self.place(),
            THREADS - 1,
            self.text()
        )
    }
}

pub fn traps() -> Vec<Trap> {
    vec![
        Trap {
            name: "trap/panic",
            kind: kernel::PANIC,
            place: (TRAP, "PANIC =>"),
            message: "thread 63 was told to",
            has_values: true,
        },
        Trap {
            name: "trap/message",
            kind: kernel::MESSAGE,
            place: (TRAP, "MESSAGE =>"),
            message: "this thread was told to panic",
            has_values: false,
        },
        Trap {
            name: "trap/index",
            kind: kernel::INDEX,
            place: (IO, "self.input[index]"),
            message: "index out of bounds: the len is 64 but the index is 18446744073709551615",
            has_values: false,
        },
        Trap {
            name: "trap/unwrap",
            kind: kernel::UNWRAP,
            place: (TRAP, "UNWRAP =>"),
            message: "called `Option::unwrap()` on a `None` value",
            has_values: false,
        },
        Trap {
            name: "trap/division",
            kind: kernel::DIVISION,
            place: (TRAP, "DIVISION =>"),
            message: "attempt to divide by zero",
            has_values: false,
        },
        Trap {
            name: "trap/assertion",
            kind: kernel::ASSERTION,
            place: (TRAP, "ASSERTION =>"),
            message: "assertion `left == right` failed: thread 63\n  left: 18446744073709551615\n right: 0",
            has_values: true,
        },
    ]
}

fn launch(kind: u64) -> Launch {
    Launch::new("trap_panics", 1, THREADS as u32).parameters([kind, 0, 0, 0])
}

/// The same kernel without a panic.
pub fn trials() -> Vec<Trial> {
    vec![Trial::new("trap/none", |rng: &mut StdRng| {
        (kernel::NONE..=kernel::MESSAGE)
            .map(|kind| {
                let input: Vec<u64> = (0..THREADS).map(|_| rng.random::<u64>() >> 1).collect();
                Case {
                    name: format!("kind {kind}"),
                    launches: vec![launch(kind)],
                    output: sentinels(rng, THREADS),
                    scratch_bytes: 0,
                    expectation: Expectation::words(
                        input.iter().copied().map(Word::Is).collect(),
                        |i| format!("thread {i}"),
                    ),
                    input,
                }
            })
            .collect()
    })]
}
