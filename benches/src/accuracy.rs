//! `accuracy`: how far sums are from the exact sum, by this library's levels and by other libraries.
//!
//! Everybody sums the same bytes. The exact sum is that of an [`Accumulator`](warpfold::Accumulator), to which the
//! CPU adds the elements one by one, without any kernel. Up to [`MOST_IN_PYTHON`] elements it is compared with
//! Python's `math.fsum`.

pub mod data;
pub mod options;
pub mod peers;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use warpfold::{Determinism, Device};
use warpfold_results::accuracy::{
    Accuracy, By, Case, Data, Peer, SCHEMA, Sum, Value, header, insert, largest, read, table,
};
use warpfold_results::report::accuracy_figures;
use warpfold_results::words::size;

use self::data::Item;
use self::options::AccuracyOptions;
use self::peers::{Cub, IN_PYTHON, Python};
use crate::machine::{Started, describe};
use crate::options::BadOption;
use crate::print_line;

/// The most elements for `math.fsum`, which takes minutes for more.
const MOST_IN_PYTHON: usize = 1 << 20;

const LEVELS: [(By, Determinism); 3] = [
    (By::Fast, Determinism::Fast),
    (By::Reproducible, Determinism::Reproducible),
    (By::Exact, Determinism::Exact),
];

/// Measures or reads a record, shows it, and fails if the exact sums are not exact.
pub fn run(options: &AccuracyOptions) -> Result<()> {
    if let Some(folder) = &options.out {
        let shown = folder.display();
        let made = fs::create_dir_all(folder).with_context(|| format!("cannot create {shown}"));
        made.map_err(BadOption::new)?;
    }
    let page = match &options.page {
        Some(file) => Some((file, read_page(file)?)),
        None => None,
    };
    let record = match &options.read {
        Some(file) => read(file)?,
        None => measure(options)?,
    };
    let text = format!("{}\n\n{}", header(&record), table(&record.cases));
    print_line(&text)?;
    if let Some(folder) = &options.out {
        write_all(folder, &record, &text, options.read.is_none())?;
    }
    if let Some((file, page)) = page {
        let page = insert(&page, &table(largest(&record)));
        let written = fs::write(file, page.unwrap_or_default());
        written.with_context(|| format!("cannot write {}", file.display()))?;
    }
    let wrong = record.cases.iter().find_map(inexact);
    ensure!(wrong.is_none(), "{}", wrong.unwrap_or_default());
    Ok(())
}

fn read(file: &Path) -> Result<Accuracy> {
    let name = file.display();
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {name}"));
    let record = read::parse(&text.map_err(BadOption::new)?);
    Ok(record.map_err(|error| BadOption::new(format!("{name} is no accuracy.json: {error}")))?)
}

/// What is wrong with sums that promise to be exact.
fn inexact(case: &Case) -> Option<String> {
    let is_wrong = |by| case.error(by).is_some_and(|error| error.ulps != 0.0);
    let wrong = [By::Exact, By::Fsum].into_iter().find(|by| is_wrong(*by))?;
    Some(format!(
        "{} of {} {}, n = {}, differs from the exact sum",
        wrong.title(),
        case.data,
        case.element,
        case.n
    ))
}

/// Writes the table and the figures, and the record itself if it is new.
fn write_all(folder: &Path, record: &Accuracy, text: &str, is_new: bool) -> Result<()> {
    let save = |name: &str, bytes: &[u8]| {
        let file = folder.join(name);
        fs::write(&file, bytes).with_context(|| format!("cannot write {}", file.display()))
    };
    if is_new {
        let json = serde_json::to_string_pretty(record)? + "\n";
        save("accuracy.json", json.as_bytes())?;
    }
    save("accuracy.md", format!("{text}\n").as_bytes())?;
    for figure in accuracy_figures(record)? {
        save(&format!("{}.svg", figure.name), figure.svg.as_bytes())?;
        save(&format!("{}.png", figure.name), &figure.png()?)?;
    }
    Ok(print_line(&folder.display().to_string())?)
}

/// The text of a page, which must have the markers of the table.
fn read_page(file: &Path) -> Result<String> {
    let name = file.display();
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {name}"));
    let text = text.map_err(BadOption::new)?;
    match insert(&text, "") {
        Some(_) => Ok(text),
        None => Err(BadOption::new(format!("{name} lacks the markers of the table")).into()),
    }
}

