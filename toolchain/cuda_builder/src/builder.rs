//! The builder: its options, and the steps of a build.

mod compile;

use crate::cargo::{self, Bitcode};
use crate::error::At;
use crate::llvm::Llvm;
use crate::stamp::{self, Stamp};
use crate::toolchain::{self, DeviceToolchain};
use crate::{CudaBuilderError, NvvmArch, notes, ptx};
use compile::Own;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

/// PTX for one architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ptx {
    /// The architecture.
    pub arch: NvvmArch,
    /// The module's name, if [`CudaBuilder::split_modules`] created several.
    pub module: Option<String>,
    /// The file.
    pub path: PathBuf,
}

/// Floating-point options that permit less accuracy than IEEE 754 requires.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct FloatOptions {
    pub(crate) fma_contraction: bool,
    pub(crate) ftz: bool,
    pub(crate) fast_div: bool,
    pub(crate) fast_sqrt: bool,
}

impl FloatOptions {
    /// Strict IEEE 754.
    pub(crate) const NONE: Self = Self {
        fma_contraction: false,
        ftz: false,
        fast_div: false,
        fast_sqrt: false,
    };
}

/// Compiles one crate of kernels. See the [crate](crate) for an example.
#[derive(Clone, Debug)]
#[must_use = "nothing is compiled until `build` is called"]
pub struct CudaBuilder {
    krate: PathBuf,
    arches: Vec<NvvmArch>,
    split_modules: bool,
    only_module: Option<String>,
    share_arches: bool,
    release: bool,
    line_info: bool,
    panic_messages: bool,
    allow_recursion: bool,
    /// Whether the crate is compiled again only to locate an error; then no files are written.
    for_error: bool,
    credit_callers_of: Option<Vec<PathBuf>>,
    emit_llvm_ir: bool,
    floats: FloatOptions,
    ptx_isa: u32,
    build_args: Vec<String>,
    copy_to: Option<PathBuf>,
    final_module_path: Option<PathBuf>,
}

impl CudaBuilder {
    /// Creates a builder for the crate in the folder `path_to_crate_root`, relative to the current folder (in
    /// a build script, the folder of the package).
    pub fn new(path_to_crate_root: impl AsRef<Path>) -> Self {
        Self {
            krate: path_to_crate_root.as_ref().to_owned(),
            arches: vec![NvvmArch::Compute75],
            split_modules: false,
            only_module: None,
            share_arches: false,
            release: true,
            line_info: false,
            panic_messages: false,
            allow_recursion: false,
            for_error: false,
            credit_callers_of: None,
            emit_llvm_ir: false,
            floats: FloatOptions {
                fma_contraction: true,
                ftz: false,
                fast_div: false,
                fast_sqrt: false,
            },
            ptx_isa: 0,
            build_args: Vec::new(),
            copy_to: None,
            final_module_path: None,
        }
    }

    /// Sets the architecture of the PTX. The default is [`NvvmArch::Compute75`].
    pub fn arch(self, arch: NvvmArch) -> Self {
        self.arches([arch])
    }

    /// Sets several architectures, for one compilation.
    pub fn arches(mut self, arches: impl IntoIterator<Item = NvvmArch>) -> Self {
        self.arches = arches.into_iter().collect();
        self
    }

    /// Returns the crate's library name, as Rust code writes it: the names of PTX files start with it.
    ///
    /// # Errors
    ///
    /// [`CudaBuilderError::NotACrate`] if cargo finds no library in the folder.
    pub fn lib_name(&self) -> Result<String, CudaBuilderError> {
        Ok(cargo::Package::read(&self.krate)?.lib_name)
    }

    /// Sets whether kernels are split into modules by the name in `#[kernel(module = name)]`. The driver
    /// compiles a whole module at load, so a program should load only what it uses. The default is one
    /// module.
    ///
    /// All modules come from one compilation. In the names of files, the module precedes the architecture:
    /// `kernels.ptx` becomes `kernels.sorting.sm_80.ptx`. Each module has its own copy of a `static` that it
    /// uses.
    pub fn split_modules(mut self, split: bool) -> Self {
        self.split_modules = split;
        self
    }

