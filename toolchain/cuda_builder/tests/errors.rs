//! Errors for kernels that cannot be compiled: they name the crate, file and line, and what to do.
//!
//! Each error is located with line numbers, in the folder of such builds, so `core` is compiled twice for all
//! tests.

mod fixture;

use cuda_builder::{CudaBuilderError, NvvmArch};
use fixture::Fixture;
use std::fs;

/// The error for a crate with this code.
fn error(fixture: &Fixture) -> CudaBuilderError {
    match fixture.builder().build() {
        Err(error) => error,
        Ok(path) => panic!("{}", fs::read_to_string(path).unwrap()),
    }
}

/// Checks for texts in the error as a build script's `main` prints it, by `Debug`.
fn expect(error: &CudaBuilderError, texts: &[&str]) {
    let text = format!("{error:?}");
    for expected in texts {
        assert!(text.contains(expected), "no {expected:?} in:\n{text}");
    }
}

/// File and line of the only source line with `text`, in the form of an error.
fn line(fixture: &Fixture, text: &str) -> String {
    let file = fixture.path("src/lib.rs").canonicalize().unwrap();
    let code = fs::read_to_string(&file).unwrap();
    let mut lines = (1..).zip(code.lines()).filter(|(_, l)| l.contains(text));
    let (number, _) = lines.next().expect(text);
    assert!(lines.next().is_none(), "several lines contain {text}");
    format!("{}:{number}", file.display())
}

/// A kernel with this body and the parameter `p: *mut T`.
fn kernel(of: &str, body: &str) -> String {
    format!(
        "#[unsafe(no_mangle)]\npub unsafe extern \"ptx-kernel\" fn k(p: *mut {of}) {{ unsafe {{\n{body}\n}}}}\n"
    )
}

#[test]
fn an_unresolved_symbol_is_named_with_the_line_that_uses_it() {
    let fixture = Fixture::new(
        "unresolved",
        &("unsafe extern \"C\" {
            fn undefined_function(x: u32) -> u32;
            static NOR_THIS: u32;
            fn __cuda_std_refused_load_with_release_ordering();
        }
        fn helper(x: u32) -> u32 { unsafe {
            undefined_function(x)
        } }\n"
            .to_owned()
            + &kernel(
                "u32",
                "*p = helper(*p);
                *p += NOR_THIS;
                if tid() == 0 { __cuda_std_refused_load_with_release_ordering() }",
            )),
    );
    let error = error(&fixture);
    assert!(matches!(&error, CudaBuilderError::Unresolved { symbols, .. } if symbols.len() == 3));
    let used = |text| format!("at {}, in `k`", line(&fixture, text));
    let texts = [
        "the kernels of `unresolved` use symbols that no crate defines",
        &format!(
            "`undefined_function`\n    {}",
            used("            undefined_function(x)")
        ),
        &format!("`NOR_THIS`\n    {}", used("+= NOR_THIS")),
        &format!(
            "cuda_std refuses: load with release ordering\n    {}",
            used("if tid() == 0")
        ),
        "define them in Rust",
    ];
    expect(&error, &texts);
    // A build with line numbers reports them without a second compilation.
    let lines = fixture.builder().generate_line_info(true);
    expect(&lines.build().unwrap_err(), &texts);
}

