//! Several modules from one compilation.

mod fixture;

use cuda_builder::{CudaBuilderError, NvvmArch, Ptx};
use fixture::Fixture;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Two kernels that share a function, shared memory and the dynamic shared memory, with launch attributes.
/// And a third kernel that uses none of it.
const THREE: &str = r#"
    core::arch::global_asm!("//!cuda fill module=tiles");
    core::arch::global_asm!("//!cuda fill nvvm.maxntid=128,1,1");
    core::arch::global_asm!("//!cuda fold module=tiles");
    core::arch::global_asm!("//!cuda other module=rest nvvm.maxntid=64,1,1");
    unsafe extern "C" { static mut __cuda_dynamic_shared: [MaybeUninit<u8>; 0]; }
    #[inline(never)]
    unsafe fn tile() -> *mut u32 {
        #[unsafe(link_section = ".shared")]
        static mut TILE: [MaybeUninit<u32>; 128] = [const { MaybeUninit::uninit() }; 128];
        unsafe { (&raw mut TILE).cast::<u32>().add(tid() as usize) }
    }
    #[unsafe(no_mangle)]
    pub unsafe extern "ptx-kernel" fn fill(p: *mut u32) { unsafe {
        *tile() = *p; barrier(0); *p = *tile().sub(1);
    }}
    #[unsafe(no_mangle)]
    pub unsafe extern "ptx-kernel" fn fold(p: *mut u32) { unsafe {
        *(&raw mut __cuda_dynamic_shared).cast::<u32>().add(tid() as usize) = *p;
        *tile() += *p; barrier(0); *p = *tile().sub(1);
    }}
    #[unsafe(no_mangle)]
    pub unsafe extern "ptx-kernel" fn other(p: *mut u32) { unsafe { *p = tid() } }
"#;

const ARCHES: [NvvmArch; 2] = [NvvmArch::Compute80, NvvmArch::Compute90];

fn text(ptx: &Ptx) -> String {
    fs::read_to_string(&ptx.path).unwrap()
}

fn entries(ptx: &str) -> BTreeSet<&str> {
    ptx.lines()
        .filter_map(|line| line.split_once(".visible .entry ")?.1.split('(').next())
        .collect()
}

#[test]
fn each_module_has_what_its_kernels_use() {
    let fixture = Fixture::new("groups", THREE);
    let path = |name: &str| fixture.path(name);
    let builder = fixture.builder().split_modules(true).arches(ARCHES);
    let modules = builder.copy_to(path("copy.ptx")).build_all().unwrap();

    let names: Vec<_> = modules
        .iter()
        .map(|m| (m.arch.sm(), m.module.as_deref().unwrap(), m.path.clone()))
        .collect();
    assert_eq!(
        names,
        [
            ("sm_80", "rest", path("out.rest.sm_80.ptx")),
            ("sm_80", "tiles", path("out.tiles.sm_80.ptx")),
            ("sm_90", "rest", path("out.rest.sm_90.ptx")),
            ("sm_90", "tiles", path("out.tiles.sm_90.ptx")),
        ]
    );
    for module in &modules {
        let (ptx, name) = (text(module), module.module.as_deref().unwrap());
        assert!(ptx.contains(&format!(".target {}", module.arch)), "{ptx}");
        let copy = path(&format!("copy.{name}.{}.ptx", module.arch));
        assert_eq!(fs::read_to_string(copy).unwrap(), ptx);
        if name == "tiles" {
            assert_eq!(entries(&ptx), ["fill", "fold"].into());
            assert!(ptx.contains(".maxntid 128, 1, 1"), "{ptx}");
            assert!(ptx.contains("TILE"), "{ptx}");
        } else {
            assert_eq!(entries(&ptx), ["other"].into());
            assert!(ptx.contains(".maxntid 64, 1, 1"), "{ptx}");
            assert_eq!(ptx.matches(".shared").count(), 0, "{ptx}");
            assert_eq!(ptx.matches(".func").count(), 0, "{ptx}");
        }
    }
}

