//! The laws of PTX and SASS, applied to every entry of the kernels' modules: `xtask::laws`.
//!
//! Handles cost nothing: no entry has more accesses to memory than its twin in `kernels-raw`,
//! which is the same kernel on raw pointers.
//!
//! Needs a device compiler and, for SASS, NVIDIA's tools; no GPU. What cannot be checked is
//! reported as ignored, never as passed.

use cuda_builder::{NvvmArch, Ptx};
use kernels_gpu::entry::{ENTRIES, Entry, FAMILIES, copy, keyed, triple};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use xtask::laws::memory::{self, Accesses};
use xtask::sass::profile::Profile;
use xtask::tools::{self, PtxTools};
use xtask::{laws, ptx, sass};

/// The architecture whose SASS the laws are about.
const SASS: NvvmArch = NvvmArch::Compute90;

/// The elements that have a raw twin, each by its sum: the operator is the same code for every
/// element of a width, and the handles know of no operator.
const TWINS: [&str; 3] = ["i32", "f32", "f64"];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    if arguments.list {
        // Listing must not take a device build; the names of modules and entries are known.
        let code = |arch| Code::new(arch, Vec::new(), None);
        let modules = ptx::ARCHES.map(|arch| (code(arch), code(arch)));
        return libtest_mimic::run(&arguments, trials(modules)).exit_code();
    }
    let trials = match modules() {
        Err(error) => {
            let error = format!("{error:#}");
            vec![Trial::test("modules_are_built", || Err(error.into()))]
        }
        Ok(modules) => trials(modules),
    };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// For each architecture the kernels, and the kernels on raw pointers.
fn modules() -> anyhow::Result<Vec<(Code, Code)>> {
    let tools = tools::find();
    let kernels = ptx::build(&ptx::ARCHES, false)?;
    let raw = ptx::build_raw(&ptx::ARCHES)?;
    let of = |arch, modules: &[Ptx]| {
        let of_arch = modules.iter().filter(|module| module.arch == arch);
        Code::new(arch, of_arch.cloned().collect(), tools.clone())
    };
    let pair = |arch| (of(arch, &kernels), of(arch, &raw));
    Ok(ptx::ARCHES.map(pair).into())
}

