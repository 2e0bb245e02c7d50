//! The time that reading takes, and a bar of it.

use std::cell::Cell;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use warpfold::file::Elements;
use warpfold::{Element, Error};

/// Before a bar appears.
const SOON: Duration = Duration::from_millis(500);

const TEMPLATE: &str = "{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";

/// What is read from files while something is computed.
pub struct Reading {
    started: Instant,
    bytes: Cell<u64>,
    spent: Cell<Duration>,
    bar: ProgressBar,
    /// Whether the bar has appeared: on a terminal, and indicatif looks whether it is one.
    shown: Cell<bool>,
}

impl Reading {
    /// Of `total` bytes in all.
    pub fn new(total: u64) -> Self {
        let style = ProgressStyle::with_template(TEMPLATE).expect("it names fields");
        // It counts from the first byte on, so that the rate is right when it appears.
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        Self {
            started: Instant::now(),
            bytes: Cell::default(),
            spent: Cell::default(),
            bar: bar.with_style(style),
            shown: Cell::default(),
        }
    }

    /// [`Elements::read`], which counts.
    pub fn read<T: Element>(
        &self,
        elements: &mut Elements<T>,
        piece: &mut [T],
    ) -> Result<Option<usize>, Error> {
        let start = Instant::now();
        let n = elements.read(piece)?;
        self.spent.update(|spent| spent + start.elapsed());
        self.bytes
            .update(|bytes| bytes + (n.unwrap_or(0) * size_of::<T>()) as u64);
        self.bar.set_position(self.bytes.get());
        if self.started.elapsed() > SOON && !self.shown.replace(true) {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        Ok(n)
    }

    /// Bytes that have been read.
    pub fn bytes(&self) -> u64 {
        self.bytes.get()
    }

    /// The seconds that it took.
    pub fn seconds(&self) -> f64 {
        self.spent.get().as_secs_f64()
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
