//! One execution with everything it needs, and what must come out of it.

use std::fmt;

use rand::{RngExt, rngs::StdRng};

use crate::backend::{Backend, BackendError};
use crate::element::Element;

/// One launch of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// A name of `conformance_kernels::TABLE`.
    pub kernel: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
    /// The scalar parameters, meaning as the kernel says.
    pub parameters: [u64; 4],
}

impl Launch {
    /// `blocks` x `threads` in one dimension, no shared memory, parameters 0.
    pub fn new(kernel: impl Into<String>, blocks: u32, threads: u32) -> Self {
        Self {
            kernel: kernel.into(),
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            shared_bytes: 0,
            parameters: [0; 4],
        }
    }

    /// With these scalar parameters.
    #[must_use]
    pub fn parameters(mut self, parameters: [u64; 4]) -> Self {
        self.parameters = parameters;
        self
    }

    /// With dynamic shared memory.
    #[must_use]
    pub fn shared_bytes(mut self, bytes: u32) -> Self {
        self.shared_bytes = bytes;
        self
    }

    /// Threads of the whole grid.
    pub fn threads(&self) -> u64 {
        let count = |sizes: [u32; 3]| sizes.iter().map(|&n| u64::from(n)).product::<u64>();
        count(self.grid) * count(self.block)
    }
}

/// What one output word must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Exactly these 64 bits.
    Is(u64),
    /// Some NaN of this type, zero above it: the ISA does not say which.
    Nan(Element),
    /// Anything: the ISA leaves the value undefined.
    Any,
}

impl Word {
    fn accepts(self, got: u64) -> bool {
        match self {
            Self::Is(bits) => bits == got,
            Self::Nan(element) => got & !element.mask() == 0 && element.is_nan(got),
            Self::Any => true,
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Is(bits) => write!(f, "{bits:#x}"),
            Self::Nan(element) => write!(f, "a NaN of {}", element.name()),
            Self::Any => write!(f, "anything"),
        }
    }
}

/// Says where an output word comes from, for messages.
type Locate = Box<dyn Fn(usize) -> String + Send>;

/// Judges all output words together.
type Judge = Box<dyn Fn(&[u64]) -> Result<(), String> + Send>;

/// What the output buffer must hold after the last launch.
pub enum Expectation {
    /// Every word for itself.
    Words {
        /// As many as the output has.
        words: Vec<Word>,
        /// From the index of a word to "warp 3 lane 5 ...".
        locate: Locate,
    },
    /// A property of all words together, for results that depend on the schedule.
    Property(Judge),
}

impl Expectation {
    /// Every word for itself; `locate` turns an index into words.
    pub fn words(words: Vec<Word>, locate: impl Fn(usize) -> String + Send + 'static) -> Self {
        Self::Words {
            words,
            locate: Box::new(locate),
        }
    }

    /// A property of the whole output; the error is a sentence.
    pub fn property(judge: impl Fn(&[u64]) -> Result<(), String> + Send + 'static) -> Self {
        Self::Property(Box::new(judge))
    }
}

/// One execution and its expectation.
pub struct Case {
    /// What distinguishes it from its neighbours in the trial.
    pub name: String,
    /// In order, over the same buffers.
    pub launches: Vec<Launch>,
    /// The input words.
    pub input: Vec<u64>,
    /// The output words before the first launch.
    pub output: Vec<u64>,
    /// Bytes of zeroed scratch memory on the device.
    pub scratch_bytes: u64,
    /// What must hold afterwards.
    pub expectation: Expectation,
}

/// What became of a case.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran and all was as expected.
    Passed,
    /// It could not run for lack of memory, as the text says.
    Skipped(String),
}

impl Case {
    /// Runs the case and compares.
    ///
    /// # Errors
    /// A text which names the kernel, the shape, and the words that differ.
    pub fn run(&self, backend: &dyn Backend) -> Result<Outcome, String> {
        let mut output = self.output.clone();
        match backend.run(&self.launches, &self.input, &mut output, self.scratch_bytes) {
            Ok(()) => {}
            Err(error @ BackendError::OutOfMemory { .. }) => {
                return Ok(Outcome::Skipped(error.to_string()));
            }
            Err(error) => return Err(format!("{}: {error}", self.name)),
        }
        match self.judge(&output) {
            Ok(()) => Ok(Outcome::Passed),
            Err(text) => Err(format!("{}\n{text}", self.headline())),
        }
    }

    fn headline(&self) -> String {
        let launches: Vec<String> = self
            .launches
            .iter()
            .map(|l| {
                format!(
                    "{} <<<{:?}, {:?}, {}>>> parameters {:?}",
                    l.kernel, l.grid, l.block, l.shared_bytes, l.parameters
                )
            })
            .collect();
        format!("{}: {}", self.name, launches.join(", "))
    }

