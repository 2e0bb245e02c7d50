//! The time of reading, and the progress bar.

use std::cell::Cell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use warpfold::Error;

/// The time until the progress bar appears.
const DELAY: Duration = Duration::from_millis(500);

const TEMPLATE: &str = "{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";

/// The template if the total is unknown.
const PIPE_TEMPLATE: &str = "{spinner} {bytes}, {bytes_per_sec}";

/// Counts the bytes that are read from files, and the time of reading them.
pub struct Reading {
    started: Instant,
    bytes: Cell<u64>,
    spent: Cell<Duration>,
    bar: ProgressBar,
    /// Whether the bar has been shown; indicatif draws it only on a terminal.
    shown: Cell<bool>,
}

impl Reading {
    /// Starts the clock, without a progress bar.
    pub fn without_bar() -> Self {
        let reading = Self::new(None);
        reading.shown.set(true);
        reading
    }

    /// Starts the clock; `total` is the number of bytes, if known.
    pub fn new(total: Option<u64>) -> Self {
        let template = match total {
            Some(_) => TEMPLATE,
            None => PIPE_TEMPLATE,
        };
        let style = ProgressStyle::with_template(template).expect("a valid template");
        // The hidden bar counts from the first byte, so that its rate is correct when it appears.
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

    /// The number of bytes that have been read.
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
