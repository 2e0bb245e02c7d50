//! Compiles bitcode to PTX, for one module and one architecture.

use super::{CudaBuilder, write_if_changed};
use crate::cargo::{DeviceBuild, Package};
use crate::check::{self, Checks};
use crate::llvm::{self, Llvm, Machine, Module};
use crate::toolchain::DeviceToolchain;
use crate::{CudaBuilderError, NvvmArch, Site, passes, ptx};
use std::collections::BTreeMap;
use std::mem;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The kernels of one module, for all architectures.
pub(super) struct Own {
    pub(super) bitcode: Vec<u8>,
    /// Whether their code may depend on the architecture.
    pub(super) asks: bool,
}

/// For each symbol: where a function is defined, or an intrinsic is used.
type Sites = Arc<Mutex<BTreeMap<String, Vec<Site>>>>;

/// Converts LLVM's message on a step to an error.
fn failed(arch: NvvmArch, step: &'static str) -> impl Fn(String) -> CudaBuilderError {
    move |message| CudaBuilderError::Llvm {
        step,
        arch: arch.sm(),
        message,
    }
}

impl CudaBuilder {
    /// The nested build of the crate.
    pub(super) fn device_build<'a>(
        &'a self,
        package: &'a Package,
        toolchain: &'a DeviceToolchain,
    ) -> DeviceBuild<'a> {
        DeviceBuild {
            package,
            toolchain,
            checks: !self.release,
            line_info: self.line_info,
            panic_messages: self.panic_messages,
            names: self.emit_llvm_ir,
            show_warnings: true,
            args: &self.build_args,
        }
    }

    /// Adds file and line to an error about the kernels' code that has none: compiles the crate again with
    /// line numbers. Successful builds do not pay for them.
    pub(super) fn with_lines(
        &self,
        error: CudaBuilderError,
        module: Option<&str>,
        package: &Package,
        toolchain: &DeviceToolchain,
    ) -> CudaBuilderError {
        if error.findings().is_none() {
            return error;
        }
        let again = Self {
            line_info: true,
            for_error: true,
            credit_callers_of: None,
            emit_llvm_ir: false,
            ..self.clone()
        };
        let compile = || {
            let bitcode = DeviceBuild {
                show_warnings: false,
                ..again.device_build(package, toolchain)
            }
            .run()?;
            for &arch in &self.arches {
                let own = again.alone(arch, module, package, &bitcode.bytes, toolchain)?;
                again.compile(arch, &own.bitcode, &bitcode.path, package, toolchain)?;
            }
            Ok(())
        };
        let is_same =
            |other: &CudaBuilderError| mem::discriminant(other) == mem::discriminant(&error);
        match compile() {
            Err(with_lines) if is_same(&with_lines) && with_lines.has_lines() => with_lines,
            _ => error,
        }
    }

    /// The bitcode of one module, without the kernels of other modules and what only they use. It is the same
    /// for all architectures.
    pub(super) fn alone(
        &self,
        arch: NvvmArch,
        module: Option<&str>,
        package: &Package,
        bitcode: &[u8],
        toolchain: &DeviceToolchain,
    ) -> Result<Own, CudaBuilderError> {
        let failed = |step| failed(arch, step);
        let llvm = Llvm::load(&toolchain.libllvm).map_err(failed("loading"))?;
        let all = llvm
            .read_lazily(bitcode, self.emit_llvm_ir)
            .map_err(failed("reading the bitcode"))?;
        if !all.functions().into_iter().any(|f| all.is_kernel(f)) {
            return Err(CudaBuilderError::NoKernels {
                krate: package.name.clone(),
            });
        }
        passes::choose(&all, module, self.panic_messages)?;
        let own = all
            .without_unused()
            .map_err(failed("removing the other modules' kernels"))?;
        passes::move_shared_statics(&own)?;
        Ok(Own {
            asks: passes::depends_on_architecture(&own),
            bitcode: own.to_bitcode(),
        })
    }

    /// The PTX of a module's bitcode.
    pub(super) fn compile(
        &self,
        arch: NvvmArch,
        bitcode: &[u8],
        path: &Path,
        package: &Package,
        toolchain: &DeviceToolchain,
    ) -> Result<String, CudaBuilderError> {
        let sites = Sites::default();
        let (builder, bitcode, path) = (self.clone(), bitcode.to_vec(), path.to_owned());
        let (own, toolchain, shared) = (package.clone(), toolchain.clone(), sites.clone());
        let work = move || builder.compile_here(arch, &bitcode, &path, &own, &toolchain, &shared);
        llvm::catch(work).unwrap_or_else(|reason| {
            let sites = sites.lock().unwrap_or_else(PoisonError::into_inner);
            Err(CudaBuilderError::Unsupported {
                krate: package.name.clone(),
                findings: vec![check::fatal(&reason, arch.sm(), &sites)],
            })
        })
    }

    /// Does [`compile`](Self::compile) in this thread; a fatal error of LLVM ends the thread.
    fn compile_here(
        &self,
        arch: NvvmArch,
        bitcode: &[u8],
        path: &Path,
        package: &Package,
        toolchain: &DeviceToolchain,
        sites: &Sites,
    ) -> Result<String, CudaBuilderError> {
        let failed = |step| failed(arch, step);
        let llvm = Llvm::load(&toolchain.libllvm).map_err(failed("loading"))?;
        let module = llvm
            .read(bitcode, self.emit_llvm_ir)
            .map_err(failed("reading the module's bitcode"))?;
        let machine = self.machine(&module, arch)?;
        let checks = Checks {
            module: &module,
            package,
        };
        let variadic = checks.variadic();
        if !variadic.is_empty() {
            return Err(checks.unsupported(variadic));
        }
        passes::separate_same_bits(&module, &machine).map_err(failed("inlining"))?;
        passes::prepare(&module, self.floats);
        if self.panic_messages {
            passes::drop_panic_values(&module);
        }
        passes::optimise(&module, &machine, self.panic_messages).map_err(failed("optimisation"))?;
        checks.run(self.allow_recursion)?;
        if let Some(vocabulary) = self.vocabulary() {
            passes::credit_callers(&module, |file| {
                let own = file.strip_prefix(&package.root);
                own.is_ok_and(|own| !vocabulary.iter().any(|path| own.starts_with(path)))
            });
        }
        if self.emit_llvm_ir {
            write_if_changed(&path.with_extension("ll"), &module.to_text())?;
        }
        if self.for_error {
            *sites.lock().unwrap_or_else(PoisonError::into_inner) = checks.sites_by_symbol();
        }
        // Emission modifies the module.
        let wide_atomics = checks.wide_atomics();
        let text = module
            .emit_ptx(&machine)
            .map_err(|message| match wide_atomics.is_empty() {
                true => failed("emission")(message),
                false => checks.unsupported(wide_atomics),
            })?;
        Ok(match self.line_info {
            true => ptx::keep_lines_only(&text),
            false => text,
        })
    }

    fn machine<'m>(
        &self,
        module: &'m Module<'_>,
        arch: NvvmArch,
    ) -> Result<Machine<'m>, CudaBuilderError> {
        let isa = format!("+ptx{}", self.isa(arch));
        module
            .target_machine(arch.sm(), &isa)
            .map_err(failed(arch, "setting up the target"))
    }
}
