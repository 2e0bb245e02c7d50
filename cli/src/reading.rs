//! The time that reading takes, and a bar of it.

use std::cell::{Cell, OnceCell};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use warpfold::file::Elements;
use warpfold::{Element, Error};

/// Before a bar appears.
const SOON: Duration = Duration::from_millis(500);

const TEMPLATE: &str = "{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";

/// What is read from files while something is computed.
pub struct Reading {
    started: Instant,
    /// Bytes to read in all.
    total: u64,
    bytes: Cell<u64>,
    spent: Cell<Duration>,
    /// On a terminal alone: indicatif looks.
    bar: OnceCell<ProgressBar>,
}

impl Reading {
    pub fn new(total: u64) -> Self {
        Self {
            started: Instant::now(),
            total,
            bytes: Cell::default(),
            spent: Cell::default(),
            bar: OnceCell::new(),
        }
    }

    /// [`Elements::read`], which counts.
    pub fn read<T: Element>(
        &self,
        elements: &mut Elements<T>,
        piece: &mut [T],
    ) -> Result<usize, Error> {
        let start = Instant::now();
        let n = elements.read(piece)?;
        self.spent.update(|spent| spent + start.elapsed());
        self.bytes
            .update(|bytes| bytes + (n * size_of::<T>()) as u64);
        let since = self.started.elapsed();
        if since > SOON {
            let bar = self.bar.get_or_init(|| {
                let style = ProgressStyle::with_template(TEMPLATE).expect("it names fields");
                ProgressBar::new(self.total)
                    .with_style(style)
                    .with_elapsed(since)
            });
            bar.set_position(self.bytes.get());
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
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
