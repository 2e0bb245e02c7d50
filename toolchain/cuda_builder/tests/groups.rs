//! Several modules from one compilation.

mod fixture;

use cuda_builder::{CudaBuilder, CudaBuilderError, NvvmArch, Ptx};
use fixture::Fixture;
use std::collections::BTreeSet;
use std::fs;

/// Two kernels that share a function, shared memory and the dynamic shared memory, with launch
/// attributes, and a third that has nothing of it.
const THREE: &str = r#"
    core::arch::global_asm!("//!cuda fill nvvm.maxntid=128,1,1");
    core::arch::global_asm!("//!cuda other nvvm.maxntid=64,1,1");
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

fn two_groups(builder: CudaBuilder) -> CudaBuilder {
    builder
        .group("tiles", ["fill", "fold"])
        .group("rest", ["other"])
}

#[test]
fn each_group_is_a_module_with_what_its_kernels_use() {
    let fixture = Fixture::new("groups", THREE);
    let path = |name: &str| fixture.path(name);
    let builder = two_groups(fixture.builder()).arches(ARCHES);
    let modules = builder.copy_to(path("copy.ptx")).build_all().unwrap();

    let names: Vec<_> = modules
        .iter()
        .map(|m| (m.arch.sm(), m.group.as_deref().unwrap(), m.path.clone()))
        .collect();
    assert_eq!(
        names,
        [
            ("sm_80", "tiles", path("out.tiles.sm_80.ptx")),
            ("sm_80", "rest", path("out.rest.sm_80.ptx")),
            ("sm_90", "tiles", path("out.tiles.sm_90.ptx")),
            ("sm_90", "rest", path("out.rest.sm_90.ptx")),
        ]
    );
    for module in &modules {
        let (ptx, group) = (text(module), module.group.as_deref().unwrap());
        assert!(ptx.contains(&format!(".target {}", module.arch)), "{ptx}");
        let copy = path(&format!("copy.{group}.{}.ptx", module.arch));
        assert_eq!(fs::read_to_string(copy).unwrap(), ptx);
        if group == "tiles" {
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
fn a_kernel_is_the_same_code_alone_and_among_others() {
    let fixture = Fixture::new("alone", THREE);
    let whole = fixture.ptx(fixture.builder());
    let body = |ptx: &str| {
        let start = ptx.find(".visible .entry other(").expect("the entry");
        ptx[start..start + ptx[start..].find("\n}\n").expect("its end")].to_owned()
    };
    let modules = two_groups(fixture.builder()).build_all().unwrap();
    assert_eq!(entries(&whole), ["fill", "fold", "other"].into());
    assert_eq!(body(&text(&modules[1])), body(&whole));
}

#[test]
fn a_second_build_writes_nothing_and_other_groups_write_anew() {
    let fixture = Fixture::new("again", THREE);
    let times = |modules: &[Ptx]| -> Vec<_> {
        let time = |m: &Ptx| fs::metadata(&m.path).unwrap().modified().unwrap();
        modules.iter().map(time).collect()
    };
    let first = two_groups(fixture.builder()).build_all().unwrap();
    let written = times(&first);
    let again = two_groups(fixture.builder()).build_all().unwrap();
    assert_eq!((&again, times(&again)), (&first, written));

    let moved = fixture
        .builder()
        .group("tiles", ["fill"])
        .group("rest", ["other", "fold"]);
    let moved = moved.build_all().unwrap();
    assert_eq!(entries(&text(&moved[0])), ["fill"].into());
    assert_eq!(entries(&text(&moved[1])), ["fold", "other"].into());
}

#[test]
fn groups_that_do_not_fit_the_kernels_are_refused_by_name() {
    let fixture = Fixture::new("misfits", THREE);
    match fixture.builder().group("tiles", ["fill"]).build() {
        Err(CudaBuilderError::UngroupedKernels { kernels }) => {
            assert_eq!(kernels, ["fold", "other"])
        }
        other => panic!("{other:?}"),
    }
    let none: [&str; 0] = [];
    match two_groups(fixture.builder()).group("nothing", none).build() {
        Err(CudaBuilderError::EmptyGroup { group }) => assert_eq!(group, "nothing"),
        other => panic!("{other:?}"),
    }
    let absent = two_groups(fixture.builder()).group("more", ["other", "tile"]);
    match absent.build() {
        Err(CudaBuilderError::AbsentKernels { group, kernels }) => {
            assert_eq!(
                (group.as_str(), &kernels[..]),
                ("more", &["tile".to_owned()][..])
            );
        }
        other => panic!("{other:?}"),
    }
}
