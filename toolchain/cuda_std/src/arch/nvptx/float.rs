//! Floating-point instructions.

/// Instructions whose results IEEE 754 defines, as LLVM's intrinsics.
pub(crate) mod instruction {
    macro_rules! instructions {
        ($float:ident: $($link:literal $name:ident($($argument:ident),*);)*) => {
            pub(crate) mod $float { $(
                #[inline(always)]
                pub(crate) fn $name($($argument: $float),*) -> $float {
                    unsafe extern "C" {
                        #[link_name = $link]
                        fn intrinsic($($argument: $float),*) -> $float;
                    }
                    // SAFETY: computes in registers, for any arguments.
                    unsafe { intrinsic($($argument),*) }
                }
            )* }
        };
    }

    instructions! {
        f32:
        "llvm.floor.f32" floor(x);
        "llvm.ceil.f32" ceil(x);
        "llvm.trunc.f32" trunc(x);
        "llvm.sqrt.f32" sqrt(x);
        "llvm.fma.f32" mul_add(x, a, b);
    }

    instructions! {
        f64:
        "llvm.floor.f64" floor(x);
        "llvm.ceil.f64" ceil(x);
        "llvm.trunc.f64" trunc(x);
        "llvm.sqrt.f64" sqrt(x);
        "llvm.fma.f64" mul_add(x, a, b);
    }
}

/// Approximate instructions, in the forms that keep subnormal numbers.
pub(crate) mod approx {
    use core::arch::asm;
    use core::f32::consts::{LN_2, LOG2_E};

    macro_rules! approximations {
        ($($instruction:literal $name:ident($($argument:ident),*);)*) => { $(
            #[inline(always)]
            pub(crate) fn $name($($argument: f32),*) -> f32 {
                let result: f32;
                // SAFETY: computes in registers, for any arguments.
                unsafe {
                    asm!(
                        concat!($instruction, " {result}" $(, ", {", stringify!($argument), "}")*, ";"),
                        result = out(reg32) result,
                        $($argument = in(reg32) $argument,)*
                        options(pure, nomem, nostack, preserves_flags)
                    );
                }
                result
            }
        )* };
    }

    approximations! {
        "ex2.approx.f32" exp2(x);
        "lg2.approx.f32" log2(x);
        "sin.approx.f32" sin(x);
        "cos.approx.f32" cos(x);
        "tanh.approx.f32" tanh(x);
        "sqrt.approx.f32" sqrt(x);
        "rsqrt.approx.f32" rsqrt(x);
        "rcp.approx.f32" recip(x);
        "div.approx.f32" div(x, divisor);
    }

    #[inline(always)]
    pub(crate) fn exp(x: f32) -> f32 {
        exp2(x * LOG2_E)
    }

    #[inline(always)]
    pub(crate) fn ln(x: f32) -> f32 {
        log2(x) * LN_2
    }
}
