//! NVIDIA's tools for PTX: `ptxas`, `nvdisasm`, `cuobjdump`.

use std::path::{Path, PathBuf};

/// The version of NVIDIA's wheels that setup downloads.
pub const WHEEL_VERSION: &str = "13.5.37";

/// Program names of the tools, and NVIDIA's wheels that contain them.
pub const TOOLS: [(&str, &str); 3] = [
    ("ptxas", "nvidia-cuda-nvcc"),
    ("nvdisasm", "nvidia-cuda-nvdisasm"),
    ("cuobjdump", "nvidia-cuda-cuobjdump"),
];

/// A folder with all of [`TOOLS`], so that they have the same version: an older `nvdisasm` cannot read the
/// output of a newer `ptxas`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtxTools {
    folder: PathBuf,
    /// Where the folder was found: `PATH`, `CUDA_PATH`, ...
    pub origin: &'static str,
}

impl PtxTools {
    /// The PTX assembler.
    pub fn ptxas(&self) -> PathBuf {
        self.folder.join("ptxas")
    }

    /// The SASS disassembler.
    pub fn nvdisasm(&self) -> PathBuf {
        self.folder.join("nvdisasm")
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The folder of the tools that setup downloads, in cuda_builder's cache.
pub fn cached_folder() -> PathBuf {
    cuda_builder::toolchain::cache_dir()
        .join(format!("cuda-{WHEEL_VERSION}"))
        .join("bin")
}

/// Finds the tools on this machine.
pub fn find() -> Option<PtxTools> {
    first_with_all(candidates())
}

fn candidates() -> Vec<(PathBuf, &'static str)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<_> = std::env::split_paths(&path).map(|f| (f, "PATH")).collect();
    for name in ["CUDA_PATH", "CUDA_HOME"] {
        if let Some(folder) = std::env::var_os(name) {
            folders.push((PathBuf::from(folder).join("bin"), name));
        }
    }
    folders.push(("/usr/local/cuda/bin".into(), "/usr/local/cuda"));
    folders.push((cached_folder(), "cache"));
    folders
}

fn first_with_all(candidates: Vec<(PathBuf, &'static str)>) -> Option<PtxTools> {
    candidates
        .into_iter()
        .find(|(folder, _)| TOOLS.iter().all(|(tool, _)| folder.join(tool).is_file()))
        .map(|(folder, origin)| PtxTools { folder, origin })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_must_have_all_tools() {
        let (half, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(half.path().join("ptxas"), "").unwrap();
        for (tool, _) in TOOLS {
            std::fs::write(whole.path().join(tool), "").unwrap();
        }
        let candidates = vec![
            (half.path().to_path_buf(), "PATH"),
            (whole.path().to_path_buf(), "CUDA_PATH"),
        ];
        let found = first_with_all(candidates).unwrap();
        assert_eq!((found.folder(), found.origin), (whole.path(), "CUDA_PATH"));
        assert_eq!(
            first_with_all(vec![(half.path().to_path_buf(), "PATH")]),
            None
        );
    }
}