    /// Writes only the module of this name, of [several](Self::split_modules).
    pub fn only_module(mut self, name: impl Into<String>) -> Self {
        self.only_module = Some(name.into());
        self
    }

    /// Sets whether to compile an architecture-independent module only once, for the oldest architecture.
    ///
    /// A module is independent if it uses neither `cuda_arch` nor Rust's `minimum` and `maximum` of floats,
    /// which are single instructions from compute capability 8.0 on. The other architectures get the same
    /// code with their own header. The default is off. It cannot be combined with
    /// [`emit_llvm_ir`](Self::emit_llvm_ir).
    pub fn share_arches(mut self, share: bool) -> Self {
        self.share_arches = share;
        self
    }

    /// Sets whether to omit overflow checks and debug assertions. The default is on.
    pub fn release(mut self, release: bool) -> Self {
        self.release = release;
        self
    }

    /// Sets whether PTX contains the source line of every instruction, for profilers and `nvdisasm -g`. The
    /// machine code does not depend on it. The default is off.
    pub fn generate_line_info(mut self, line_info: bool) -> Self {
        self.line_info = line_info;
        self
    }

    /// Sets whether a panic calls the panic handler. The default is off: a panic is a `trap`, and the launch
    /// fails with `CUDA_ERROR_LAUNCH_FAILED` or `CUDA_ERROR_ILLEGAL_INSTRUCTION`. PTX then contains no
    /// messages, locations or formatting code.
    ///
    /// `cuda_std`'s handler makes the driver print to standard error (`__assertfail`; CUDA C++ Programming
    /// Guide, assertion), and the launch fails with `CUDA_ERROR_ASSERT`:
    ///
    /// ```text
    /// src/lib.rs:9: panicked: block: [0,0,0], thread: [5,0,0] Assertion `attempt to divide by zero` failed.
    /// ```
    ///
    /// At most 127 bytes of a message are printed. The message of an index out of bounds contains its values.
    /// For other messages with values, such as that of `assert_eq!`, a fixed text is printed. The simulator
    /// prints all values. Kernels that can panic become larger and slower.
    ///
    /// With your own handler, messages are complete. Formatting uses indirect calls, so ptxas gives every
    /// kernel that can panic up to 255 registers, and blocks may have to be smaller.
    pub fn panic_messages(mut self, messages: bool) -> Self {
        self.panic_messages = messages;
        self
    }

    /// Sets whether functions may be recursive. The default is off: a recursive kernel is an error.
    ///
    /// The driver cannot determine the stack size of recursive functions, and gives each thread 1024 bytes by
    /// default. A deeper recursion fails at run time. Raise the limit before the launch:
    /// `cuCtxSetLimit(CU_LIMIT_STACK_SIZE, bytes)`.
    pub fn allow_recursion(mut self, allow: bool) -> Self {
        self.allow_recursion = allow;
        self
    }

    /// Replaces the source line of an inlined instruction by that of its caller, for instructions from other
    /// crates and from these files and folders (relative to the crate's).
    ///
    /// The caller is the innermost one of the crate outside these paths. Requires
    /// [`generate_line_info`](Self::generate_line_info).
    pub fn credit_callers_of(mut self, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        let paths = paths.into_iter().map(|path| path.as_ref().to_owned());
        self.credit_callers_of = Some(paths.collect());
        self
    }

    /// Sets whether to write LLVM's optimised IR as text next to the PTX, as `.ll`.
    pub fn emit_llvm_ir(mut self, emit: bool) -> Self {
        self.emit_llvm_ir = emit;
        self
    }

