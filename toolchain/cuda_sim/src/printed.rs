//! Output that kernels print.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The output of kernels, captured for a test. Clones share the same text.
///
/// ```
/// use cuda_sim::{Printed, Simulator};
/// use cuda_std::{println, thread};
///
/// let printed = Printed::new();
/// Simulator::new().block(2).print_to(&printed).run(|| {
///     println!("thread {}", thread::thread_idx_x());
/// })?;
/// assert_eq!(printed.take(), "thread 0\nthread 1\n");
/// # Ok::<(), cuda_sim::Failure>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Printed(Arc<Mutex<String>>);

impl Printed {
    /// An empty text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the text so far, in the order in which threads ran.
    pub fn take(&self) -> String {
        mem::take(&mut self.text())
    }

    pub(crate) fn push(&self, text: &str) {
        self.text().push_str(text);
    }

    fn text(&self) -> MutexGuard<'_, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
