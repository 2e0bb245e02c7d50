//! Copies: bandwidth against size, by the width of an access.

mod twins;

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use warpfold::{Buffer, CopyWidth, Pass};
use warpfold_results::schema::{By, Row, Suite};

use self::twins::{TWIN_MAX_N, Twin};
use super::Bench;
use crate::driver::checked;
use crate::peers::Peers;
use crate::sweep::data::{self, Expected, Number};
use crate::sweep::run::Sweep;
use crate::sweep::subject::Subject;

/// The driver's own copy.
const DRIVER: &str = "cuMemcpyDtoDAsync";

/// Every size.
pub fn run(bench: &Bench, sweep: &mut Sweep) -> Result<()> {
    let sizes = bench.options.sizes(10..=28, 2);
    sweep.announce(sizes.len());
    let twins = bench.options.wants(By::Nvcc).then(|| {
        let twins = twins::build(bench.info.compute_capability);
        sweep.peer_built(By::Nvcc, twins.as_ref().map(|twins| &twins.built));
        twins
    });
    let twins = twins.and_then(Result::ok);
    let longest = sizes.iter().copied().max().unwrap_or(1);
    let integers = data::draw::<i32>(longest, sweep.seed())?;
    let source = bench.gpu.upload(&integers)?;
    for n in sizes {
        if sweep.is_over() {
            return Ok(());
        }
        let group = Group {
            bench,
            integers: &integers[..n],
            sum: Expected::exactly(i32::sum(&integers[..n])),
            source: &source,
            target: RefCell::new(bench.gpu.alloc(n)?),
        };
        group.time(twins.as_ref().filter(|_| n <= TWIN_MAX_N), sweep)?;
    }
    Ok(())
}

/// Copies of the same integers to the same place.
struct Group<'a> {
    bench: &'a Bench<'a>,
    integers: &'a [i32],
    sum: Expected<i32>,
    /// Begins with the integers.
    source: &'a Buffer<i32>,
    /// As long as they are.
    target: RefCell<Buffer<i32>>,
}

impl Group<'_> {
    fn time(&self, twins: Option<&Peers>, sweep: &mut Sweep) -> Result<()> {
        let (n, options) = (self.integers.len(), self.bench.options);
        let mut subjects = Vec::new();
        let names = CopyWidth::ALL.map(|width| (width, width.kernel_name()));
        for (width, name) in names
            .into_iter()
            .filter(|(_, name)| options.wants_kernel(name))
        {
            let Pass {
                blocks, threads, ..
            } = self.pass(width)?;
            let row = Row {
                threads: Some(threads),
                blocks: Some(blocks),
                ..self.row(By::Warpfold, name)
            };
            subjects.push(self.subject(row.clone(), move |_| self.enqueue(width)));
            if let Some(twins) = twins {
                let twin = Twin::of(twins, name)?;
                let row = Row {
                    by: By::Nvcc,
                    ..row
                };
                subjects.push(self.subject(row, move |stream| {
                    let (from, to) = self.addresses();
                    // SAFETY: `n` integers each, apart from each other and live as long as this closure or
                    // longer; allocations begin at multiples of 256 bytes. The stream is the device's and
                    // its context current (`Subject::enqueue`).
                    unsafe { twin.enqueue(from, to, n, (blocks, threads), stream) }
                }));
            }
        }
        if options.wants_kernel(DRIVER) {
            subjects.push(self.subject(self.row(By::Driver, DRIVER), move |stream| {
                let (from, to) = self.addresses();
                let bytes = n * size_of::<i32>();
                // SAFETY: as above.
                let copied =
                    unsafe { cust_raw::cuMemcpyDtoDAsync_v2(to, from, bytes, stream.cast()) };
                checked(DRIVER, copied)
            }));
        }
        let subjects: Vec<_> = subjects.into_iter().map(Rc::new).collect();
        let rows = self.bench.by_device(&subjects);
        sweep.group(&format!("copy of {n} i32"), rows)
    }

    fn row(&self, by: By, kernel: &str) -> Row {
        Row {
            by,
            // Read, and written.
            bytes: 2 * size_of_val(self.integers) as u64,
            ..Row::new(Suite::Copy, kernel, "i32", self.integers.len())
        }
    }

    /// The launch of the library's copy.
    fn pass(&self, width: CopyWidth) -> Result<Pass> {
        let from = self.source.view(..self.integers.len())?;
        let mut to = self.target.borrow_mut();
        let copy = self.bench.gpu.copy(from, &mut *to, 0, width)?;
        copy.passes()
            .first()
            .copied()
            .context("there is something to copy")
    }

    /// The library's copy.
    fn enqueue(&self, width: CopyWidth) -> Result<()> {
        let from = self.source.view(..self.integers.len())?;
        let mut to = self.target.borrow_mut();
        Ok(self.bench.gpu.copy(from, &mut *to, 0, width)?.enqueue()?)
    }

    /// Of the source and the target.
    fn addresses(&self) -> (u64, u64) {
        let to = self.target.borrow().as_device_ptr();
        (self.source.as_device_ptr(), to)
    }

    /// A copy by `enqueue`. The target's sum must be the source's; after the first run of a row it must be
    /// the source, element by element.
    fn subject<'s>(
        &'s self,
        row: Row,
        enqueue: impl Fn(*mut c_void) -> Result<()> + 's,
    ) -> Subject<'s> {
        let is_done = Cell::new(false);
        Subject {
            row,
            spoil: Box::new(|| self.bench.stage.spoil(&self.target.borrow())),
            enqueue: Box::new(enqueue),
            judge: Box::new(move || {
                let target = self.target.borrow();
                if !is_done.replace(true) {
                    let is = target.download()? == self.integers;
                    ensure!(is, "the target is not the source");
                }
                let sum = self.bench.gpu.sum(&*target)?;
                Ok(data::judge(sum, self.sum))
            }),
        }
    }
}