    /// Sets whether `a * b + c` may be rounded only once. The default is on, as in nvcc.
    ///
    /// Neither this option nor the ones below affect `cuda_std::float` and the crate `libm`, which have the
    /// CPU's bits.
    pub fn fma_contraction(mut self, contract: bool) -> Self {
        self.floats.fma_contraction = contract;
        self
    }

    /// Sets whether subnormal `f32` are flushed to zero. The default is off.
    pub fn ftz(mut self, ftz: bool) -> Self {
        self.floats.ftz = ftz;
        self
    }

    /// Sets whether `f32` division may be approximate (`div.approx`). The default is off.
    pub fn fast_div(mut self, fast: bool) -> Self {
        self.floats.fast_div = fast;
        self
    }

    /// Sets whether `f32` square roots may be approximate (`sqrt.approx`). The default is off.
    pub fn fast_sqrt(mut self, fast: bool) -> Self {
        self.floats.fast_sqrt = fast;
        self
    }

    /// Sets the minimum PTX ISA, in LLVM's numbering (81 is PTX 8.1). The default is the oldest one that
    /// supports the architecture; a newer one requires a newer driver.
    pub fn ptx_isa(mut self, isa: u32) -> Self {
        self.ptx_isa = isa;
        self
    }

    /// Adds arguments for the nested cargo, for example features.
    pub fn build_args(mut self, args: &[impl AsRef<str>]) -> Self {
        self.build_args
            .extend(args.iter().map(|a| a.as_ref().to_owned()));
        self
    }

