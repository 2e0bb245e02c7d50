// nvcc's functions of floats, under the names and with the parameters of the entries in
// conformance-kernels/src/entry.rs, for `cargo run --release -p conformance --example float_cost`.
// Compared against, never shipped.

typedef unsigned long long u64;

__device__ float from_word(u64 word, float) { return __uint_as_float((unsigned)word); }
__device__ double from_word(u64 word, double) { return __longlong_as_double((long long)word); }
__device__ u64 to_word(float value) { return __float_as_uint(value); }
__device__ u64 to_word(double value) { return (u64)__double_as_longlong(value); }

#define KERNEL(name, T, arguments, result)                                                         \
    extern "C" __global__ void float_##name(                                                       \
        const u64 *input, u64 input_len, u64 *output, u64 output_len, u64 *scratch,                \
        u64 scratch_len, u64 calls, u64 step, u64 c, u64 d) {                                      \
        u64 i = blockIdx.x * blockDim.x + threadIdx.x;                                             \
        for (; i < input_len / arguments; i += gridDim.x * blockDim.x) {                           \
            u64 results = 0;                                                                       \
            for (u64 call = 0; call < (calls ? calls : 1); call++) {                               \
                T x = from_word(input[arguments * i] + call * step, T());                          \
                T y = from_word(input[arguments * i + arguments - 1] + call * step, T());          \
                (void)y;                                                                           \
                results ^= to_word(result);                                                        \
            }                                                                                      \
            output[i] = results;                                                                   \
        }                                                                                          \
    }

#define BOTH(name, arguments, of_float, of_double)                                                 \
    KERNEL(name##_f32, float, arguments, of_float)                                                 \
    KERNEL(name##_f64, double, arguments, of_double)

BOTH(floor, 1, floorf(x), floor(x))
BOTH(ceil, 1, ceilf(x), ceil(x))
BOTH(round, 1, roundf(x), round(x))
BOTH(trunc, 1, truncf(x), trunc(x))
BOTH(sqrt, 1, sqrtf(x), sqrt(x))
BOTH(rsqrt, 1, rsqrtf(x), rsqrt(x))
BOTH(cbrt, 1, cbrtf(x), cbrt(x))
BOTH(exp, 1, expf(x), exp(x))
BOTH(exp2, 1, exp2f(x), exp2(x))
BOTH(exp_m1, 1, expm1f(x), expm1(x))
BOTH(ln, 1, logf(x), log(x))
BOTH(log2, 1, log2f(x), log2(x))
BOTH(log10, 1, log10f(x), log10(x))
BOTH(ln_1p, 1, log1pf(x), log1p(x))
BOTH(sin, 1, sinf(x), sin(x))
BOTH(cos, 1, cosf(x), cos(x))
BOTH(tan, 1, tanf(x), tan(x))
BOTH(asin, 1, asinf(x), asin(x))
BOTH(acos, 1, acosf(x), acos(x))
BOTH(atan, 1, atanf(x), atan(x))
BOTH(sinh, 1, sinhf(x), sinh(x))
BOTH(cosh, 1, coshf(x), cosh(x))
BOTH(tanh, 1, tanhf(x), tanh(x))
BOTH(asinh, 1, asinhf(x), asinh(x))
BOTH(acosh, 1, acoshf(x), acosh(x))
BOTH(atanh, 1, atanhf(x), atanh(x))
BOTH(powf, 2, powf(x, y), pow(x, y))
BOTH(hypot, 2, hypotf(x, y), hypot(x, y))
BOTH(atan2, 2, atan2f(x, y), atan2(x, y))
BOTH(powi, 2, powf(x, (float)(int)y), pow(x, (double)(int)y))

// The approximations, as nvcc's intrinsic functions give them.
KERNEL(exp_approx_f32, float, 1, __expf(x))
KERNEL(log2_approx_f32, float, 1, __log2f(x))
KERNEL(ln_approx_f32, float, 1, __logf(x))
KERNEL(sin_approx_f32, float, 1, __sinf(x))
KERNEL(cos_approx_f32, float, 1, __cosf(x))
KERNEL(recip_approx_f32, float, 1, __fdividef(1.0f, x))
KERNEL(div_approx_f32, float, 2, __fdividef(x, y))
