//! Compiles small crates of kernels to PTX: what is emitted, and what is rejected.
//!
//! Needs a device compiler, like every build of the project: `cargo xtask setup`.

mod fixture;

use cuda_builder::{CudaBuilder, CudaBuilderError, NvvmArch};
use fixture::Fixture;
use std::fs;
use std::path::PathBuf;

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn shared_statics_and_parameters_get_their_address_spaces() {
    let fixture = Fixture::new(
        "spaces",
        r#"
        unsafe extern "C" { static mut __cuda_dynamic_shared: [MaybeUninit<u8>; 0]; }
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn k(input: &[f32; 0], output: *mut f32) { unsafe {
            #[unsafe(link_section = ".shared")]
            static mut TILE: [MaybeUninit<f32>; 256] = [const { MaybeUninit::uninit() }; 256];
            let t = tid() as usize;
            let tile = (&raw mut TILE).cast::<f32>();
            let dynamic = (&raw mut __cuda_dynamic_shared).cast::<f32>();
            *tile.add(t) = *input.as_ptr().add(t);
            *dynamic.add(t) = *output.add(t);
            barrier(0);
            *output.add(t) = *tile.add(255 - t) + *dynamic.add(255 - t);
        }}
        "#,
    );
    let ptx = fixture.ptx(fixture.builder());
    assert_eq!(count(&ptx, "ld.shared"), 2, "{ptx}");
    assert_eq!(count(&ptx, "st.shared"), 2, "{ptx}");
    assert_eq!(
        count(&ptx, "ld.global.nc"),
        1,
        "an untouched input is read-only data: {ptx}"
    );
    assert_eq!(
        count(&ptx, "ld.b32") + count(&ptx, "st.b32"),
        0,
        "no generic access: {ptx}"
    );
    assert!(
        ptx.contains(".extern .shared .align 128 .b8 __cuda_dynamic_shared"),
        "{ptx}"
    );
}

#[test]
fn a_table_is_not_loaded_from_local_memory() {
    // rustc copies the constant to a local variable, which LLVM replaces by the constant.
    let fixture = Fixture::new(
        "table",
        r#"#[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn k(p: *mut f64, i: usize) { unsafe {
            const TABLE: [f64; 3] = [1.0, 1.25, 1.5];
            *p = TABLE[i];
        } }"#,
    );
    let ptx = fixture.ptx(fixture.builder());
    assert_eq!(count(&ptx, ".local"), 0, "{ptx}");
    assert_eq!(count(&ptx, "ld.global"), 1, "{ptx}");
    assert!(ptx.contains(".global .align 8 .b8 "), "{ptx}");
}

#[test]
fn warp_wide_assembly_is_neither_merged_nor_duplicated() {
    let fixture = Fixture::new(
        "convergence",
        r#"
        unsafe fn shuffle(v: u32) -> u32 {
            let r: u32;
            unsafe { asm!("shfl.sync.down.b32 {}, {}, 1, 31, -1;", out(reg32) r, in(reg32) v) };
            r
        }
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn arms(p: *mut u32, n: u32) { unsafe {
            if tid() < n { *p = shuffle(*p); } else { *p = shuffle(*p) + 1; }
        }}
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn barriers(p: *mut u32, n: u32) { unsafe {
            let first = tid() < n;
            if first { *p += 1; }
            barrier(0);
            if first { *p += 2; }
            barrier(0);
            if first { *p += 3; }
        }}
        "#,
    );
    let ptx = fixture.ptx(fixture.builder());
    let (arms, barriers) = ptx.split_at(ptx.find(".entry barriers").expect("both entries"));
    assert_eq!(count(arms, "shfl.sync"), 2, "one in each arm: {ptx}");
    assert_eq!(
        count(barriers, "bar.sync") + count(barriers, "barrier.sync"),
        2,
        "{ptx}"
    );
}

#[test]
fn a_call_that_names_nobody_is_convergent() {
    let fixture = Fixture::new(
        "indirect",
        r#"
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn k(p: *mut u32, f: fn(u32) -> u32) { unsafe { *p = f(tid()) } }
        "#,
    );
    fixture.ptx(fixture.builder().emit_llvm_ir(true));
    let ir = fs::read_to_string(fixture.path("out.ll")).unwrap();
    let call = ir
        .lines()
        .find(|l| l.contains("call") && l.contains(" %f("))
        .expect("the call");
    let group = call
        .rsplit('#')
        .next()
        .unwrap()
        .split_whitespace()
        .next()
        .unwrap();
    let attributes = ir
        .lines()
        .find(|l| l.starts_with(&format!("attributes #{group} ")));
    assert!(
        attributes.is_some_and(|a| a.contains("convergent")),
        "{call} {attributes:?}"
    );
}