fn trials(codes: impl IntoIterator<Item = (Code, Code)>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (code, raw) in codes {
        let (code, raw) = (Arc::new(code), Arc::new(raw));
        trials.push(trial(
            &code,
            "entries_are_the_tables",
            Code::entries_are_the_tables,
        ));
        trials.push(trial(
            &code,
            "nothing_is_unresolved",
            Code::nothing_is_unresolved,
        ));
        trials.push(trial(
            &raw,
            "every_rung_has_a_raw_twin",
            Code::entries_are_the_twins,
        ));
        trials.push(sass_trial(&code, "ptxas_accepts", |_| Ok(())));
        let twin = Arc::clone(&raw);
        trials.push(trial(&code, "handles_cost_no_ptx", move |code| {
            cost_nothing(&code.accesses_in_ptx()?, &twin.accesses_in_ptx()?)
        }));
        trials.push(sass_trial(&code, "handles_cost_no_sass", move |sass| {
            cost_nothing(&sass.accesses, &raw.sass()?.accesses)
        }));
        if code.arch == SASS {
            trials.extend(kernels().map(|(name, kernel)| {
                sass_trial(&code, name, move |sass| {
                    keeps_the_laws(name, kernel, &sass.profiles)
                })
            }));
            trials.push(sass_trial(
                &code,
                "halves_are_converted_by_hardware",
                |sass| converts_halves(&sass.profiles),
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

/// A trial that needs the code assembled.
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

/// The entries of all families, with their kernels.
fn kernels() -> impl Iterator<Item = (&'static str, &'static str)> {
    let reductions = ENTRIES.iter().map(|entry| (entry.name, entry.kernel));
    let triples = triple::ENTRIES
        .iter()
        .map(|entry| (entry.name, entry.kernel));
    let copies = copy::ENTRIES.iter().map(|entry| (entry.name, entry.kernel));
    let keyed = keyed::ENTRIES
        .iter()
        .map(|entry| (entry.name, entry.kernel));
    reductions.chain(triples).chain(copies).chain(keyed)
}

fn keeps_the_laws(
    name: &str,
    kernel: &str,
    profiles: &BTreeMap<String, Profile>,
) -> Result<(), Failed> {
    let profile = profiles.get(name).ok_or("ptxas reports no such entry")?;
    let broken = laws::broken(kernel, profile);
    if !broken.is_empty() {
        return Err(broken.join("; ").into());
    }
    Ok(())
}

/// Whether the entries of 16-bit floats have hardly more instructions than those of `f32`, in which
/// they compute. A conversion in software takes a dozen for each element, and a branch.
fn converts_halves(profiles: &BTreeMap<String, Profile>) -> Result<(), Failed> {
    let instructions = |name: &str| {
        let profile = profiles.get(name).ok_or(format!("no entry {name}"))?;
        Ok::<_, Failed>(profile.counts.instructions)
    };
    let mut compared = 0;
    let mut longer = Vec::new();
    let halves = |entry: &&Entry| ["f16", "bf16"].contains(&entry.element);
    for entry in ENTRIES.iter().filter(halves) {
        let f32_name = format!("{}_{}_f32", entry.kernel, entry.op);
        let (own, of_f32) = (instructions(entry.name)?, instructions(&f32_name)?);
        if own > of_f32 + of_f32 / 4 {
            longer.push(format!("{}: {own}, of f32 {of_f32}", entry.name));
        }
        compared += 1;
    }
    if compared == 0 || !longer.is_empty() {
        return Err(format!("of {compared} entries: {}", longer.join("\n")).into());
    }
    Ok(())
}

/// Whether no entry has more accesses than its twin in `raw`, which must have some.
fn cost_nothing(
    kernels: &BTreeMap<String, Accesses>,
    raw: &BTreeMap<String, Accesses>,
) -> Result<(), Failed> {
    let mut worse = Vec::new();
    for (name, twin) in raw {
        let handles = kernels.get(name).ok_or(format!("no entry {name}"))?;
        if twin.is_empty() {
            worse.push(format!("{name}: no access at all on raw pointers"));
        }
        let more = memory::excess(handles, twin).into_iter();
        worse.extend(more.map(|more| format!("{name}: {more}")));
    }
    if raw.is_empty() || !worse.is_empty() {
        return Err(format!("of {} entries: {}", raw.len(), worse.join("\n")).into());
    }
    Ok(())
}

/// The machine code for an architecture.
struct Sass {
    /// What each entry costs.
    profiles: BTreeMap<String, Profile>,
    /// Each entry's accesses to memory.
    accesses: BTreeMap<String, Accesses>,
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
        })
    }
}

/// The PTX for an architecture, under test.
struct Code {
    arch: NvvmArch,
    modules: Vec<Ptx>,
    tools: Option<PtxTools>,
    /// Its machine code, or why there is none; made by the first test that asks.
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

    /// Each module's name, empty where it is the only one, and its text.
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

    /// Every entry is in the module that its table says, and nothing else is in any.
    fn entries_are_the_tables(&self) -> Result<(), Failed> {
        let symbols = FAMILIES.iter().flat_map(|family| family.symbols);
        self.entries_are(symbols.map(|symbol| (symbol.module, symbol.name)).collect())
    }

    /// The raw module has a twin of every kernel, for the elements that have any.
    fn entries_are_the_twins(&self) -> Result<(), Failed> {
        let has_twin = |entry: &&Entry| entry.op == "sum" && TWINS.contains(&entry.element);
        let twins = ENTRIES.iter().filter(has_twin);
        self.entries_are(twins.map(|entry| ("", entry.name)).collect())
    }

    fn entries_are(&self, expected: BTreeSet<(&str, &str)>) -> Result<(), Failed> {
        let texts = self.texts()?;
        let entries: BTreeSet<_> = texts
            .iter()
            .flat_map(|(module, text)| laws::entries(text).into_iter().map(|e| (*module, e)))
            .collect();
        if entries != expected {
            let missing: Vec<_> = expected.difference(&entries).collect();
            let foreign: Vec<_> = entries.difference(&expected).collect();
            return Err(format!("missing: {missing:?}, not in the table: {foreign:?}").into());
        }
        Ok(())
    }

    fn nothing_is_unresolved(&self) -> Result<(), Failed> {
        for (module, text) in self.texts()? {
            let unresolved = laws::unresolved(&text);
            if !unresolved.is_empty() {
                return Err(format!("{module}: declared and never defined: {unresolved:?}").into());
            }
        }
        Ok(())
    }
}