#[test]
fn one_module_is_the_same_alone() {
    let fixture = Fixture::new("only", THREE);
    let builder = || fixture.builder().split_modules(true);
    let all = builder().build_all().unwrap();
    let rest = builder().only_module("rest").build_all().unwrap();
    assert_eq!(rest, all[..1]);
    assert_eq!(entries(&text(&rest[0])), ["other"].into());
    match builder().only_module("tile").build_all() {
        Err(CudaBuilderError::NoSuchModule { name, modules }) => {
            assert_eq!(
                (name.as_str(), modules),
                ("tile", vec!["rest".into(), "tiles".into()])
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_kernel_is_the_same_code_alone_and_among_others() {
    let fixture = Fixture::new("alone", THREE);
    let whole = fixture.ptx(fixture.builder());
    let body = |ptx: &str| {
        let start = ptx.find(".visible .entry other(").expect("the entry");
        ptx[start..start + ptx[start..].find("\n}\n").expect("its end")].to_owned()
    };
    let modules = fixture.builder().split_modules(true).build_all().unwrap();
    assert_eq!(entries(&whole), ["fill", "fold", "other"].into());
    assert_eq!(body(&text(&modules[0])), body(&whole));
}

#[test]
fn a_second_build_writes_nothing_and_a_kernel_moves() {
    let fixture = Fixture::new("again", THREE);
    let times = |modules: &[Ptx]| -> Vec<_> {
        let time = |m: &Ptx| fs::metadata(&m.path).unwrap().modified().unwrap();
        modules.iter().map(time).collect()
    };
    let build = || fixture.builder().split_modules(true).build_all().unwrap();
    let first = build();
    let written = times(&first);
    let again = build();
    assert_eq!((&again, times(&again)), (&first, written));

    fixture.write(&THREE.replace("fold module=tiles", "fold module=rest"));
    let moved = build();
    assert_eq!(entries(&text(&moved[0])), ["fold", "other"].into());
    assert_eq!(entries(&text(&moved[1])), ["fill"].into());
}

#[test]
fn what_asks_for_no_architecture_is_one_code_for_all() {
    let code = THREE.to_owned()
        + r#"
    core::arch::global_asm!("//!cuda which module=asks");
    unsafe extern "C" { fn __nvvm_reflect(name: *const core::ffi::c_char) -> u32; }
    #[unsafe(no_mangle)]
    pub unsafe extern "ptx-kernel" fn which(p: *mut u32) { unsafe {
        *p = __nvvm_reflect(c"__CUDA_ARCH".as_ptr());
    }}
    "#;
    let fixture = Fixture::new("which", &code);
    let builder = || fixture.builder().split_modules(true).arches(ARCHES);
    let apart = builder().build_all().unwrap();
    let apart: Vec<_> = apart.iter().map(text).collect();
    let shared = builder().share_arches(true).build_all().unwrap();
    let headless = |ptx: &str| {
        let lines = ptx.lines();
        lines
            .filter(|line| !line.starts_with(".version") && !line.starts_with(".target"))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let names: Vec<_> = shared.iter().map(|ptx| ptx.module.as_deref()).collect();
    assert_eq!(names[..3], [Some("asks"), Some("rest"), Some("tiles")]);
    for (i, module) in shared.iter().enumerate() {
        let ptx = text(module);
        assert_eq!(ptx, apart[i], "the same as compiled for itself");
        assert!(ptx.contains(&format!(".target {}\n", module.arch)), "{ptx}");
        let asks = i % 3 == 0;
        let older = headless(&text(&shared[i % 3]));
        assert_eq!(i < 3 || !asks, headless(&ptx) == older, "{ptx}");
        let number = module.arch.capability().0 * 100;
        assert_eq!(asks, ptx.contains(&format!(", {number};")), "{ptx}");
    }
}

/// Two checkouts with one target folder: cargo treats them as two crates, both up to date as long as their
/// sources are, but their bitcode has the same name.
#[test]
fn crates_of_one_name_do_not_take_each_others_bitcode() {
    let first = Fixture::new("checkout", THREE);
    let renamed = THREE.replace("fn other", "fn another");
    let second = Fixture::new("checkout", &renamed.replace("cuda other", "cuda another"));
    for _ in 0..2 {
        let (one, other) = (first.ptx(first.builder()), second.ptx(second.builder()));
        assert_eq!(entries(&one), ["fill", "fold", "other"].into());
        assert_eq!(entries(&other), ["fill", "fold", "another"].into());
    }
}

#[test]
fn builds_with_other_features_do_not_take_each_others_bitcode() {
    let gated = THREE.replace(
        "core::arch::global_asm!(\"//!cuda other",
        "#[cfg(feature = \"more\")]\n    core::arch::global_asm!(\"//!cuda other",
    );
    let other = "    #[unsafe(no_mangle)]\n    pub unsafe extern \"ptx-kernel\" fn other";
    let gated = gated.replace(other, &format!("#[cfg(feature = \"more\")]\n{other}"));
    assert_eq!(gated.matches("cfg(feature").count(), 2);
    let fixture = Fixture::new("features", &gated);
    fixture.add_to_manifest("[features]\nmore = []\n");
    let build = |features: &[&str]| {
        let builder = fixture.builder().build_args(features);
        fixture.ptx(builder)
    };
    for _ in 0..2 {
        assert_eq!(entries(&build(&[])), ["fill", "fold"].into());
        let with = build(&["--features", "more"]);
        assert_eq!(entries(&with), ["fill", "fold", "other"].into());
    }
}

/// Adds a line to the builder's file for a module, to see whether the builder writes it again.
fn mark(krate: &str, module: &Ptx) {
    mark_in("", krate, module);
}

fn mark_in(folder: &str, krate: &str, module: &Ptx) {
    let name = module.module.as_deref().expect("modules are split");
    // The builder's folder: in the target folder of the environment, else in the fixture's.
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(
        || Path::new(env!("CARGO_TARGET_TMPDIR")).join("fixtures"),
        PathBuf::from,
    );
    let kept = target
        .join("cuda-builder")
        .join(folder)
        .join("nvptx64-nvidia-cuda/release/deps")
        .join(format!("{krate}.{name}.{}.ptx", module.arch.sm()));
    let text = fs::read_to_string(&kept).unwrap();
    fs::write(kept, text + "// marked\n").unwrap();
}

fn is_marked(module: &Ptx) -> bool {
    text(module).ends_with("// marked\n")
}

#[test]
fn only_the_modules_that_change_are_made_again() {
    let fixture = Fixture::new("parts", THREE);
    let build = || fixture.builder().split_modules(true).build_all().unwrap();
    build().iter().for_each(|module| mark("parts", module));
    assert!(build().iter().all(is_marked), "nothing is another");

    fixture.write(&THREE.replace("*p = tid()", "*p = 2 * tid()"));
    let marked: Vec<_> = build().iter().map(is_marked).collect();
    assert_eq!(
        marked,
        [false, true],
        "`other` of `rest` is another, `tiles` is not"
    );
}

#[test]
fn what_another_build_has_made_is_copied() {
    let fixture = Fixture::new("shared", THREE);
    let builder = || fixture.builder().split_modules(true);
    let made = builder().build_all().unwrap();
    made.iter().for_each(|module| mark("shared", module));
    let elsewhere = builder().final_module_path(fixture.path("elsewhere.ptx"));
    assert!(elsewhere.build_all().unwrap().iter().all(is_marked));
    // With other settings it is built again.
    let other = builder().ptx_isa(80).build_all().unwrap();
    assert!(!other.iter().any(is_marked));
}

#[test]
fn lines_and_lines_of_callers_are_kept_side_by_side() {
    let fixture = Fixture::new("both_lines", THREE);
    let lines = || {
        let builder = fixture.builder().split_modules(true);
        builder.generate_line_info(true)
    };
    let callers = || {
        lines()
            .credit_callers_of(["elsewhere"])
            .build_all()
            .unwrap()
    };
    let own = lines().build_all().unwrap();
    own.iter()
        .for_each(|module| mark_in("lines", "both_lines", module));
    assert!(!callers().iter().any(is_marked));
    assert!(lines().build_all().unwrap().iter().all(is_marked));
}

#[test]
fn a_kernel_in_no_module_is_refused_by_name() {
    let code = THREE.replace("//!cuda fold module=tiles", "//!cuda fold nvvm.minctasm=1");
    let fixture = Fixture::new("in_none", &code);
    match fixture.builder().split_modules(true).build() {
        Err(CudaBuilderError::NoModule { kernels }) => assert_eq!(kernels, ["fold"]),
        other => panic!("{other:?}"),
    }
    fixture.builder().build().expect("it is not asked for");

    let fixture = Fixture::new("nothing", "");
    match fixture.builder().split_modules(true).build() {
        Err(CudaBuilderError::NoKernels { krate }) => assert_eq!(krate, "nothing"),
        other => panic!("{other:?}"),
    }
}