#[test]
fn orderings_of_atomics_are_kept_as_fences() {
    let kernel = |name: &str, ordering: &str| {
        format!(
            "#[unsafe(no_mangle)] pub unsafe extern \"ptx-kernel\" fn {name}(p: &AtomicU32, out: *mut u32) {{
                 unsafe {{ *out = p.fetch_add(1, Ordering::{ordering}) }} }}\n"
        )
    };
    let code =
        kernel("relaxed", "Relaxed") + &kernel("acq_rel", "AcqRel") + &kernel("seq_cst", "SeqCst");
    let fixture = Fixture::new("orderings", &code);
    let ptx = fixture.ptx(fixture.builder());
    let body = |name: &str| {
        let start = ptx.find(&format!(".entry {name}(")).expect("the entry");
        &ptx[start..start + ptx[start..].find("\n}\n").unwrap()]
    };
    assert_eq!(count(body("relaxed"), "fence"), 0, "{ptx}");
    assert_eq!(
        count(body("acq_rel"), "fence"),
        2,
        "one before, one after: {ptx}"
    );
    assert_eq!(count(body("seq_cst"), "fence.sc"), 1, "{ptx}");
    for name in ["relaxed", "acq_rel", "seq_cst"] {
        assert_eq!(count(body(name), "atom.global.add.u32"), 1, "{ptx}");
    }
}

#[test]
fn float_options_change_the_instructions_they_name() {
    let fixture = Fixture::new(
        "floats",
        r#"
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn k(p: *mut f32) { unsafe {
            let (a, b, c) = (*p, *p.add(1), *p.add(2));
            *p.add(3) = a * b + c;
            *p.add(4) = a / b;
            *p.add(5) = core::intrinsics::sqrtf32(c);
        }}
        "#,
    );
    fixture.enable("core_intrinsics");

    let plain = fixture.ptx(fixture.builder());
    assert_eq!(
        (
            count(&plain, "fma.rn.f32"),
            count(&plain, "div.rn.f32"),
            count(&plain, "sqrt.rn.f32")
        ),
        (1, 1, 1),
        "{plain}"
    );
    let exact = fixture.ptx(fixture.builder().fma_contraction(false));
    assert_eq!(
        (count(&exact, "fma.rn.f32"), count(&exact, "mul.rn.f32")),
        (0, 1),
        "{exact}"
    );
    let fast = fixture.ptx(fixture.builder().ftz(true).fast_div(true).fast_sqrt(true));
    assert_eq!(count(&fast, "div.approx.ftz.f32"), 1, "{fast}");
    assert_eq!(count(&fast, "sqrt.approx.ftz.f32"), 1, "{fast}");
    assert_eq!(count(&fast, "fma.rn.ftz.f32"), 1, "{fast}");
}

#[test]
fn float_options_leave_the_crate_libm_alone() {
    let fixture = Fixture::new(
        "same_bits",
        r#"
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn k(p: *mut f32) { unsafe {
            let (a, b, c) = (*p, *p.add(1), *p.add(2));
            *p.add(3) = libm::concrete(a * b, b, c);
            *p.add(4) = libm::generic(a, b, c);
        }}
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn own(p: *mut f32) { unsafe {
            *p = libm::sum(*p * *p.add(1), *p.add(2)) * *p.add(3) + *p.add(4);
        }}
        "#,
    );
    // As in the crate with this name, `generic` uses functions of `core`.
    let libm = r#"
        #![no_std]
        #![feature(rustc_attrs)]
        #![allow(internal_features)]
        use core::ops::{Add, Div, Mul};
        #[rustc_no_mir_inline]
        pub fn concrete(a: f32, b: f32, c: f32) -> f32 { (a * b + c) / b }
        fn any<F: Copy + Add<Output = F> + Div<Output = F> + Mul<Output = F>>(a: F, b: F, c: F) -> F {
            (a * b + c) / b
        }
        #[rustc_no_mir_inline]
        pub fn generic(a: f32, b: f32, c: f32) -> f32 { any(a, b, c) }
        #[rustc_no_mir_inline]
        pub fn sum(a: f32, b: f32) -> f32 { a + b }
    "#;
    fs::create_dir_all(fixture.path("libm/src")).unwrap();
    fs::write(fixture.path("libm/src/lib.rs"), libm).unwrap();
    let manifest = "[package]\nname = \"libm\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
    fs::write(fixture.path("libm/Cargo.toml"), manifest).unwrap();
    fixture.add_to_manifest("[dependencies]\nlibm.path = \"libm\"\n");

    let ptx = fixture.ptx(fixture.builder().fast_div(true));
    let (k, own) = ptx.split_at(ptx.find(".entry own").expect("both entries"));
    assert_eq!(count(k, "fma.rn.f32"), 0, "{ptx}");
    assert_eq!(count(k, "div.rn.f32"), 2, "{ptx}");
    assert_eq!(
        (count(k, "mul.rn.f32"), count(k, "add.rn.f32")),
        (2, 2),
        "{ptx}"
    );
    assert_eq!(count(own, "fma.rn.f32"), 1, "its own operators: {ptx}");
    assert_eq!(count(own, "add.rn.f32"), 1, "libm's: {ptx}");

    let flushed = fixture.ptx(fixture.builder().ftz(true));
    assert_eq!(count(&flushed, "div.rn.f32"), 2, "{flushed}");
    assert_eq!(count(&flushed, "fma.rn.ftz.f32"), 1, "{flushed}");
}