#[test]
fn what_no_gpu_has_is_named_with_its_line_and_what_to_use_instead() {
    let cases = [
        (
            "thread_local",
            "#[thread_local] static mut X: u32 = 5;\n".to_owned()
                + &kernel("u32", "X += tid();\n*p = X;"),
            [
                "`case::X` is thread-local",
                "use a local variable",
                "X += tid()",
            ],
        ),
        (
            "f128",
            kernel("f128", "*p = *p * *p.add(1);"),
            [
                "128-bit float arithmetic",
                "use `f64`",
                "*p = *p * *p.add(1)",
            ],
        ),
        (
            "core_intrinsics",
            kernel(
                "u128",
                "use core::intrinsics::{AtomicOrdering::Relaxed, atomic_xadd};
                 *p.add(1) = atomic_xadd::<u128, u128, { Relaxed }>(p, 7);",
            ),
            [
                "atomic operation of more than 64 bits",
                "use at most 64 bits",
                "atomic_xadd::<",
            ],
        ),
        (
            "f16",
            kernel("u32", "asm!(\"cpuid\");\n*p = 1;"),
            ["`cpuid` is not PTX", "must end with `;`", "asm!(\"cpuid\")"],
        ),
        (
            "f16",
            "unsafe extern \"C\" { #[link_name = \"llvm.x86.rdtsc\"] fn rdtsc() -> u64; }\n"
                .to_owned()
                + &kernel("u64", "*p = rdtsc();"),
            ["`llvm.x86.rdtsc`", "another processor", "*p = rdtsc()"],
        ),
    ];
    // One crate, which cargo compiles again for each case.
    let fixture = Fixture::new("case", "");
    for (feature, code, [what, instead, used]) in cases {
        fixture.write(&code);
        fixture.enable(feature);
        let error = error(&fixture);
        assert!(
            matches!(&error, CudaBuilderError::Unsupported { findings, .. } if findings.len() == 1),
            "{error}"
        );
        let place = line(&fixture, used);
        expect(
            &error,
            &[
                "the kernels of `case` use features",
                what,
                instead,
                &place,
                "in `k`",
            ],
        );
    }
}

#[test]
fn an_instruction_of_newer_gpus_is_named_with_its_line_and_the_architecture() {
    let fixture = Fixture::new(
        "newer",
        &("unsafe extern \"C\" {
            #[link_name = \"llvm.nvvm.redux.sync.add\"]
            fn redux(x: u32, mask: u32) -> u32;
        }\n"
        .to_owned()
            + &kernel("u32", "*p = redux(*p, !0);")),
    );
    let older = fixture.builder().arch(NvvmArch::Compute75);
    let error = older.build().expect_err("7.5 has no `redux`");
    assert!(
        matches!(error, CudaBuilderError::Unsupported { .. }),
        "{error}"
    );
    let place = line(&fixture, "*p = redux(");
    expect(
        &error,
        &[
            "`newer`",
            "sm_75",
            "llvm.nvvm.redux.sync.add",
            "newer architecture",
            &place,
        ],
    );
    assert!(fixture.ptx(fixture.builder()).contains("redux.sync.add"));
}

#[test]
fn a_variable_number_of_arguments_is_refused_by_the_functions_name() {
    let sum = "unsafe extern \"C\" fn sum(n: u32, mut all: ...) -> u32 {
        let mut sum = 0;
        for _ in 0..n { sum += unsafe { all.arg::<u32>() }; }
        sum
    }\n";
    let fixture = Fixture::new(
        "variadic",
        &(sum.to_owned() + &kernel("u32", "*p = sum(2, 1u32, *p);")),
    );
    fixture.enable("c_variadic");
    expect(
        &error(&fixture),
        &["`variadic`", "`variadic::sum` is variadic: pass a slice"],
    );
}

#[test]
fn too_much_static_shared_memory_is_refused_with_the_kernel_and_the_limit() {
    let shared = |n: usize| {
        kernel(
            "f64",
            &format!(
                "#[unsafe(link_section = \".shared\")]
                static mut TILE: [MaybeUninit<f64>; {n}] = [const {{ MaybeUninit::uninit() }}; {n}];
                tile(&raw mut TILE as *mut f64, p);"
            ),
        ) + "#[inline(never)] unsafe fn more() -> *mut f64 {
            #[unsafe(link_section = \".shared\")]
            static mut MORE: [MaybeUninit<f64>; 8] = [const { MaybeUninit::uninit() }; 8];
            &raw mut MORE as *mut f64
        }
        #[inline(always)] unsafe fn tile(t: *mut f64, p: *mut f64) { unsafe {
            *t.add(tid() as usize) = *p;
            *more().add(tid() as usize) = *p.add(1);
            barrier(0);
            *p = *t.add(1) + *more().add(1);
        } }
        #[unsafe(no_mangle)] pub unsafe extern \"ptx-kernel\" fn small(p: *mut f64) { unsafe {
            *more().add(tid() as usize) = *p;
            barrier(0);
            *p = *more().add(1);
        } }\n"
    };
    let fixture = Fixture::new("shared", &shared(6137));
    let error = error(&fixture);
    let tile = format!(
        "49096 bytes: `shared::k::TILE`\n    at {}",
        line(&fixture, "*t.add(tid() as usize) = *p")
    );
    assert!(
        matches!(&error, CudaBuilderError::SharedMemory { kernel, bytes: 49160, limit: 49152, .. } if kernel == "k"),
        "{error}"
    );
    expect(
        &error,
        &[
            "kernel `k` of `shared` has 49160 bytes of static shared memory",
            "the limit is 49152 bytes",
            &tile,
            "64 bytes: `shared::more::MORE`",
            "dynamic_shared_mem",
        ],
    );
    // One element less is exactly the limit.
    fixture.write(&shared(6136));
    fixture.ptx(fixture.builder());
}

