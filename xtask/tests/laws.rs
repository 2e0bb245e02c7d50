//! Checks the laws of PTX and SASS (`xtask::laws`) for every entry of the kernels' modules. ptxas compiles
//! the PTX that the library embeds; for sm_90, the PTX for sm_80.
//!
//! Handles cost nothing: `kernels-handles` has a pair of entries for every access that a handle offers. The
//! entry with handles must not have more memory accesses than that with raw pointers.
//!
//! The widest copies move 256 bits on sm_100, for which the library embeds no module.
//!
//! Needs a device compiler and, for SASS, NVIDIA's tools; no GPU. Tests that cannot run are ignored.

use cuda_builder::{NvvmArch, Ptx};
use kernels_gpu::entry::{Entry, Parameter, count, groups, library, segments, teaching};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use xtask::laws::claim::Claim;
use xtask::laws::memory::{self, Accesses};
use xtask::laws::{kernels::KERNELS, machine};
use xtask::sass::{
    name,
    profile::{Counts, Profile},
};
use xtask::tools::{self, PtxTools};
use xtask::{book, laws, ptx, sass, workspace};

/// The architecture for which all laws are checked; other architectures have fewer laws.
const SASS: NvvmArch = NvvmArch::Compute90;

/// Architectures and the PTX that they run; only the last without `WARPFOLD_TESTS=all`.
const MACHINES: [(NvvmArch, NvvmArch); 3] = [
    (NvvmArch::Compute75, NvvmArch::Compute75),
    (NvvmArch::Compute80, NvvmArch::Compute80),
    (SASS, NvvmArch::Compute80),
];

/// The first architecture with accesses of 256 bits, for which no module is embedded.
const WIDER: NvvmArch = NvvmArch::Compute100;

/// The module with accesses of 256 bits.
const WIDER_MODULE: &str = "copy";

/// The endings of a pair's names in `kernels-handles`.
const BY: [&str; 2] = ["_by_handle", "_by_pointer"];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    if arguments.list {
        // Listing needs no device build, because the names of modules and entries are known.
        let code = |arch| Code::new(arch, Vec::new(), None);
        let modules = MACHINES.map(|(arch, _)| (code(arch), code(arch)));
        return libtest_mimic::run(&arguments, trials(modules, code(WIDER))).exit_code();
    }
    let trials = match modules() {
        Err(error) => {
            let error = format!("{error:#}");
            // This test fails even if others were selected.
            (arguments.filter, arguments.skip) = (None, Vec::new());
            vec![Trial::test("modules_are_built", || Err(error.into()))]
        }
        Ok((modules, wider)) => trials(modules, wider),
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// For each architecture the kernels and `kernels-handles`; and the copies for [`WIDER`].
fn modules() -> anyhow::Result<(Vec<(Code, Code)>, Code)> {
    let tools = tools::find();
    let is_all = std::env::var_os("WARPFOLD_TESTS").is_some_and(|tests| tests == "all");
    let machines = if is_all {
        &MACHINES[..]
    } else {
        &MACHINES[2..]
    };
    let arches: BTreeSet<_> = machines.iter().map(|(_, ptx)| *ptx).collect();
    let arches: Vec<_> = arches.into_iter().collect();
    let kernels = ptx::build(&arches, false)?;
    let accesses = ptx::build_handles(&arches)?;
    let code = |arch, ptx, modules: &[Ptx]| {
        let run = modules.iter().filter(|module| module.arch == ptx);
        let run = run.map(|module| Ptx {
            arch,
            ..module.clone()
        });
        Code::new(arch, run.collect(), tools.clone())
    };
    let pair = |(arch, ptx)| (code(arch, ptx, &kernels), code(arch, ptx, &accesses));
    let wider = ptx::build_module(WIDER, WIDER_MODULE)?;
    let wider = Code::new(WIDER, wider, tools.clone());
    Ok((machines.iter().copied().map(pair).collect(), wider))
}

fn trials(codes: impl IntoIterator<Item = (Code, Code)>, wider: Code) -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("kernels_are_read_from_names", kernels_are_read_from_names),
        Trial::test("every_kernel_has_laws", every_kernel_has_laws),
    ];
    trials.push(sass_trial(
        &Arc::new(wider),
        "copy_vec4_moves_256_bits",
        |sass| copies_wider(&sass.profiles),
    ));
    for (code, accesses) in codes {
        let (code, accesses) = (Arc::new(code), Arc::new(accesses));
        trials.push(trial(
            &code,
            "entries_are_those_of_the_tables",
            Code::entries_are_those_of_the_tables,
        ));
        trials.push(trial(
            &code,
            "every_function_is_defined",
            Code::every_function_is_defined,
        ));
        trials.push(trial(
            &code,
            "no_kernel_compares_bytes",
            Code::compares_no_bytes,
        ));
        trials.push(trial(&code, "panics_leave_no_text", Code::has_no_text));
        trials.push(trial(&accesses, "handles_cost_no_ptx", |code| {
            cost_nothing(&code.accesses_in_ptx()?)
        }));
        trials.push(sass_trial(&accesses, "handles_cost_no_sass", |sass| {
            cost_nothing(&sass.accesses)
        }));
        if code.arch == SASS {
            trials.push(trial(
                &code,
                "the_book_shows_this_ptx",
                Code::is_in_the_book,
            ));
            trials.push(sass_trial(
                &code,
                "the_book_counts_these_loops",
                Sass::is_in_the_book,
            ));
            trials.extend(rows().map(|entry| {
                sass_trial(&code, entry.name, move |sass| {
                    keeps_the_laws(entry, &sass.profiles)
                })
            }));
            trials.push(sass_trial(
                &code,
                "halves_are_converted_by_hardware",
                |sass| converts_halves(&sass.profiles),
            ));
        } else {
            trials.push(sass_trial(
                &code,
                "every_entry_keeps_the_laws_of_all_architectures",
                |sass| all_keep_the_common_laws(&sass.profiles),
            ));
        }
    }
    trials
}