    /// Copies the PTX to this path too. With several architectures, each file name contains its architecture:
    /// `kernels.ptx` becomes `kernels.sm_80.ptx`.
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.copy_to = Some(path.as_ref().to_owned());
        self
    }

    /// Writes the PTX to this path instead of cargo's target folder. With several architectures, names change
    /// as in [`copy_to`](Self::copy_to).
    pub fn final_module_path(mut self, path: impl AsRef<Path>) -> Self {
        self.final_module_path = Some(path.as_ref().to_owned());
        self
    }

    /// Compiles, and returns the path of the PTX of the first architecture and module.
    ///
    /// # Errors
    ///
    /// The errors of [`build_all`](Self::build_all).
    pub fn build(self) -> Result<PathBuf, CudaBuilderError> {
        Ok(self.build_all()?.swap_remove(0).path)
    }

    /// Compiles, and returns the PTX of every architecture, in the requested order. For each architecture,
    /// modules are sorted by name. Files are written only if their content changes.
    ///
    /// # Errors
    ///
    /// - There is no device compiler, no architecture is set, or the kernels do not compile.
    /// - Kernels use undefined symbols, or features that a GPU lacks.
    /// - Kernels have more static shared memory than a block may have, or a shared static has an initial
    ///   value.
    /// - Kernels are recursive (see [`allow_recursion`](Self::allow_recursion)).
    /// - With several modules, a kernel is in none, or no kernel is in the [only one](Self::only_module).
    pub fn build_all(self) -> Result<Vec<Ptx>, CudaBuilderError> {
        if self.arches.is_empty() {
            return Err(CudaBuilderError::NoArchitecture);
        }
        let package = cargo::Package::read(&self.krate)?;
        // First, so that cargo repeats a failed build when its cause changes.
        package.print_rerun_if();
        let toolchain = toolchain::find()?;
        let bitcode = self.device_build(&package, &toolchain).run()?;
        let stamp = self.stamp(&bitcode.bytes, &toolchain);
        let modules = self.modules(&bitcode, &toolchain)?;
        let made = in_parallel(&modules, |module| {
            let name = module.as_deref();
            self.emit_all(name, &package, &bitcode, &toolchain, stamp)
                .map_err(|error| Box::new((error, module.clone())))
        });
        // The PTX is written; the build with line numbers may need the same lock.
        drop(bitcode);
        let made = made.map_err(|failed| {
            let (error, module) = *failed;
            self.with_lines(error, module.as_deref(), &package, &toolchain)
        })?;
        // All modules of the first architecture, then those of the next one.
        let of_arch = |i: usize| made.iter().map(move |all: &Vec<Ptx>| all[i].clone());
        Ok((0..self.arches.len()).flat_map(of_arch).collect())
    }

    /// The names of the modules to write; one `None` if they are not split.
    fn modules(
        &self,
        bitcode: &Bitcode,
        toolchain: &DeviceToolchain,
    ) -> Result<Vec<Option<String>>, CudaBuilderError> {
        if !self.split_modules {
            return Ok(vec![None]);
        }
        let failed = |step| {
            move |message| CudaBuilderError::Llvm {
                step,
                arch: "any architecture",
                message,
            }
        };
        let llvm = Llvm::load(&toolchain.libllvm).map_err(failed("loading"))?;
        let module = llvm
            .read_lazily(&bitcode.bytes, self.emit_llvm_ir)
            .map_err(failed("reading the bitcode"))?;
        let names = notes::modules(&module)?;
        Ok(match &self.only_module {
            Some(name) if names.contains(name) => vec![Some(name.clone())],
            Some(name) => {
                let (name, modules) = (name.clone(), names.into_iter().collect());
                return Err(CudaBuilderError::NoSuchModule { name, modules });
            }
            // If there are no kernels, compiling the module reports it.
            None if names.is_empty() => vec![None],
            None => names.into_iter().map(Some).collect(),
        })
    }

    /// Writes the PTX of one module for all architectures, unless it is up to date.
    fn emit_all(
        &self,
        module: Option<&str>,
        package: &cargo::Package,
        bitcode: &Bitcode,
        toolchain: &DeviceToolchain,
        stamp: u64,
    ) -> Result<Vec<Ptx>, CudaBuilderError> {
        // Once, and only if a file has to be made.
        let own = OnceCell::new();
        let of_oldest = OnceCell::new();
        let emit = |&arch: &NvvmArch| {
            // In the bitcode's folder, which other builds share; this build holds its lock.
            let parts = [Some(package.lib_name.as_str()), module, Some(arch.sm())];
            let name = parts.into_iter().flatten().collect::<Vec<_>>().join(".");
            let name = name + ".ptx";
            let made = match self.vocabulary() {
                None => bitcode.path.with_file_name(name),
                // In a separate folder from the same kernels with their own lines, so that both stay up to
                // date.
                Some(_) => bitcode.path.with_file_name("callers").join(name),
            };
            let old = Stamp::of(&made);
            if old.is_none_or(|old| old.all != stamp) {
                let own: &Own = match own.get() {
                    Some(own) => own,
                    None => {
                        let alone = self.alone(arch, module, package, &bitcode.bytes, toolchain)?;
                        own.get_or_init(|| alone)
                    }
                };
                let of_module = self.stamp(&own.bitcode, toolchain);
                if old.is_none_or(|old| old.module != of_module) {
                    let compile =
                        |arch| self.compile(arch, &own.bitcode, &made, package, toolchain);
                    let oldest = self.arches.iter().min_by_key(|arch| arch.capability());
                    let text = match oldest {
                        Some(&oldest) if self.shares() && !own.asks => {
                            let text = match of_oldest.get() {
                                Some(text) => text,
                                None => {
                                    let text = compile(oldest)?;
                                    of_oldest.get_or_init(|| text)
                                }
                            };
                            ptx::under_header(text, self.isa(arch), arch.sm())
                        }
                        _ => compile(arch)?,
                    };
                    write_if_changed(&made, &text)?;
                }
                let stamp = Stamp {
                    all: stamp,
                    module: of_module,
                };
                stamp.write(&made)?;
            }
            let text = fs::read_to_string(&made).at(&made)?;
            let path = self.output(arch, module, &made);
            write_if_changed(&path, &text)?;
            if self.emit_llvm_ir {
                let made = made.with_extension("ll");
                let text = fs::read_to_string(&made).at(&made)?;
                write_if_changed(&path.with_extension("ll"), &text)?;
            }
            if let Some(copy) = &self.copy_to {
                let copy = self.named(copy, arch, module);
                write_if_changed(&copy, &text)?;
            }
            let module = module.map(str::to_owned);
            Ok(Ptx { arch, module, path })
        };
        self.arches.iter().map(emit).collect()
    }

    /// Whether one architecture's code can serve for another.
    fn shares(&self) -> bool {
        self.share_arches && !self.emit_llvm_ir
    }

    /// The PTX ISA for an architecture, in LLVM's numbering.
    fn isa(&self, arch: NvvmArch) -> u32 {
        self.ptx_isa.max(arch.min_ptx_isa())
    }

    /// The path of the PTX for `arch`: the caller's path, else in the build script's output folder, else in
    /// the nested build's folder.
    fn output(&self, arch: NvvmArch, module: Option<&str>, made: &Path) -> PathBuf {
        if let Some(path) = &self.final_module_path {
            return self.named(path, arch, module);
        }
        match (env::var_os("OUT_DIR"), made.file_name()) {
            (Some(out), Some(name)) => PathBuf::from(out).join(name),
            _ => made.to_owned(),
        }
    }

    fn named(&self, path: &Path, arch: NvvmArch, module: Option<&str>) -> PathBuf {
        let arch = (self.arches.len() > 1).then_some(arch.sm());
        let mut parts = module.into_iter().chain(arch);
        let Some(first) = parts.next() else {
            return path.to_owned();
        };
        let extension = path.extension().unwrap_or("ptx".as_ref()).to_string_lossy();
        let parts = parts.fold(first.to_owned(), |all, part| format!("{all}.{part}"));
        path.with_extension(format!("{parts}.{extension}"))
    }

    /// The files whose callers are named instead.
    fn vocabulary(&self) -> Option<&[PathBuf]> {
        let vocabulary = self.credit_callers_of.as_deref();
        vocabulary.filter(|_| self.line_info)
    }

    /// One of the numbers of a [`Stamp`].
    fn stamp(&self, bitcode: &[u8], toolchain: &DeviceToolchain) -> u64 {
        let lines = (self.line_info, self.vocabulary());
        let options = (
            self.ptx_isa,
            lines,
            self.emit_llvm_ir,
            self.shares(),
            self.allow_recursion,
        );
        let compiler = (&toolchain.libllvm, &toolchain.llvm_version, BUILDER);
        stamp::number(bitcode, &(self.floats, options, compiler))
    }
}