fn measure(options: &AccuracyOptions) -> Result<Accuracy> {
    let started = Started::now()?;
    let device = options.device.open()?;
    let record = Accuracy {
        schema: SCHEMA.into(),
        date: started.date,
        version: env!("CARGO_PKG_VERSION").into(),
        commit: env!("WARPFOLD_COMMIT").into(),
        compiler: env!("WARPFOLD_COMPILER").into(),
        command_line: started.command_line,
        machine: started.machine,
        device: device
            .info()
            .map(|info| describe(&device, info))
            .transpose()?,
        seed: options.seed.unwrap_or_else(|| rand::random::<u32>().into()),
        peers: Vec::new(),
        notes: Vec::new(),
        cases: Vec::new(),
    };
    let mut run = Run::new(device, record);
    let sizes: Vec<_> = options.sizes().collect();
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}")?;
    let bar = ProgressBar::new((Data::ALL.len() * 2 * sizes.len()) as u64).with_style(style);
    for data in Data::ALL {
        for &n in &sizes {
            bar.set_message(format!("{data}, {} elements", size(n as u64)));
            run.case::<f32>(data, n)?;
            bar.inc(1);
            run.case::<f64>(data, n)?;
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    // By type, then by data, then by n.
    run.record.cases.sort_by(|a, b| a.element.cmp(&b.element));
    Ok(run.record)
}

/// A run in progress: who sums, and the record so far.
struct Run {
    device: Device,
    cub: Option<Cub>,
    python: Option<Python>,
    record: Accuracy,
}

impl Run {
    /// Starts the peers, and records which there are.
    fn new(device: Device, mut record: Accuracy) -> Self {
        let mut peer = |by, found: Result<String, String>| {
            record.peers.push(Peer {
                by,
                version: found.as_ref().ok().cloned(),
                absent: found.err(),
            });
        };
        let cub = Cub::build(&device).map_err(|error| format!("{error:#}"));
        let version = || {
            cub.as_ref()
                .map(|cub| cub.version.clone())
                .map_err(Clone::clone)
        };
        peer(By::Cub, version());
        let has_mode = cub.as_ref().is_ok_and(|cub| cub.has_gpu_to_gpu);
        let mode = version().and_then(|version| match has_mode {
            true => Ok(version),
            false => Err(format!("{version} lacks it; CUB 3.1 and later have it")),
        });
        peer(By::CubGpuToGpu, mode);
        let python = Python::start(&device).map_err(|error| format!("{error:#}"));
        for (by, name) in IN_PYTHON {
            let found = python.as_ref().map_err(Clone::clone);
            peer(by, found.and_then(|python| python.found(name)));
        }
        Self {
            device,
            cub: cub.ok(),
            python: python.ok(),
            record,
        }
    }

    /// Sums one array by everybody.
    fn case<T: Item>(&mut self, data: Data, n: usize) -> Result<()> {
        let items: Vec<T> = data::items(data, n, self.record.seed);
        let (exact, condition) = data::exact(&items);
        let mut sums = self.on_device(&items)?;
        let mut add = |by, value| sums.push(Sum { by, value });
        for (by, value) in self.in_python(&items) {
            add(by, value);
        }
        add(By::Loop, T::looped(&items).value());
        self.record.cases.push(Case {
            data,
            element: T::NAME.into(),
            n: n as u64,
            condition,
            exact: exact.sum::<T>().value(),
            sums,
        });
        Ok(())
    }

    /// The sums by the library and by CUB.
    fn on_device<T: Item>(&mut self, items: &[T]) -> Result<Vec<Sum>> {
        let buffer = self.device.upload(items)?;
        let mut sums = Vec::new();
        for (by, level) in LEVELS {
            let value = self.device.determinism(level).sum(&buffer)?.value();
            sums.push(Sum { by, value });
        }
        let Some(cub) = &self.cub else {
            return Ok(sums);
        };
        for by in cub.modes() {
            let value = cub.sum(&self.device, &buffer, by)?.value();
            sums.push(Sum { by, value });
        }
        Ok(sums)
    }

    /// The sums in the Python process; a library that fails is absent, with a note.
    fn in_python<T: Item>(&mut self, items: &[T]) -> Vec<(By, Value)> {
        let Some(python) = &mut self.python else {
            return Vec::new();
        };
        let is_asked = |(by, name): &(By, &str)| {
            let is_long = *by == By::Fsum && items.len() > MOST_IN_PYTHON;
            !is_long && python.found(name).is_ok()
        };
        let asked: Vec<_> = IN_PYTHON.into_iter().filter(is_asked).collect();
        let names: Vec<_> = asked.iter().map(|(_, name)| *name).collect();
        let mut notes = Vec::new();
        if items.len() > MOST_IN_PYTHON {
            notes.push(format!(
                "math.fsum adds at most {MOST_IN_PYTHON} elements, because more take minutes"
            ));
        }
        let mut values = Vec::new();
        match python.sums(items, &names) {
            Ok(sums) => {
                for ((by, _), sum) in asked.into_iter().zip(sums) {
                    match sum {
                        Ok(sum) => values.push((by, sum)),
                        Err(error) => notes.push(format!("{}: {error:#}", by.title())),
                    }
                }
            }
            Err(error) => notes.push(format!("python3: {error:#}")),
        }
        let known = &mut self.record.notes;
        for note in notes {
            if !known.contains(&note) {
                known.push(note);
            }
        }
        values
    }
}