#[test]
fn recursion_is_refused_with_the_functions_unless_it_is_allowed() {
    let code = "#[inline(never)]
        fn even(n: u32) -> u32 { if n == 0 { 1 } else {
            odd(n - 1) * 3 + 1
        } }
        #[inline(never)]
        fn odd(n: u32) -> u32 { if n == 0 { 0 } else {
            even(n - 1) * 5 + 2
        } }
        #[inline(never)]
        fn fib(n: u32) -> u32 { if n < 2 { n } else {
            fib(n - 1) + fib(n - 2)
        } }\n"
        .to_owned()
        + &kernel("u32", "*p = even(*p);\n*p.add(1) = fib(*p);")
        + "#[unsafe(no_mangle)]
        pub unsafe extern \"ptx-kernel\" fn sorts(p: *mut u32, n: usize) { unsafe {
            core::slice::from_raw_parts_mut(p, n).sort_unstable()
        }}\n";
    let fixture = Fixture::new("recursion", &code);
    let error = error(&fixture);
    assert!(
        matches!(error, CudaBuilderError::Recursion { .. }),
        "{error}"
    );
    let at = |text| format!("at {}, in `", line(&fixture, text));
    expect(
        &error,
        &[
            "the kernels of `recursion` have recursive functions",
            "`recursion::even` (",
            ") calls `recursion::odd` (",
            ") calls `recursion::even`",
            &at("odd(n - 1)"),
            &at("even(n - 1)"),
            "`recursion::fib` (",
            ") calls itself",
            &at("fib(n - 1)"),
            // A call from the crate to a recursive function of `core`.
            &at("sort_unstable"),
            "write a loop",
            "allow_recursion(true)",
        ],
    );
    let ptx = fixture.ptx(fixture.builder().allow_recursion(true));
    assert!(ptx.contains("fib"), "{ptx}");
    assert!(
        fixture.builder().build().is_err(),
        "PTX of an earlier build must not hide the error"
    );
}

/// LLVM makes a tail call a loop.
#[test]
fn a_tail_call_that_becomes_a_loop_is_accepted() {
    let fixture = Fixture::new(
        "loops",
        &("fn gcd(a: u32, b: u32) -> u32 { if b == 0 { a } else { gcd(b, a % b) } }\n".to_owned()
            + &kernel("u32", "*p = gcd(*p, *p.add(1));")),
    );
    fixture.ptx(fixture.builder());
}

/// Only a build with panic messages needs a handler.
#[test]
fn a_crate_without_a_panic_handler_is_told_where_one_is() {
    let fixture = Fixture::new("handler", "");
    let code = "#![no_std]\npub fn f() {}\n".to_owned() + &kernel("u32", "*p = 1;");
    fs::write(fixture.path("src/lib.rs"), code).unwrap();
    fixture.ptx(fixture.builder());
    let error = fixture.builder().panic_messages(true).build().unwrap_err();
    expect(
        &error,
        &[
            "the kernels of `handler`",
            "`#[panic_handler]`",
            "`use cuda_std as _;`",
        ],
    );
}

