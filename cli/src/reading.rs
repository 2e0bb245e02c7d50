//! The time that reading takes, and its progress bar.

use std::cell::Cell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use warpfold::Error;

/// The time before a bar appears.
const DELAY: Duration = Duration::from_millis(500);

const TEMPLATE: &str = "{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";

/// The same where the total is unknown.
const TEMPLATE_OF_A_PIPE: &str = "{spinner} {bytes}, {bytes_per_sec}";

/// Counts and times what is read from files while something is computed.
pub struct Reading {
    started: Instant,
    bytes: Cell<u64>,
    spent: Cell<Duration>,
    bar: ProgressBar,
    /// Whether the bar has been shown; indicatif draws it only on a terminal.
    shown: Cell<bool>,
}

impl Reading {
    /// Starts the clock, for `total` bytes where their number is known.
    pub fn new(total: Option<u64>) -> Self {
        let template = match total {
            Some(_) => TEMPLATE,
            None => TEMPLATE_OF_A_PIPE,
        };
        let style = ProgressStyle::with_template(template).expect("it names fields");
        // It counts from the first byte on, so that the rate is right when it appears.
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        Self {
            started: Instant::now(),
            bytes: Cell::default(),
            spent: Cell::default(),
            bar: bar.with_style(style),
            shown: Cell::default(),
        }
    }

    /// Calls `read`, which returns a number of elements, and counts their bytes.
    pub fn read<T>(
        &self,
        read: impl FnOnce() -> Result<Option<usize>, Error>,
    ) -> Result<Option<usize>, Error> {
        let start = Instant::now();
        let n = read()?;
        self.spent.update(|spent| spent + start.elapsed());
        self.bytes
            .update(|bytes| bytes + (n.unwrap_or(0) * size_of::<T>()) as u64);
        self.bar.set_position(self.bytes.get());
        if self.started.elapsed() > DELAY && !self.shown.replace(true) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        Ok(n)
    }

    /// The bytes that have been read.
    pub fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// The seconds spent in `read`.
    pub fn seconds(&self) -> f64 {
        self.spent.get().as_secs_f64()
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
