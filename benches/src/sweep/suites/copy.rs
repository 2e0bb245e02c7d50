//! Copies: bandwidth against size, for each width of an access.

mod reference;

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;

use anyhow::{Context, Result, ensure};
use warpfold::{CopyWidth, Pass};
use warpfold_results::schema::{By, Row, Suite};

use self::reference::{REFERENCE_MAX_N, Reference};
use super::Bench;
use crate::driver::checked;
use crate::peers::Peers;
use crate::sweep::copies::Copies;
use crate::sweep::data::{self, Expected, Number};
use crate::sweep::run::Sweep;
use crate::sweep::subject::Subject;

/// The driver's own copy.
const DRIVER: &str = "cuMemcpyDtoDAsync";

/// Times every size.
pub fn run(bench: &Bench, sweep: &mut Sweep) -> Result<()> {
    let sizes = bench.options.sizes(10..=28, 2);
    sweep.announce(sizes.len());
    let references = bench.options.wants(By::Nvcc).then(|| {
        let references = reference::build(bench.info.compute_capability);
        sweep.peer_built(
            By::Nvcc,
            references.as_ref().map(|references| &references.built),
        );
        references
    });
    let references = references.and_then(Result::ok);
    let longest = sizes.iter().copied().max().unwrap_or(1);
    let integers = data::draw::<i32>(longest, sweep.seed())?;
    let mut source = bench.gpu.upload(&integers)?;
    let mut target = bench.gpu.alloc(longest)?;
    for n in sizes {
        if sweep.is_over() {
            return Ok(());
        }
        let integers = &integers[..n];
        let target = Copies::of(bench.gpu, &mut target, integers)?;
        let group = Group {
            bench,
            integers,
            sum: Expected::exactly(i32::sum(integers)),
            source: Copies::of(bench.gpu, &mut source, integers)?,
            target: RefCell::new(target),
        };
        group.time(references.as_ref().filter(|_| n <= REFERENCE_MAX_N), sweep)?;
    }
    Ok(())
}

/// Copies of the same integers by all kernels.
struct Group<'a> {
    bench: &'a Bench<'a>,
    integers: &'a [i32],
    sum: Expected<i32>,
    /// The integers, once for each launch of a batch.
    source: Copies<'a, i32>,
    /// A target for each of them.
    target: RefCell<Copies<'a, i32>>,
}

impl Group<'_> {
    fn time(&self, references: Option<&Peers>, sweep: &mut Sweep) -> Result<()> {
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
            subjects.push(self.subject(row.clone(), move |copy, _| self.enqueue(width, copy)));
            if let Some(references) = references {
                let reference = Reference::of(references, name)?;
                let row = Row {
                    by: By::Nvcc,
                    ..row
                };
                subjects.push(self.subject(row, move |copy, stream| {
                    let (from, to) = self.addresses(copy);
                    // SAFETY: `n` integers each, without overlap, which live at least as long as this
                    // closure; allocations are aligned to 256 bytes. The stream is the device's and its
                    // context is current (`Subject::enqueue`).
                    unsafe { reference.enqueue(from, to, n, (blocks, threads), stream) }
                }));
            }
        }
        if options.wants_kernel(DRIVER) {
            subjects.push(
                self.subject(self.row(By::Driver, DRIVER), move |copy, stream| {
                    let (from, to) = self.addresses(copy);
                    let bytes = n * size_of::<i32>();
                    // SAFETY: as above.
                    let copied =
                        unsafe { cust_raw::cuMemcpyDtoDAsync_v2(to, from, bytes, stream.cast()) };
                    checked(DRIVER, copied)
                }),
            );
        }
        let subjects: Vec<_> = subjects.into_iter().map(Rc::new).collect();
        let rows = self.bench.device_rows(&subjects);
        sweep.group(&format!("copy of {n} i32"), rows)
    }

    fn row(&self, by: By, kernel: &str) -> Row {
        Row {
            by,
            // Read and written.
            bytes: 2 * size_of_val(self.integers) as u64,
            ..Row::new(Suite::Copy, kernel, "i32", self.integers.len())
        }
    }

    /// The launch of the library's copy.
    fn pass(&self, width: CopyWidth) -> Result<Pass> {
        let mut to = self.target.borrow_mut();
        let copy = self
            .bench
            .gpu
            .copy(self.source.view(0)?, to.view_mut(0)?, 0, width)?;
        copy.passes()
            .first()
            .copied()
            .context("the copy has no pass")
    }

    /// Enqueues the library's copy.
    fn enqueue(&self, width: CopyWidth, copy: usize) -> Result<()> {
        let mut to = self.target.borrow_mut();
        let (from, to) = (self.source.view(copy)?, to.view_mut(copy)?);
        Ok(self.bench.gpu.copy(from, to, 0, width)?.enqueue()?)
    }

    /// The device addresses of a source and its target.
    fn addresses(&self, copy: usize) -> (u64, u64) {
        (
            self.source.address(copy),
            self.target.borrow().address(copy),
        )
    }

    /// A copy by `enqueue`. Each run compares the targets' sums, the first run of a row all elements.
    fn subject<'s>(
        &'s self,
        row: Row,
        enqueue: impl Fn(usize, *mut c_void) -> Result<()> + 's,
    ) -> Subject<'s> {
        let has_run = Cell::new(false);
        Subject {
            row,
            copies: self.source.count(),
            overwrite: Box::new(|| {
                let target = self.target.borrow();
                target
                    .memory()
                    .try_for_each(|bytes| self.bench.timer.overwrite_bytes(bytes))
            }),
            enqueue: Box::new(enqueue),
            check: Box::new(move |copies| {
                let target = self.target.borrow();
                let is_first = !has_run.replace(true);
                for copy in 0..copies {
                    let target = target.view(copy)?;
                    if is_first {
                        let is_equal = target.download()? == self.integers;
                        ensure!(is_equal, "the target differs from the source");
                    }
                    let verdict = data::check(self.bench.gpu.sum(target)?, self.sum);
                    if verdict.is_err() {
                        return Ok(verdict);
                    }
                }
                Ok(Ok(()))
            }),
        }
    }
}
