use cuda_builder::{CudaBuilder, NvvmArch};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let out = std::env::var("OUT_DIR")?;
    CudaBuilder::new("kernels")
        .arch(NvvmArch::Compute75)
        .copy_to(format!("{out}/heat.ptx"))
        .build()?;
    Ok(())
}