/// The builder's own source, as far as it affects the PTX.
const BUILDER: [&str; 14] = [
    include_str!("arch.rs"),
    include_str!("builder.rs"),
    include_str!("builder/compile.rs"),
    include_str!("check.rs"),
    include_str!("llvm.rs"),
    include_str!("llvm/api.rs"),
    include_str!("llvm/fatal.rs"),
    include_str!("llvm/numbers.rs"),
    include_str!("llvm/panics.rs"),
    include_str!("llvm/locations.rs"),
    include_str!("llvm/uses.rs"),
    include_str!("notes.rs"),
    include_str!("passes.rs"),
    include_str!("ptx.rs"),
];

/// Does `work` on all `items`, with [`jobs`](cargo::jobs) threads. Returns the results in order, or the first
/// error in that order. Each item's bitcode is parsed into its own context.
fn in_parallel<I: Sync, R: Send, E: Send>(
    items: &[I],
    work: impl Fn(&I) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(i) else {
                return done;
            };
            done.push((i, work(item)));
        }
    };
    let workers = cargo::jobs().min(items.len());
    let mut done: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        let results = threads.into_iter();
        results
            .flat_map(|t| t.join().expect("emission does not panic"))
            .collect()
    });
    done.sort_by_key(|&(i, _)| i);
    done.into_iter().map(|(_, result)| result).collect()
}

fn write_if_changed(path: &Path, text: &str) -> Result<(), CudaBuilderError> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir).at(dir)?;
    }
    fs::write(path, text).at(path)
}