#[test]
fn a_crate_that_needs_std_is_told_to_be_no_std() {
    let fixture = Fixture::new("with_std", "");
    let place = |line: &str| format!("src/lib.rs:{line}");
    let std = [
        "the kernels of `with_std` did not compile",
        "`with_std` needs `std`",
        "write `core` in place of `std`",
    ];
    let needs_std = |code: &str, line: &str| {
        fs::write(fixture.path("src/lib.rs"), code).unwrap();
        let error = error(&fixture);
        assert!(
            matches!(&error, CudaBuilderError::NeedsStd { library: "std", .. }),
            "{error}"
        );
        expect(&error, &std);
        expect(&error, &[&place(line)]);
        let told = error.to_string().contains("with `#![no_std]`");
        assert_eq!(told, !code.contains("no_std"), "{error}");
    };
    needs_std("pub fn k() {}\n", "1");
    needs_std(
        "#![no_std]\nuse std::vec::Vec;\npub fn k(_: Vec<u8>) {}\n",
        "2:5",
    );
    needs_std("#![no_std]\n\nextern crate std;\n", "3:1");

    fs::write(
        fixture.path("src/lib.rs"),
        "#![no_std]\nextern crate alloc;\n",
    )
    .unwrap();
    let error = error(&fixture);
    assert!(
        matches!(
            &error,
            CudaBuilderError::NeedsStd {
                library: "alloc",
                ..
            }
        ),
        "{error}"
    );
    expect(
        &error,
        &[
            "`with_std` needs `alloc`",
            &place("2:1"),
            "kernels cannot allocate",
        ],
    );
}

#[test]
fn names_that_only_std_has_are_told_with_what_to_use_instead() {
    let fixture = Fixture::new("names", "");
    let missing = [
        ("let _ = Vec::from([1]);", "an array of a fixed length"),
        ("let _ = vec![1];", "`cuda_std::shared_array!`"),
        ("let _ = Box::new(1);", "an array of a fixed length"),
        (
            "let _: String;",
            "`String`, `format!`: a kernel cannot allocate",
        ),
        ("format!(\"{p:?}\");", "`cuda_std::print!` formats"),
        ("println!(\"{p:?}\");", "use `cuda_std::println!`"),
        ("let _ = 2.0f32.sqrt();", "`cuda_std::float::GpuFloat`"),
    ];
    for (code, instead) in missing {
        fixture.write(&kernel("u32", code));
        let error = error(&fixture);
        assert!(
            matches!(error, CudaBuilderError::BuildFailed { .. }),
            "{error}"
        );
        expect(
            &error,
            &["What to do: a GPU has `core`, but not `std`.", instead],
        );
    }
    // Other errors get no advice.
    fixture.write(&kernel("u32", "let _: Vector;"));
    assert!(!error(&fixture).to_string().contains("What to do"));
}

#[test]
fn a_dependency_that_needs_std_is_named_with_the_crate_that_uses_it() {
    let fixture = Fixture::new("above", &kernel("u32", "*p = between::three();"));
    fixture.add_to_manifest("[dependencies]\nbetween.path = \"between\"\n");
    let dependency = |name: &str, manifest: &str, code: &str| {
        fs::create_dir_all(fixture.path(name).join("src")).unwrap();
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.3.1\"\nedition = \"2024\"\n{manifest}"
        );
        fs::write(fixture.path(name).join("Cargo.toml"), manifest).unwrap();
        fs::write(fixture.path(name).join("src/lib.rs"), code).unwrap();
    };
    dependency(
        "between",
        "[dependencies]\nbelow.path = \"../below\"\n",
        "#![no_std]\npub fn three() -> u32 { below::three() }\n",
    );
    dependency(
        "below",
        "[features]\ndefault = [\"std\"]\nstd = []\n",
        "#![cfg_attr(not(feature = \"std\"), no_std)]\npub fn three() -> u32 { 3 }\n",
    );
    let error = error(&fixture);
    assert!(
        matches!(error, CudaBuilderError::NeedsStd { .. }),
        "{error}"
    );
    expect(
        &error,
        &[
            "the kernels of `above`",
            "`below`, a dependency (above -> between -> below), needs `std`",
            "below/src/lib.rs:1",
            "in the Cargo.toml of `between`",
            "below = { version = \"0.3.1\", default-features = false }",
        ],
    );
    dependency(
        "between",
        "[dependencies]\nbelow = { path = \"../below\", default-features = false }\n",
        "#![no_std]\npub fn three() -> u32 { below::three() }\n",
    );
    fixture.ptx(fixture.builder());
}
