//! Kernels of a test, as `embedded!` includes those of a crate.

use std::io::Write as _;

use kernels_gpu::entry::Kernels;
use lzma_rust2::{LzmaOptions, LzmaWriter};

/// The result of `embedded!` for kernels of one module. The simulator uses only their names in the PTX.
pub fn embedded(kernels: &'static Kernels) -> &'static warpfold::Embedded {
    let entries = kernels.entries.iter();
    let names = entries.map(|entry| format!(".visible .entry {}(\n", entry.name));
    let text = names.collect::<String>();
    let (options, len) = (LzmaOptions::with_preset(0), text.len() as u64);
    let mut writer = LzmaWriter::new_use_header(Vec::new(), &options, Some(len)).unwrap();
    writer.write_all(text.as_bytes()).unwrap();
    let module = warpfold::module::Compressed {
        name: kernels.entries[0].module,
        len: text.len(),
        bytes: writer.finish().unwrap().leak(),
    };
    Box::leak(Box::new(warpfold::Embedded {
        kernels,
        arches: vec![warpfold::module::Arch {
            arch: "sm_75",
            capability: (7, 5),
            header: ".version 7.0\n.target sm_75\n",
            probe: c".version 7.0\n.target sm_75\n",
            modules: vec![module].leak(),
        }]
        .leak(),
    }))
}
