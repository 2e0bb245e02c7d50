//! A case: one execution with its data and its expected results.

use std::fmt;

use rand::{RngExt, rngs::StdRng};

use crate::backend::{Backend, BackendError};
use crate::element::Element;

/// One launch of a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    /// A name in `conformance_kernels::TABLE`.
    pub kernel: String,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared_bytes: u32,
    /// The scalar parameters; their meaning depends on the kernel.
    pub parameters: [u64; 4],
}

impl Launch {
    /// A one-dimensional launch without shared memory, with parameters 0.
    pub fn new(kernel: impl Into<String>, blocks: u32, threads: u32) -> Self {
        Self {
            kernel: kernel.into(),
            grid: [blocks, 1, 1],
            block: [threads, 1, 1],
            shared_bytes: 0,
            parameters: [0; 4],
        }
    }

    /// Sets the scalar parameters.
    #[must_use]
    pub fn parameters(mut self, parameters: [u64; 4]) -> Self {
        self.parameters = parameters;
        self
    }

    /// Sets the bytes of dynamic shared memory.
    #[must_use]
    pub fn shared_bytes(mut self, bytes: u32) -> Self {
        self.shared_bytes = bytes;
        self
    }

    /// The number of threads of the grid.
    pub fn threads(&self) -> u64 {
        let count = |sizes: [u32; 3]| sizes.iter().map(|&n| u64::from(n)).product::<u64>();
        count(self.grid) * count(self.block)
    }
}

/// The expected value of an output word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Exactly these 64 bits.
    Is(u64),
    /// A NaN of this type, with zeros above; the ISA does not specify which.
    Nan(Element),
    /// Any value: the ISA does not define it.
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

/// Describes the origin of an output word, for messages.
type Locate = Box<dyn Fn(usize) -> String + Send>;

/// Checks all output words together.
type Check = Box<dyn Fn(&[u64]) -> Result<(), String> + Send>;

/// The expected output after the last launch.
pub enum Expectation {
    /// An expectation for each word.
    Words {
        /// One for each word of the output.
        words: Vec<Word>,
        /// Converts a word's index to a text such as "warp 3 lane 5".
        locate: Locate,
    },
    /// A property of all words together, for results that depend on the schedule.
    Property(Check),
}

impl Expectation {
    /// Expects each word separately; `locate` describes a word's origin by its index.
    pub fn words(words: Vec<Word>, locate: impl Fn(usize) -> String + Send + 'static) -> Self {
        Self::Words {
            words,
            locate: Box::new(locate),
        }
    }

    /// Expects a property of the whole output; the error is a sentence.
    pub fn property(check: impl Fn(&[u64]) -> Result<(), String> + Send + 'static) -> Self {
        Self::Property(Box::new(check))
    }
}

/// One execution and its expectation.
pub struct Case {
    /// What distinguishes it from other cases of the trial.
    pub name: String,
    /// Run in order, with the same buffers.
    pub launches: Vec<Launch>,
    /// The input words.
    pub input: Vec<u64>,
    /// The output words before the first launch.
    pub output: Vec<u64>,
    /// Bytes of zeroed scratch memory on the device.
    pub scratch_bytes: u64,
    /// The expected result.
    pub expectation: Expectation,
}

/// The result of running a case.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran with the expected result.
    Passed,
    /// It did not run because of too little memory; the text gives the details.
    Skipped(String),
}

impl Case {
    /// Runs the case and checks the result.
    ///
    /// # Errors
    /// A text with the kernel, the shape, and the words that differ.
    pub fn run(&self, backend: &dyn Backend) -> Result<Outcome, String> {
        let mut output = self.output.clone();
        match backend.run(&self.launches, &self.input, &mut output, self.scratch_bytes) {
            Ok(()) => {}
            Err(error @ BackendError::OutOfMemory { .. }) => {
                return Ok(Outcome::Skipped(error.to_string()));
            }
            Err(error) => return Err(format!("{}: {error}", self.name)),
        }
        match self.check(&output) {
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

    fn check(&self, got: &[u64]) -> Result<(), String> {
        match &self.expectation {
            Expectation::Property(check) => check(got),
            Expectation::Words { words, locate } => {
                assert_eq!(
                    words.len(),
                    got.len(),
                    "{}: there must be one expectation for each word",
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

/// `count` words that no kernel writes: a random pattern with its top bit set, which is above every value of
/// less than 64 bits.
pub fn sentinels(rng: &mut StdRng, count: usize) -> Vec<u64> {
    vec![rng.random::<u64>() | 1 << 63; count]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// A backend for tests, which writes fixed words and stores the launches.
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