fn trial(
    code: &Arc<Code>,
    law: &str,
    check: impl FnOnce(&Code) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let name = format!("{}::{law}", code.arch);
    let code = Arc::clone(code);
    Trial::test(name, move || check(&code))
}

/// A trial of machine code; ignored without ptxas.
fn sass_trial(
    code: &Arc<Code>,
    law: &str,
    check: impl FnOnce(&Sass) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    let name = format!("{}::{law}", code.arch);
    let code = Arc::clone(code);
    Trial::ignorable_test(name, move || match &code.tools {
        None => Ok(Completion::ignored_with("no ptxas")),
        Some(_) => check(code.sass()?).map(|()| Completion::Completed),
    })
}

/// The rows of all entries.
fn rows() -> impl Iterator<Item = &'static Entry> {
    let lists = [
        &library::KERNELS,
        &count::COUNTS,
        &groups::GROUPS,
        &segments::PARTITION,
        &teaching::KERNELS,
        &teaching::COPIES,
        &teaching::LANES,
    ];
    lists.into_iter().flat_map(|list| list.entries)
}

/// The claim of an entry's row.
fn claim(entry: &'static Entry) -> Claim<'static> {
    let bits = |bytes: usize| 8 * bytes as u32;
    let is_keyed = !entry.key.is_empty();
    let [first, second, _] = entry.read_bytes;
    let read = if is_keyed {
        &entry.read_bytes[1..2]
    } else {
        &entry.read_bytes[..]
    };
    let arrays = read.iter().filter(|&&bytes| bytes > 0);
    assert!(
        arrays.clone().all(|bytes| *bytes == read[0]),
        "all arrays of an entry must have elements of one size: {entry:?}"
    );
    Claim {
        kernel: entry.kernel,
        op: entry.op,
        items: entry.items,
        item_arrays: arrays.count() as u32,
        element_bits: bits(if is_keyed { second } else { first }),
        acc_bits: bits(entry.acc_bytes),
        key_bits: if is_keyed { bits(first) } else { 0 },
        vector: match entry.needs.per_thread {
            Some(items) if is_keyed => items,
            _ => entry.load_items() as u32,
        },
        arrays: entry.arrays as u32,
        value: value(entry),
    }
}

/// Start and end of the operator in an entry's parameters, in bytes.
fn value(entry: &Entry) -> [u32; 2] {
    let mut at = 0;
    for parameter in entry.parameters {
        at += match parameter {
            Parameter::Input(..) | Parameter::Output(..) => 16,
            Parameter::Cell(..) | Parameter::Number(_) => 8,
            Parameter::Plain(_, bytes) => *bytes as u32,
            // Addresses and lengths precede it, so it is aligned.
            Parameter::Value(bytes) => return [at, at + *bytes as u32],
        };
    }
    [0; 2]
}

/// `cargo xtask sass --kernel` reads kernels from the names of entries, without the tables.
fn kernels_are_read_from_names() -> Result<(), Failed> {
    let wrong: Vec<_> = rows()
        .filter(|entry| name::kernel_of(entry.name) != entry.kernel)
        .map(|entry| entry.name)
        .collect();
    none("entries whose kernel is not in their name", &wrong)
}

fn every_kernel_has_laws() -> Result<(), Failed> {
    let kernels: BTreeSet<_> = rows().map(|entry| entry.kernel).collect();
    let promised = KERNELS
        .iter()
        .flat_map(|kernel| kernel.names.iter().copied());
    let promised: BTreeSet<_> = promised.collect();
    none(
        "kernels without laws, and laws without kernels",
        &kernels.symmetric_difference(&promised).collect::<Vec<_>>(),
    )
}

/// An error if `wrong` is not empty.
fn none(what: &str, wrong: &[impl std::fmt::Debug]) -> Result<(), Failed> {
    match wrong {
        [] => Ok(()),
        wrong => Err(format!("{what}: {wrong:?}").into()),
    }
}

fn keeps_the_laws(
    entry: &'static Entry,
    profiles: &BTreeMap<String, Profile>,
) -> Result<(), Failed> {
    let profile = profile(entry.name, profiles)?;
    let broken = machine::broken(&claim(entry), profile);
    if !broken.is_empty() {
        return Err(broken.join("; ").into());
    }
    Ok(())
}

/// Checks that all entries exist and keep the laws of every architecture.
fn all_keep_the_common_laws(profiles: &BTreeMap<String, Profile>) -> Result<(), Failed> {
    let mut broken = Vec::new();
    for entry in rows() {
        let profile = profile(entry.name, profiles)?;
        let laws = machine::broken_on_every_arch(&claim(entry), profile).into_iter();
        broken.extend(laws.map(|law| format!("{}: {law}", entry.name)));
    }
    none("laws broken", &broken)
}

/// Checks that the widest copies, and no others, load and store 256 bits at once.
fn copies_wider(profiles: &BTreeMap<String, Profile>) -> Result<(), Failed> {
    let mut wrong = Vec::new();
    for entry in teaching::COPIES.entries {
        let Counts { ldg, stg, .. } = &profile(entry.name, profiles)?.counts;
        let wide = [ldg, stg].map(|counts| counts.contains_key(&256));
        if wide != [entry.kernel == "copy_vec4"; 2] {
            wrong.push(format!("{}: loads {ldg:?}, stores {stg:?}", entry.name));
        }
    }
    none("copies of wrong widths", &wrong)
}

/// Checks that entries of 16-bit floats have hardly more instructions than those of `f32`, in which they
/// compute.
fn converts_halves(profiles: &BTreeMap<String, Profile>) -> Result<(), Failed> {
    let instructions = |name: &str| Ok::<_, Failed>(profile(name, profiles)?.counts.instructions);
    let mut compared = 0;
    let mut longer = Vec::new();
    for entry in rows() {
        let claim = claim(entry);
        let Some(half) = ["bf16", "f16"].into_iter().find(|half| claim.has(half)) else {
            continue;
        };
        // Replaces the element in the operator's name too: `count_less_f16_f16`.
        let f32_name = entry.name.replace(half, "f32");
        let (half, f32) = (instructions(entry.name)?, instructions(&f32_name)?);
        let found = machine::converts_in_software(&claim, half, f32);
        longer.extend(found.map(|found| format!("{}: {found}", entry.name)));
        compared += 1;
    }
    if compared == 0 {
        return Err("no entry has 16-bit floats".into());
    }
    none("conversions in software", &longer)
}

fn profile<'a>(name: &str, profiles: &'a BTreeMap<String, Profile>) -> Result<&'a Profile, Failed> {
    let profile = profiles.get(name);
    profile.ok_or_else(|| format!("ptxas reports no entry {name}").into())
}

