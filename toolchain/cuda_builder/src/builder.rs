//! The builder: what to compile, how, and the steps in their order.

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
    /// The module's name, where [`CudaBuilder::split_modules`] made several.
    pub module: Option<String>,
    /// The file.
    pub path: PathBuf,
}

/// Permissions to compute floats faster than IEEE 754 says.
#[derive(Clone, Copy, Debug, Hash)]
pub(crate) struct FloatOptions {
    pub(crate) fma_contraction: bool,
    pub(crate) ftz: bool,
    pub(crate) fast_div: bool,
    pub(crate) fast_sqrt: bool,
}

impl FloatOptions {
    /// IEEE 754 to the letter.
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
    share_arches: bool,
    release: bool,
    line_info: bool,
    panic_messages: bool,
    allow_recursion: bool,
    /// Compiled again to tell where an error is: nothing is written.
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
    /// A builder for the crate whose folder is `path_to_crate_root`, relative to the current
    /// folder (in a build script: to the package being built).
    pub fn new(path_to_crate_root: impl AsRef<Path>) -> Self {
        Self {
            krate: path_to_crate_root.as_ref().to_owned(),
            arches: vec![NvvmArch::Compute75],
            split_modules: false,
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

    /// The architecture to write PTX for; [`NvvmArch::Compute75`] unless said otherwise.
    pub fn arch(self, arch: NvvmArch) -> Self {
        self.arches([arch])
    }

    /// Several architectures, from one compilation.
    pub fn arches(mut self, arches: impl IntoIterator<Item = NvvmArch>) -> Self {
        self.arches = arches.into_iter().collect();
        self
    }

    /// The name of the crate's library, as Rust code writes it: the PTX files begin with it.
    ///
    /// # Errors
    ///
    /// [`CudaBuilderError::NotACrate`] when cargo finds no library in the folder.
    pub fn lib_name(&self) -> Result<String, CudaBuilderError> {
        Ok(cargo::Package::read(&self.krate)?.lib_name)
    }

    /// Whether kernels become several modules, each under the name that they give in
    /// `#[kernel(module = name)]`, so that a program loads those it uses: a driver compiles all of
    /// a module at once. Off unless said otherwise: all kernels are one module.
    ///
    /// From one compilation, as architectures; the module's name comes before the architecture's
    /// in the names of files: `kernels.ptx` becomes `kernels.sorting.sm_80.ptx`. A `static` exists
    /// once in each module that uses it.
    pub fn split_modules(mut self, split: bool) -> Self {
        self.split_modules = split;
        self
    }

    /// Whether a module is compiled once, for the oldest architecture, if its kernels ask for none: they do
    /// not call `cuda_arch`, and Rust's `minimum` and `maximum` of floats, which one instruction does from
    /// compute capability 8.0 on. The others then get the same code under a header of their own. Off unless
    /// said otherwise, and not with [`emit_llvm_ir`](Self::emit_llvm_ir).
    pub fn share_arches(mut self, share: bool) -> Self {
        self.share_arches = share;
        self
    }

    /// Whether to leave out overflow checks and debug assertions; on unless said otherwise.
    pub fn release(mut self, release: bool) -> Self {
        self.release = release;
        self
    }

    /// Whether PTX names the Rust line of every instruction, for profilers and `nvdisasm -g`. The
    /// machine code is the same with and without; off unless said otherwise.
    pub fn generate_line_info(mut self, line_info: bool) -> Self {
        self.line_info = line_info;
        self
    }

    /// Whether a panic calls the panic handler; off by default. A panic is then a `trap`: the launch fails with
    /// `CUDA_ERROR_LAUNCH_FAILED` or `CUDA_ERROR_ILLEGAL_INSTRUCTION`, and PTX has no byte of messages, places or
    /// formatting.
    ///
    /// `cuda_std`'s handler has the driver print to standard error (`__assertfail`; CUDA C++ Programming Guide,
    /// assertion), and the launch fails with `CUDA_ERROR_ASSERT`:
    ///
    /// ```text
    /// src/lib.rs:9: panicked: block: [0,0,0], thread: [5,0,0] Assertion `attempt to divide by zero` failed.
    /// ```
    ///
    /// Of a message at most 127 bytes are printed. That of an index out of bounds has its values; in place of
    /// another message with values, such as that of `assert_eq!`, it says that there are some. The simulator
    /// prints all of them. Kernels that can panic become larger and slower.
    ///
    /// With a handler of your own nothing is left out of messages. To format them the handler calls by address,
    /// so ptxas gives every kernel that can panic up to 255 registers: blocks may have to be smaller.
    pub fn panic_messages(mut self, messages: bool) -> Self {
        self.panic_messages = messages;
        self
    }

    /// Whether functions may call themselves; off by default, when a kernel that does so is an error.
    ///
    /// The size of its stack is not known to the driver, which gives each thread 1024 bytes by default. A deeper
    /// recursion fails at run time. Raise the limit before the launch: `cuCtxSetLimit(CU_LIMIT_STACK_SIZE, bytes)`.
    pub fn allow_recursion(mut self, allow: bool) -> Self {
        self.allow_recursion = allow;
        self
    }

    /// Names in place of each instruction's own line the innermost one of the crate that is not in these
    /// files and folders, relative to the crate's: what other crates and the crate's own vocabulary do is
    /// done by the line that calls them. Only with [`generate_line_info`](Self::generate_line_info).
    pub fn credit_callers_of(mut self, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        let paths = paths.into_iter().map(|path| path.as_ref().to_owned());
        self.credit_callers_of = Some(paths.collect());
        self
    }

    /// Whether to write LLVM's text beside the PTX, `.ll`, as it is after optimisation.
    pub fn emit_llvm_ir(mut self, emit: bool) -> Self {
        self.emit_llvm_ir = emit;
        self
    }

    /// Whether `a * b + c` may be rounded once instead of twice; on unless said otherwise, as in
    /// nvcc. Never in `cuda_std::float` and the crate `libm`, which have the CPU's bits; nor do the
    /// options below change these.
    pub fn fma_contraction(mut self, contract: bool) -> Self {
        self.floats.fma_contraction = contract;
        self
    }

    /// Whether subnormal `f32` count as zero; off unless said otherwise.
    pub fn ftz(mut self, ftz: bool) -> Self {
        self.floats.ftz = ftz;
        self
    }

    /// Whether `f32` division may be approximate (`div.approx`); off unless said otherwise.
    pub fn fast_div(mut self, fast: bool) -> Self {
        self.floats.fast_div = fast;
        self
    }

    /// Whether `f32` square roots may be approximate (`sqrt.approx`); off unless said otherwise.
    pub fn fast_sqrt(mut self, fast: bool) -> Self {
        self.floats.fast_sqrt = fast;
        self
    }

    /// The PTX ISA to write, as LLVM counts them (81 is PTX 8.1), if it is above the oldest that
    /// knows the architecture. A newer one needs a newer driver.
    pub fn ptx_isa(mut self, isa: u32) -> Self {
        self.ptx_isa = isa;
        self
    }

    /// More arguments for the nested cargo: features, for example.
    pub fn build_args(mut self, args: &[impl AsRef<str>]) -> Self {
        self.build_args
            .extend(args.iter().map(|a| a.as_ref().to_owned()));
        self
    }

    /// Copies the PTX here too. With several architectures the name gets each one's before its
    /// extension: `kernels.ptx` becomes `kernels.sm_80.ptx`.
    pub fn copy_to(mut self, path: impl AsRef<Path>) -> Self {
        self.copy_to = Some(path.as_ref().to_owned());
        self
    }

    /// Writes the PTX here instead of in cargo's target folder; with several architectures as
    /// [`copy_to`](Self::copy_to).
    pub fn final_module_path(mut self, path: impl AsRef<Path>) -> Self {
        self.final_module_path = Some(path.as_ref().to_owned());
        self
    }

    /// Compiles, and gives the PTX of the first architecture, and of its modules that of the first.
    ///
    /// # Errors
    ///
    /// As [`build_all`](Self::build_all).
    pub fn build(self) -> Result<PathBuf, CudaBuilderError> {
        Ok(self.build_all()?.swap_remove(0).path)
    }

    /// Compiles, and gives the PTX of every architecture, in the order asked for, and for each of
    /// every module, in the order of their names. Files are written only when their content changes.
    ///
    /// # Errors
    ///
    /// When there is no device compiler, the kernels do not compile, or no architecture was asked for. When
    /// kernels need symbols that no crate defines, use what a GPU does not have, have more static shared memory
    /// than a block may, or call themselves (see [`allow_recursion`](Self::allow_recursion)). When a shared
    /// static has an initial value. With several modules, when a kernel is in none.
    pub fn build_all(self) -> Result<Vec<Ptx>, CudaBuilderError> {
        if self.arches.is_empty() {
            return Err(CudaBuilderError::NoArchitecture);
        }
        let package = cargo::Package::read(&self.krate)?;
        // First of all, so that a build that fails is tried again when its cause changes.
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
        // The PTX is written, and the build with line numbers may need the same lock.
        drop(bitcode);
        let made = made.map_err(|failed| {
            let (error, module) = *failed;
            self.with_lines(error, module.as_deref(), &package, &toolchain)
        })?;
        // All modules of the first architecture, then those of the next.
        let of_arch = |i: usize| made.iter().map(move |all: &Vec<Ptx>| all[i].clone());
        Ok((0..self.arches.len()).flat_map(of_arch).collect())
    }

    /// The names of the modules to write; one without a name where they are not split.
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
        Ok(match names.is_empty() {
            // Without kernels: what is wrong then, is said where the module is compiled.
            true => vec![None],
            false => names.into_iter().map(Some).collect(),
        })
    }

    /// Writes the PTX of one module for all architectures, unless it is there already.
    fn emit_all(
        &self,
        module: Option<&str>,
        package: &cargo::Package,
        bitcode: &Bitcode,
        toolchain: &DeviceToolchain,
        stamp: u64,
    ) -> Result<Vec<Ptx>, CudaBuilderError> {
        // Once, and only if something is to be made.
        let own = OnceCell::new();
        let of_oldest = OnceCell::new();
        let emit = |&arch: &NvvmArch| {
            // Beside the bitcode, which other builds share; its lock is held.
            let parts = [Some(package.lib_name.as_str()), module, Some(arch.sm())];
            let name = parts.into_iter().flatten().collect::<Vec<_>>().join(".");
            let name = name + ".ptx";
            let made = match self.vocabulary() {
                None => bitcode.path.with_file_name(name),
                // Apart from the same kernels with their own lines: neither is made again for the other.
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

    /// Whether one architecture's code may be another's.
    fn shares(&self) -> bool {
        self.share_arches && !self.emit_llvm_ir
    }

    /// The PTX ISA that is used for an architecture, as LLVM counts them.
    fn isa(&self, arch: NvvmArch) -> u32 {
        self.ptx_isa.max(arch.min_ptx_isa())
    }

    /// Where the PTX for `arch` goes: where the caller said, else beside the build script's other
    /// outputs, else where it is made.
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

    /// Whose callers are named in its place.
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

/// The builder's own code, as far as it decides the PTX.
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
    include_str!("llvm/places.rs"),
    include_str!("llvm/uses.rs"),
    include_str!("notes.rs"),
    include_str!("passes.rs"),
    include_str!("ptx.rs"),
];

/// The results of `work` on all `items`, in their order, or the first of its errors in that order;
/// [`jobs`](cargo::jobs) at once. Each piece of work parses the bitcode into a context of its
/// own.
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
