//! Writes, builds and runs a crate outside this workspace that tests its kernel. Its only
//! `[dev-dependencies]` are `cuda_sim` and `cuda_std` with the feature `simulator`.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

const LIB: &str = r#"
#![cfg_attr(target_arch = "nvptx64", no_std)]
use cuda_std::prelude::*;

/// `y[i] = a * x[i]`; the first thread of each block counts its block.
#[kernel]
pub unsafe fn scale(a: f32, x: &[f32], y: *mut f32, blocks: &cuda_std::atomic::AtomicU32) {
    let i = thread::index_1d() as usize;
    if i < x.len() {
        unsafe { y.add(i).write(a * x[i]) };
    }
    if thread::sync_threads_count(1) == thread::block_dim_x() && thread::thread_idx_x() == 0 {
        blocks.fetch_add(1, core::sync::atomic::Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::scale;
    use cuda_sim::{Buffer, Simulator};
    use cuda_std::atomic::AtomicU32;

    #[test]
    fn computes_the_product() {
        let (x, y, blocks) = ([2.0; 100], Buffer::uninitialised(100), AtomicU32::new(0));
        let simulator = Simulator::new().grid(4).block(32).check_all();
        simulator.run(|| unsafe { scale(3.0, &x, y.as_mut_ptr(), &blocks) }).unwrap();
        assert_eq!(y.to_vec(), [6.0; 100]);
        assert_eq!(blocks.into_inner(), 4);
    }

    #[test]
    fn a_bug_is_found() {
        let failure = Simulator::new().block(2048).run(|| ()).unwrap_err();
        assert!(failure.to_string().contains("tests::a_bug_is_found"), "{failure}");
    }
}
"#;

#[test]
fn a_crate_outside_the_workspace_tests_its_kernel() {
    let toolchain = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("toolchain/");
    // Outside the workspace, because cargo would require it to be a member.
    let home = env::temp_dir().join(format!("cuda_sim-outside-{}", std::process::id()));
    fs::create_dir_all(home.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"own-kernel\"\nedition = \"2024\"\n\n[dependencies]\n\
         cuda_std.path = {:?}\n\n[dev-dependencies]\ncuda_sim.path = {:?}\n\
         cuda_std = {{ path = {:?}, features = [\"simulator\"] }}\n",
        toolchain.join("cuda_std"),
        toolchain.join("cuda_sim"),
        toolchain.join("cuda_std"),
    );
    fs::write(home.join("Cargo.toml"), manifest).unwrap();
    fs::write(home.join("src/lib.rs"), LIB).unwrap();
    // The workspace's versions, so that cargo does not need the network.
    let root = toolchain.parent().expect("the repository's root");
    fs::copy(root.join("Cargo.lock"), home.join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--quiet"])
        .current_dir(&home)
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside"),
        )
        .output()
        .unwrap();
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    fs::remove_dir_all(&home).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("2 passed"), "{text}");
}