    fn judge(&self, got: &[u64]) -> Result<(), String> {
        match &self.expectation {
            Expectation::Property(judge) => judge(got),
            Expectation::Words { words, locate } => {
                assert_eq!(
                    words.len(),
                    got.len(),
                    "{}: one expectation a word",
                    self.name
                );
                compare(words, &self.output, got, locate)
            }
        }
    }
}

/// Lists the first words that differ.
fn compare(
    expected: &[Word],
    before: &[u64],
    got: &[u64],
    locate: &dyn Fn(usize) -> String,
) -> Result<(), String> {
    const SHOWN: usize = 8;
    let wrong: Vec<usize> = (0..got.len())
        .filter(|&i| !expected[i].accepts(got[i]))
        .collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let mut text = format!("{} of {} words differ:", wrong.len(), got.len());
    for &i in wrong.iter().take(SHOWN) {
        let unwritten = if got[i] == before[i] {
            " (never written)"
        } else {
            ""
        };
        text += &format!(
            "\n  {}: expected {}, got {:#x}{unwritten}",
            locate(i),
            expected[i],
            got[i]
        );
    }
    if wrong.len() > SHOWN {
        text += &format!("\n  and {} more", wrong.len() - SHOWN);
    }
    Err(text)
}

/// `count` words which no kernel would write: one random pattern with its top bit
/// set, above every value of less than 64 bits.
pub fn sentinels(rng: &mut StdRng, count: usize) -> Vec<u64> {
    vec![rng.random::<u64>() | 1 << 63; count]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// Writes what it was told to, and keeps what it was given.
    struct Script {
        writes: Vec<(usize, u64)>,
        error: Option<BackendError>,
        seen: RefCell<Vec<String>>,
    }

    impl Script {
        fn writing(writes: &[(usize, u64)]) -> Self {
            Self {
                writes: writes.to_vec(),
                error: None,
                seen: RefCell::default(),
            }
        }
    }

    impl Backend for Script {
        fn run(
            &self,
            launches: &[Launch],
            _input: &[u64],
            output: &mut [u64],
            _scratch_bytes: u64,
        ) -> Result<(), BackendError> {
            self.seen
                .borrow_mut()
                .extend(launches.iter().map(|l| l.kernel.clone()));
            for &(i, word) in &self.writes {
                output[i] = word;
            }
            self.error.clone().map_or(Ok(()), Err)
        }
    }

    fn case(expected: Vec<Word>) -> Case {
        Case {
            name: "width 8".into(),
            launches: vec![Launch::new("shuffle_down_i32", 1, 32)],
            input: vec![],
            output: vec![1 << 63; expected.len()],
            scratch_bytes: 0,
            expectation: Expectation::words(expected, |i| format!("lane {i}")),
        }
    }

    #[test]
    fn equal_words_pass() {
        let backend = Script::writing(&[(0, 5), (1, 0x7FC0_0000), (2, 9)]);
        let case = case(vec![Word::Is(5), Word::Nan(Element::F32), Word::Any]);
        assert_eq!(case.run(&backend), Ok(Outcome::Passed));
        assert_eq!(*backend.seen.borrow(), ["shuffle_down_i32"]);
    }

    #[test]
    fn a_wrong_word_is_named() {
        let error = case(vec![Word::Is(5), Word::Is(6)])
            .run(&Script::writing(&[(0, 5), (1, 7)]))
            .unwrap_err();
        assert!(error.contains("shuffle_down_i32"), "{error}");
        assert!(error.contains("width 8"), "{error}");
        assert!(error.contains("lane 1: expected 0x6, got 0x7"), "{error}");
        assert!(!error.contains("lane 0"), "{error}");
    }

    #[test]
    fn an_unwritten_word_is_wrong() {
        let error = case(vec![Word::Is(5)])
            .run(&Script::writing(&[]))
            .unwrap_err();
        assert!(error.contains("never written"), "{error}");
    }

    #[test]
    fn a_nan_must_fit_its_type() {
        let error = case(vec![Word::Nan(Element::F32)]).run(&Script::writing(&[(0, 0x3F80_0000)]));
        assert!(error.is_err());
        let high = case(vec![Word::Nan(Element::F32)])
            .run(&Script::writing(&[(0, 0x8000_0000_7FC0_0000)]));
        assert!(high.is_err());
    }

    #[test]
    fn memory_that_is_missing_skips() {
        let mut backend = Script::writing(&[]);
        backend.error = Some(BackendError::OutOfMemory {
            bytes: 10,
            cause: "full".into(),
        });
        let outcome = case(vec![Word::Is(5)]).run(&backend);
        assert!(matches!(outcome, Ok(Outcome::Skipped(_))), "{outcome:?}");
    }

    #[test]
    fn a_failed_launch_fails() {
        let mut backend = Script::writing(&[(0, 5)]);
        backend.error = Some(BackendError::Launch {
            kernel: "k".into(),
            step: "launch",
            cause: "no such kernel".into(),
        });
        let error = case(vec![Word::Is(5)]).run(&backend).unwrap_err();
        assert!(error.contains("no such kernel"), "{error}");
    }
}