#[test]
fn launch_attributes_reach_the_entry() {
    let fixture = Fixture::new(
        "bounds",
        r#"
        core::arch::global_asm!("//!cuda k nvvm.maxntid=256,1,1 nvvm.minctasm=2");
        #[unsafe(no_mangle)] pub unsafe extern "ptx-kernel" fn k(p: *mut u32) { unsafe { *p = tid() } }
        "#,
    );
    let ptx = fixture.ptx(fixture.builder());
    assert!(ptx.contains(".maxntid 256, 1, 1"), "{ptx}");
    assert!(ptx.contains(".minnctapersm 2"), "{ptx}");

    let fixture = Fixture::new(
        "bounds_of_nobody",
        r#"
        core::arch::global_asm!("//!cuda absent nvvm.maxntid=256,1,1");
        #[unsafe(no_mangle)] pub unsafe extern "ptx-kernel" fn k(p: *mut u32) { unsafe { *p = tid() } }
        "#,
    );
    match fixture.builder().build() {
        Err(CudaBuilderError::UnknownKernel { kernel }) => assert_eq!(kernel, "absent"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn line_numbers_do_not_switch_off_optimisation() {
    let fixture = Fixture::new(
        "lines",
        r#"#[unsafe(no_mangle)] pub unsafe extern "ptx-kernel" fn k(p: *mut u32) { unsafe { *p = tid() } }"#,
    );
    let ptx = fixture.ptx(fixture.builder().generate_line_info(true));
    assert!(ptx.contains(".loc"), "{ptx}");
    assert!(ptx.contains(".target sm_90\n"), "no `, debug`: {ptx}");
    assert_eq!(count(&ptx, ".section"), 0, "{ptx}");
}

/// A handler that passes the message to the driver, as `cuda_std`'s does. The builder recognises the function
/// that it calls by name: it does not read values.
const HANDLER: &str = r#"
fn panic(info: &core::panic::PanicInfo) -> ! {
    __cuda_std_panic(info.message().as_str().unwrap_or("values"))
}
unsafe extern "C" {
    fn __assertfail(m: *const u8, file: *const u8, line: u32, function: *const u8, size: usize) -> !;
}
#[unsafe(no_mangle)]
fn __cuda_std_panic(text: &str) -> ! {
    let text = text.as_ptr();
    unsafe { __assertfail(text, text, 1, text, 1) }
}
"#;

/// Panics with an index, with a text, and with values that only `core::fmt` can print.
const PANICS: &str = r#"
struct Why { code: u32 }
impl core::fmt::Debug for Why {
    // Not derived: that compares slices, for which a custom handler would need `memcmp`.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result { write!(f, "why {}", self.code) }
}
fn checked(x: u32) -> Result<u32, Why> { if x < 7 { Ok(x) } else { Err(Why { code: x }) } }
#[unsafe(no_mangle)]
pub unsafe extern "ptx-kernel" fn k(p: *mut u32, q: &[u32; 5], x: f64) { unsafe {
    if tid() == 7 { panic!("a text") }
    assert_ne!(x, 0.5, "with {x}");
    let y = checked(*p).unwrap() + checked(*p + 1).expect("another text");
    if y == 5 { panic!("{}", y) }
    *p = q[tid() as usize] + y;
}}
"#;

fn panicking(name: &str, handler: &str) -> Fixture {
    let fixture = Fixture::new(name, PANICS);
    let code = fs::read_to_string(fixture.path("src/lib.rs")).unwrap();
    let own = "fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }";
    assert!(code.contains(own));
    fs::write(fixture.path("src/lib.rs"), code.replace(own, handler)).unwrap();
    fixture
}

/// A text as in PTX: `{97, 32, 116}`.
fn bytes(text: &str) -> String {
    let bytes: Vec<_> = text.bytes().map(|byte| byte.to_string()).collect();
    bytes.join(", ")
}

#[test]
fn a_build_without_messages_of_panics_has_no_byte_of_them() {
    let fixture = panicking("silent", HANDLER);
    let ptx = fixture.ptx(fixture.builder());
    assert!(count(&ptx, "trap") > 0, "{ptx}");
    for absent in ["__assertfail", "__cuda_std_panic", ".func", "call", ".b8"] {
        assert_eq!(count(&ptx, absent), 0, "{absent}: {ptx}");
    }
}

#[test]
fn messages_of_panics_have_their_text_and_nothing_that_formats() {
    let fixture = panicking("outspoken", HANDLER);
    let ptx = fixture.ptx(fixture.builder().panic_messages(true));
    assert!(ptx.contains(".extern .func __assertfail"), "{ptx}");
    assert!(ptx.contains(&bytes("a text")), "{ptx}");
    assert!(!ptx.contains(".callprototype"), "no call by address: {ptx}");
    assert!(!ptx.contains("core3fmt"), "{ptx}");
}

/// A custom handler may format values.
#[test]
fn the_values_of_messages_reach_another_handler() {
    let handler = HANDLER.replace("__cuda_std_panic", "another");
    let fixture = panicking("formatting", &handler.replace(
        "another(info.message()",
        "struct Sink; impl core::fmt::Write for Sink { fn write_str(&mut self, text: &str) -> core::fmt::Result {
             if text.len() == 77 { another(text) } Ok(()) } }
         let _ = core::fmt::Write::write_fmt(&mut Sink, format_args!(\"{}\", info.message()));
         another(info.message()",
    ));
    let ptx = fixture.ptx(fixture.builder().panic_messages(true));
    assert!(ptx.contains(".callprototype"), "{ptx}");
    assert!(ptx.contains("core3fmt"), "{ptx}");
}

#[test]
fn what_a_crates_vocabulary_does_is_done_by_the_line_that_calls_it() {
    let fixture = Fixture::new(
        "vocabulary",
        r#"
        mod words;
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn k(p: *mut u32) { unsafe {
            words::put(p, tid());
        }}
        "#,
    );
    let words = "#[inline(always)] pub unsafe fn put(p: *mut u32, x: u32) { unsafe { p.write_volatile(x) } }\n";
    fs::write(fixture.path("src/words.rs"), words).unwrap();
    let lines = || fixture.builder().generate_line_info(true);
    let own = fixture.ptx(lines());
    assert!(
        own.contains("mem") || own.contains("ptr"),
        "core's lines: {own}"
    );
    let crates = fixture.ptx(lines().credit_callers_of(["elsewhere"]));
    assert!(
        crates.contains("/src/words.rs\""),
        "the crate's lines: {crates}"
    );
    let callers = fixture.ptx(lines().credit_callers_of(["src/words.rs"]));
    assert!(!callers.contains("words.rs"), "{callers}");
    let code = fs::read_to_string(fixture.path("src/lib.rs")).unwrap();
    let call = code
        .lines()
        .position(|line| line.contains("words::put("))
        .unwrap()
        + 1;
    let store = callers.find("st.volatile.global").unwrap();
    let (_, place) = callers[..store].rsplit_once(".loc").unwrap();
    assert_eq!(
        place.split_whitespace().nth(1),
        Some(call.to_string().as_str()),
        "{callers}"
    );
}

#[test]
fn one_compilation_serves_several_architectures_and_a_second_writes_nothing() {
    let fixture = Fixture::new(
        "arches",
        r#"
        unsafe extern "C" { fn __nvvm_reflect(what: *const u8) -> u32; }
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn k(p: *mut u32) { unsafe {
            *p = __nvvm_reflect(c"__CUDA_ARCH".as_ptr().cast());
        }}
        "#,
    );
    let arches = [
        NvvmArch::Compute75,
        NvvmArch::Compute80,
        NvvmArch::Compute90,
    ];
    let build = || fixture.builder().arches(arches).build_all().unwrap();
    let modules = build();
    assert_eq!(modules.iter().map(|m| m.arch).collect::<Vec<_>>(), arches);
    let written: Vec<_> = modules
        .iter()
        .map(|m| fs::metadata(&m.path).unwrap().modified().unwrap())
        .collect();
    for (module, (number, isa)) in
        modules
            .iter()
            .zip([("750", "7.0"), ("800", "7.0"), ("900", "7.8")])
    {
        let ptx = fs::read_to_string(&module.path).unwrap();
        assert!(
            ptx.contains(number),
            "the architecture's number is a constant: {ptx}"
        );
        assert!(ptx.contains(&format!(".version {isa}")), "{ptx}");
        assert!(ptx.contains(&format!(".target {}", module.arch)), "{ptx}");
    }
    assert_eq!(build(), modules);
    for (module, written) in modules.iter().zip(written) {
        assert_eq!(
            fs::metadata(&module.path).unwrap().modified().unwrap(),
            written
        );
    }
}

#[test]
fn initialised_shared_statics_are_refused_by_name() {
    let fixture = Fixture::new(
        "initialised",
        r#"
        #[unsafe(link_section = ".shared")]
        static mut COUNTER: u32 = 7;
        #[unsafe(no_mangle)] pub unsafe extern "ptx-kernel" fn k(p: *mut u32) { unsafe { COUNTER += *p; *p = COUNTER } }
        "#,
    );
    match fixture.builder().build() {
        Err(CudaBuilderError::InitialisedShared { name }) => {
            assert!(name.ends_with("COUNTER"), "{name}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_not_a_crate_of_kernels_is_refused() {
    let fixture = Fixture::new("empty", "");
    match fixture.builder().build() {
        Err(CudaBuilderError::NoKernels { krate }) => assert_eq!(krate, "empty"),
        other => panic!("{other:?}"),
    }

    let fixture = Fixture::new("broken", "pub fn k() { this does not parse }");
    match fixture.builder().build() {
        Err(CudaBuilderError::BuildFailed { output, .. }) => {
            assert!(output.contains("src/lib.rs"), "{output}")
        }
        other => panic!("{other:?}"),
    }

    let no_library = Fixture::new("no_library", "");
    fs::rename(
        no_library.path("src/lib.rs"),
        no_library.path("src/main.rs"),
    )
    .unwrap();
    match no_library.builder().build() {
        Err(CudaBuilderError::NotACrate { why, .. }) => {
            assert!(why.contains("no library"), "{why}")
        }
        other => panic!("{other:?}"),
    }

    match fixture.builder().arches([]).build() {
        Err(CudaBuilderError::NoArchitecture) => {}
        other => panic!("{other:?}"),
    }

    let nowhere = PathBuf::from("/nowhere/at/all");
    match CudaBuilder::new(&nowhere).build() {
        Err(CudaBuilderError::NotACrate { path, .. }) => assert_eq!(path, nowhere),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_other_options_do_what_they_say() {
    let fixture = Fixture::new(
        "options",
        r#"
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn k(p: *mut u32) { unsafe { *p = *p + tid() } }
        #[cfg(feature = "more")]
        #[unsafe(no_mangle)]
        pub unsafe extern "ptx-kernel" fn more(p: *mut u32) { unsafe { *p = 1 } }
        "#,
    );
    let manifest = fixture.path("Cargo.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(
        &manifest,
        text + "[lib]\nname = \"by_another_name\"\n[features]\nmore = []\n",
    )
    .unwrap();
    let path = |name: &str| fixture.path(name);

    let plain = fixture.ptx(fixture.builder());
    assert_eq!(count(&plain, "trap"), 0, "an overflow wraps: {plain}");
    assert!(!plain.contains(".entry more"), "{plain}");

    let checked = fixture.ptx(fixture.builder().release(false));
    assert!(count(&checked, "trap") > 0, "an overflow traps: {checked}");

    let more = fixture.ptx(fixture.builder().build_args(&["--features", "more"]));
    assert!(more.contains(".entry more"), "{more}");

    let newer = fixture.ptx(fixture.builder().ptx_isa(81).emit_llvm_ir(true));
    assert!(newer.contains(".version 8.1"), "{newer}");
    let ir = fs::read_to_string(path("out.ll")).unwrap();
    assert!(ir.contains("define ptx_kernel void @k("), "{ir}");

    let copies = fixture
        .builder()
        .arches([NvvmArch::Compute80, NvvmArch::Compute90])
        .copy_to(path("copy.ptx"));
    copies.build_all().unwrap();
    for arch in ["sm_80", "sm_90"] {
        let copy = fs::read_to_string(path(&format!("copy.{arch}.ptx"))).unwrap();
        assert!(copy.contains(&format!(".target {arch}")), "{copy}");
    }
}
