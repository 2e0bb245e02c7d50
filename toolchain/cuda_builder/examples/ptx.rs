//! Compiles a crate of kernels from the command line:
//! `cargo run -p cuda_builder --example ptx -- CRATE_DIR sm_90 OUT.ptx`.

use cuda_builder::{CudaBuilder, NvvmArch};
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [krate, arch, out] = args.as_slice() else {
        eprintln!("usage: ptx CRATE_DIR ARCH OUT.ptx");
        return ExitCode::from(2);
    };
    let Some(arch) = NvvmArch::parse(arch) else {
        eprintln!("unknown architecture: {arch}");
        return ExitCode::from(2);
    };
    match CudaBuilder::new(krate).arch(arch).copy_to(out).build() {
        Ok(path) => {
            println!("{}", path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