/// Checks that no entry has more accesses by handles than its pair by pointers, which must have some.
fn cost_nothing(entries: &BTreeMap<String, Accesses>) -> Result<(), Failed> {
    let accesses = |by| {
        let entries = entries.iter();
        let found =
            entries.filter_map(move |(name, accesses)| Some((name.strip_suffix(by)?, accesses)));
        found.collect::<BTreeMap<_, _>>()
    };
    let [handles, pointers] = BY.map(accesses);
    if handles.is_empty() || !handles.keys().eq(pointers.keys()) {
        return Err(format!("entries that are not pairs: {:?}", entries.keys()).into());
    }
    let mut worse = Vec::new();
    for (name, on_pointers) in pointers {
        if on_pointers.is_empty() {
            worse.push(format!("{name}: no access at all"));
        }
        let more = memory::excess(handles[name], on_pointers).into_iter();
        worse.extend(more.map(|more| format!("{name}: {more}")));
    }
    none("more accesses by handles", &worse)
}

/// The files are as the build would write them.
fn all_are_in_the_book(files: &[(PathBuf, String)]) -> Result<(), Failed> {
    for (path, text) in files {
        if std::fs::read_to_string(path).ok().as_ref() != Some(text) {
            let path = path.display();
            return Err(format!("{path} differs; `cargo xtask book --ptx` writes it again").into());
        }
    }
    Ok(())
}

