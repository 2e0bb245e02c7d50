//! The kernels as PTX, once for each architecture with different code.

use std::io::Read as _;

use lzma_rust2::LzmaReader;

/// One compilation of `conformance-kernels`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Module {
    /// The architecture: `sm_90`.
    pub name: &'static str,
    /// The lowest compute capability that executes it, major and minor.
    pub capability: (u32, u32),
    compressed: &'static [u8],
}

impl Module {
    /// The PTX text.
    ///
    /// # Panics
    ///
    /// If the build script wrote something other than compressed text.
    pub fn ptx(&self) -> String {
        let mut text = String::new();
        let reader = LzmaReader::new_mem_limit(self.compressed, u32::MAX, None);
        let read = reader.and_then(|mut reader| reader.read_to_string(&mut text));
        read.expect("build.rs compressed a text");
        text
    }
}

/// All modules, sorted by compute capability.
pub const MODULES: &[Module] = include!(concat!(env!("OUT_DIR"), "/modules.rs"));

/// The module with panic messages, for the oldest device: it contains the kernels that panic.
pub const PANICS: Module = include!(concat!(env!("OUT_DIR"), "/panics.rs"))[0];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases;
    use conformance_kernels::entry;
    use std::collections::BTreeSet;

    fn entries(ptx: &str) -> BTreeSet<&str> {
        ptx.lines()
            .filter_map(|line| line.split_once(".entry ")?.1.split('(').next())
            .collect()
    }

    /// The part of the module for one kernel.
    fn kernel<'a>(ptx: &'a str, name: &str) -> &'a str {
        let start = ptx.find(&format!(".entry {name}(")).expect(name);
        let end = ptx[start..].find("\n}").expect("a kernel ends");
        &ptx[start..start + end]
    }

    #[test]
    fn modules_hold_the_table() {
        let table: BTreeSet<&str> = entry::entries().map(|entry| entry.name).collect();
        assert!(!MODULES.is_empty());
        for module in MODULES {
            let ptx = &module.ptx();
            assert_eq!(entries(ptx), table, "{}", module.name);
        }
    }

    #[test]
    fn every_entry_has_the_same_parameters() {
        for module in MODULES {
            let ptx = &module.ptx();
            for entry in entry::entries() {
                let kernel = kernel(ptx, entry.name);
                let count = kernel.matches(".param .u64").count();
                assert_eq!(count, 10, "{} of {}", entry.name, module.name);
            }
        }
    }

    #[test]
    fn both_forms_of_a_warp_reduction_are_there() {
        for module in MODULES {
            let ptx = &module.ptx();
            let redux = kernel(ptx, "reduce_add_u32").contains("redux.sync.add");
            assert_eq!(redux, module.capability >= (8, 0), "{}", module.name);
        }
    }

    #[test]
    fn instructions_are_those_of_the_names() {
        for module in MODULES {
            let ptx = &module.ptx();
            for (name, instruction) in [
                ("shuffle_down_f64", "shfl.sync.down.b32"),
                ("shuffle_up_bf16", "shfl.sync.up.b32"),
                ("shuffle_xor_u32", "shfl.sync.bfly.b32"),
                ("shuffle_idx_i32", "shfl.sync.idx.b32"),
                ("vote_all", "vote.sync.all.pred"),
                ("vote_any", "vote.sync.any.pred"),
                ("vote_ballot", "vote.sync.ballot.b32"),
                ("match_any_f64", "match.any.sync.b64"),
                ("match_all_u32", "match.all.sync.b32"),
                ("barrier_sync_warp", "bar.warp.sync"),
                ("shared_fixed_f16", "st.shared.b16"),
                (
                    "atomic_global_system_f32",
                    "atom.relaxed.sys.global.add.f32",
                ),
                ("atomic_shared_block_u64", "atom.relaxed.cta.shared.cas.b64"),
                ("litmus_blocks_device_store", "ld.acquire.gpu.global.b32"),
                ("float16_narrow_f16", "cvt.rn.f16.f32"),
                ("print_threads", "vprintf"),
                ("float_sqrt_f64", "sqrt.rn.f64"),
                ("float_mul_add_f32", "fma.rn.f32"),
                ("float_floor_f32", "cvt.rmi.f32.f32"),
                ("float_exp2_approx_f32", "ex2.approx.f32"),
                ("float_exp_approx_f32", "ex2.approx.f32"),
                ("float_log2_approx_f32", "lg2.approx.f32"),
                ("float_ln_approx_f32", "lg2.approx.f32"),
                ("float_sin_approx_f32", "sin.approx.f32"),
                ("float_cos_approx_f32", "cos.approx.f32"),
                ("float_tanh_approx_f32", "tanh.approx.f32"),
                ("float_sqrt_approx_f32", "sqrt.approx.f32"),
                ("float_rsqrt_approx_f32", "rsqrt.approx.f32"),
                ("float_recip_approx_f32", "rcp.approx.f32"),
                ("float_div_approx_f32", "div.approx.f32"),
            ] {
                let kernel = kernel(ptx, name);
                assert!(
                    kernel.contains(instruction),
                    "{instruction} in {name} of {}",
                    module.name
                );
            }
        }
    }

    /// The texts in a module: its initialised byte arrays.
    fn texts(ptx: &str) -> Vec<String> {
        ptx.lines()
            .filter_map(|line| {
                line.split_once(".b8 ")?
                    .1
                    .split_once("= {")?
                    .1
                    .split_once('}')
            })
            .map(|(bytes, _)| {
                let bytes = bytes.split(',').filter_map(|byte| byte.trim().parse().ok());
                String::from_utf8_lossy(&bytes.collect::<Vec<u8>>()).into_owned()
            })
            .collect()
    }

    #[test]
    fn panics_without_messages_leave_no_byte() {
        for module in MODULES {
            let ptx = &module.ptx();
            assert!(!ptx.contains("__assertfail"), "{}", module.name);
            assert!(!ptx.contains("panicking"), "{}", module.name);
            let trap = kernel(ptx, "trap_panics");
            assert!(!trap.contains("call"), "{trap}");
            // `print!` has texts, but panics have none.
            let texts = texts(ptx);
            assert!(
                texts.iter().any(|text| text.contains("of block %")),
                "{texts:?}"
            );
            for text in texts {
                let of_a_panic = [".rs", "panicked", "was told to", "Option::unwrap"];
                assert!(!of_a_panic.iter().any(|part| text.contains(part)), "{text}");
            }
            let printing = ptx.matches("vprintf").count();
            let own = ["print_formats", "print_threads"].map(|name| kernel(ptx, name));
            let own: usize = own
                .iter()
                .map(|kernel| kernel.matches("vprintf").count())
                .sum();
            // Its declaration, and a comment.
            assert!(printing <= own + 3, "{}: {printing} of {own}", module.name);
        }
    }

    #[test]
    fn panics_with_messages_have_their_texts_and_nothing_that_formats() {
        let ptx = &PANICS.ptx();
        assert_eq!(entries(ptx), ["trap_panics"].into());
        assert!(ptx.contains(".extern .func __assertfail"));
        let texts = texts(ptx);
        for trap in cases::traps() {
            let place = trap.place();
            let (file, _) = place.split_once(':').unwrap();
            // The device formats the numbers of an index.
            let words = trap.text().split("64").next().unwrap();
            for part in [file, words] {
                assert!(
                    texts.iter().any(|text| text.contains(part)),
                    "{part}: {texts:?}"
                );
            }
        }
        // The text for an index is `cuda_std`'s, which prints the numbers.
        assert!(ptx.contains(".func __cuda_std_panic_bounds"));
        assert!(!ptx.contains("panic_bounds_check"));
        // Indirect calls would cost every kernel 255 registers, and formatting code is large.
        assert!(!ptx.contains(".callprototype"));
        assert!(!ptx.contains("core3fmt"));
        assert!(ptx.len() < 60_000, "{} bytes", ptx.len());
    }

    /// Operations without a rounding mode can have other bits than on the CPU: the driver may contract an
    /// operation without `.rn`.
    #[test]
    fn functions_of_floats_are_not_contracted() {
        let operations = ["add", "sub", "mul"]
            .iter()
            .flat_map(|name| ["f32", "f64"].map(|ty| format!("\t{name}.{ty}")));
        let refused: Vec<String> = operations.chain(["fma.rn.".into()]).collect();
        for module in MODULES {
            let ptx = &module.ptx();
            let mut functions = 0;
            for entry in entry::entries().filter(|entry| entry.name.starts_with("float_")) {
                if entry.name.contains("mul_add") || entry.name.contains("_approx") {
                    continue;
                }
                let kernel = kernel(ptx, entry.name);
                for operation in &refused {
                    let name = entry.name;
                    assert!(
                        !kernel.contains(operation),
                        "{operation} in {name} of {}",
                        module.name
                    );
                }
                functions += 1;
            }
            assert!(functions > 70, "{}", module.name);
            // Functions that several of them call.
            for function in ptx.split(".func").skip(1) {
                let body = function.split("\n}").next().unwrap_or_default();
                assert!(
                    !refused.iter().any(|operation| body.contains(operation)),
                    "{body}"
                );
            }
        }
    }
}