/// The machine code for an architecture.
struct Sass {
    /// Each entry's profile.
    profiles: BTreeMap<String, Profile>,
    /// Each entry's accesses to memory.
    accesses: BTreeMap<String, Accesses>,
    /// The loops that the book counts, if the kernels are here.
    loops: Option<Vec<(PathBuf, String)>>,
    /// Whether the tools have the version that wrote the book.
    has_versions_of_book: bool,
}

impl Sass {
    fn of(tools: &PtxTools, modules: &[Ptx], arch: NvvmArch) -> anyhow::Result<Self> {
        let assembled = sass::assemble(tools, modules, false)?;
        let profiles = assembled.profiles(arch)?.into_iter();
        let functions = assembled.functions.iter();
        Ok(Self {
            profiles: profiles.map(|p| (p.name.clone(), p)).collect(),
            accesses: functions
                .map(|f| (f.name.clone(), memory::in_sass(f)))
                .collect(),
            loops: book::shown_loops(&workspace::root(), &assembled.functions).ok(),
            has_versions_of_book: tools.folder() == tools::cached_folder(),
        })
    }

    fn is_in_the_book(&self) -> Result<(), Failed> {
        let loops = self.loops.as_ref().ok_or("a copy has no loop")?;
        if !self.has_versions_of_book {
            println!("not compared: another ptxas than the book's");
            return Ok(());
        }
        all_are_in_the_book(loops)
    }
}

/// The PTX and the machine code for an architecture.
struct Code {
    arch: NvvmArch,
    modules: Vec<Ptx>,
    tools: Option<PtxTools>,
    /// The machine code, or the error; compiled by the first test that needs it.
    sass: OnceLock<Result<Sass, String>>,
}

impl Code {
    fn new(arch: NvvmArch, modules: Vec<Ptx>, tools: Option<PtxTools>) -> Self {
        let sass = OnceLock::new();
        Self {
            arch,
            modules,
            tools,
            sass,
        }
    }

    fn sass(&self) -> Result<&Sass, Failed> {
        let sass = self.sass.get_or_init(|| {
            let tools = self.tools.as_ref().ok_or("no ptxas")?;
            Sass::of(tools, &self.modules, self.arch).map_err(|error| format!("{error:#}"))
        });
        sass.as_ref().map_err(|error| error.into())
    }

    /// Each module's name, empty if it is the only one, and its text.
    fn texts(&self) -> Result<Vec<(&str, String)>, Failed> {
        let text = |module: &Ptx| std::fs::read_to_string(&module.path);
        let modules = self.modules.iter();
        modules
            .map(|module| Ok((module.module.as_deref().unwrap_or_default(), text(module)?)))
            .collect()
    }

    fn accesses_in_ptx(&self) -> Result<BTreeMap<String, Accesses>, Failed> {
        let texts = self.texts()?.into_iter();
        Ok(texts.flat_map(|(_, text)| memory::in_ptx(&text)).collect())
    }

    /// Every entry is in the module that its row names, and no module has other entries.
    fn entries_are_those_of_the_tables(&self) -> Result<(), Failed> {
        let expected: BTreeSet<_> = rows().map(|entry| (entry.module, entry.name)).collect();
        let texts = self.texts()?;
        let entries: BTreeSet<_> = texts
            .iter()
            .flat_map(|(module, text)| laws::entries(text).into_iter().map(|e| (*module, e)))
            .collect();
        if entries != expected {
            let missing: Vec<_> = expected.difference(&entries).collect();
            let unknown: Vec<_> = entries.difference(&expected).collect();
            return Err(format!("missing: {missing:?}, not in the tables: {unknown:?}").into());
        }
        Ok(())
    }

    fn every_function_is_defined(&self) -> Result<(), Failed> {
        for (module, text) in self.texts()? {
            let unresolved = laws::unresolved(&text);
            if !unresolved.is_empty() {
                return Err(format!("{module}: declared but not defined: {unresolved:?}").into());
            }
        }
        Ok(())
    }

    fn compares_no_bytes(&self) -> Result<(), Failed> {
        for (module, text) in self.texts()? {
            let functions = laws::comparisons(&text);
            if !functions.is_empty() {
                return Err(
                    format!("{module}: functions that compare bytes: {functions:?}").into(),
                );
            }
        }
        Ok(())
    }

    /// The library's build has no panic messages and prints nothing.
    fn is_in_the_book(&self) -> Result<(), Failed> {
        let modules: Vec<_> = self.texts()?.into_iter().map(|(_, text)| text).collect();
        all_are_in_the_book(&book::shown_ptx(&workspace::root(), &modules)?)
    }

    fn has_no_text(&self) -> Result<(), Failed> {
        for (module, ptx) in self.texts()? {
            let texts = laws::texts(&ptx);
            if !texts.is_empty() {
                return Err(
                    format!("{module}: texts in a build without messages: {texts:?}").into(),
                );
            }
        }
        Ok(())
    }
}
