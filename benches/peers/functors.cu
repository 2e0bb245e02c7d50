// CUB's reductions by user-defined operators: the structures and operators of `examples/kernels`, in CUDA
// C++. All return a cudaError_t; none allocates, none waits. If `temp` is null, a reduction writes the
// required size to `temp_bytes` and launches nothing.
//
// All have one signature: up to three arrays (`b` and `c` are null for one array), their length, a parameter
// of the operator, and the address of the result. For more than INT_MAX elements CUB counts in 64 bits.
//
// There is no product of matrices: DeviceReduce requires a commutative operator.

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <thrust/iterator/counting_iterator.h>

#include <climits>
#include <cmath>

// As in Rust, aligned to 4 bytes. `Aligned...` is aligned to 8 bytes, so that one load reads it.
struct Complex {
    float re, im;
};

struct alignas(8) AlignedComplex {
    float re, im;
};

struct Point {
    float x, y, z;
};

struct Box3 {
    Point min, max;
};

struct Scored {
    float score;
    unsigned id;
};

struct alignas(8) AlignedScored {
    float score;
    unsigned id;
};

static_assert(sizeof(Complex) == 8 && sizeof(AlignedComplex) == 8, "as in Rust");
static_assert(sizeof(Point) == 12 && sizeof(Box3) == 24, "as in Rust");
static_assert(sizeof(Scored) == 8 && sizeof(AlignedScored) == 8, "as in Rust");

// The sum of complex numbers.
template <typename T>
struct SumComplex {
    __host__ __device__ __forceinline__ T operator()(const T &a, const T &b) const {
        return T{a.re + b.re, a.im + b.im};
    }
};

// The sum of squared distances from a value.
struct SquareAbout {
    float centre;
    __host__ __device__ __forceinline__ float operator()(float x) const {
        return (x - centre) * (x - centre);
    }
};

struct SumFloat {
    __host__ __device__ __forceinline__ float operator()(float a, float b) const { return a + b; }
};

// The bounding box of points.
struct BoxOf {
    __host__ __device__ __forceinline__ Box3 operator()(const Point &point) const {
        return Box3{point, point};
    }
};

struct JoinBoxes {
    __host__ __device__ __forceinline__ Box3 operator()(const Box3 &a, const Box3 &b) const {
        return Box3{Point{fminf(a.min.x, b.min.x), fminf(a.min.y, b.min.y), fminf(a.min.z, b.min.z)},
                    Point{fmaxf(a.max.x, b.max.x), fmaxf(a.max.y, b.max.y), fmaxf(a.max.z, b.max.z)}};
    }
};

// The pair with the largest score; of equal scores, the one with the smallest id. A NaN loses to all.
template <typename T>
struct WithoutNan {
    __host__ __device__ __forceinline__ T operator()(const T &pair) const {
        return pair.score != pair.score ? T{-INFINITY, UINT_MAX} : pair;
    }
};

template <typename T>
struct BestOf {
    __host__ __device__ __forceinline__ T operator()(const T &a, const T &b) const {
        const bool b_wins = b.score > a.score || (b.score == a.score && b.id < a.id);
        return b_wins ? b : a;
    }
};

// The sum of the products of three arrays.
struct Product3 {
    const float *__restrict__ x;
    const float *__restrict__ y;
    const float *__restrict__ z;
    template <typename Index>
    __host__ __device__ __forceinline__ double operator()(Index i) const {
        return static_cast<double>(x[i]) * static_cast<double>(y[i]) * static_cast<double>(z[i]);
    }
};

struct SumDouble {
    __host__ __device__ __forceinline__ double operator()(double a, double b) const { return a + b; }
};

// The logarithm of a sum of exponentials, as usual in CUDA C++: both numbers are float. (With two doubles, as
// in warpfold, an operation would have several times as many instructions.) The result is stored as two
// doubles.
struct MaxSum {
    float max, sum;
};

struct ScaledSum {
    double base, sum;
    __host__ __device__ __forceinline__ ScaledSum &operator=(const MaxSum &value) {
        base = value.max;
        sum = value.sum;
        return *this;
    }
};

struct OneTerm {
    __host__ __device__ __forceinline__ MaxSum operator()(float x) const { return MaxSum{x, 1.0f}; }
};

// Only for finite numbers and the identity, not for infinities.
struct CombineTerms {
    __host__ __device__ __forceinline__ MaxSum operator()(const MaxSum &a, const MaxSum &b) const {
        const bool b_is_higher = b.max > a.max;
        const MaxSum high = b_is_higher ? b : a;
        const MaxSum low = b_is_higher ? a : b;
        return MaxSum{high.max, high.sum + low.sum * expf(low.max - high.max)};
    }
};

#define PARAMETERS                                                                                  \
    void *temp, size_t *temp_bytes, const void *a, const void *b, const void *c, long long n,      \
        float parameter, void *result, cudaStream_t stream

// Invokes `CALL` with the number of elements, in the type in which CUB counts.
#define COUNTED(CALL)                    \
    if (n <= INT_MAX) {                  \
        return CALL(static_cast<int>(n)); \
    }                                    \
    return CALL(n)

template <typename T>
static cudaError_t sum_complex(PARAMETERS) {
    (void)b, (void)c, (void)parameter;
    const auto call = [&](auto count) {
        return cub::DeviceReduce::Reduce(temp, *temp_bytes, static_cast<const T *>(a),
                                         static_cast<T *>(result), count, SumComplex<T>{}, T{-0.0f, -0.0f},
                                         stream);
    };
    COUNTED(call);
}

template <typename T>
static cudaError_t best(PARAMETERS) {
    (void)b, (void)c, (void)parameter;
    const auto call = [&](auto count) {
        return cub::DeviceReduce::TransformReduce(temp, *temp_bytes, static_cast<const T *>(a),
                                                  static_cast<T *>(result), count, BestOf<T>{},
                                                  WithoutNan<T>{}, T{-INFINITY, UINT_MAX}, stream);
    };
    COUNTED(call);
}

static cudaError_t squares_about(PARAMETERS) {
    (void)b, (void)c;
    const auto call = [&](auto count) {
        return cub::DeviceReduce::TransformReduce(temp, *temp_bytes, static_cast<const float *>(a),
                                                  static_cast<float *>(result), count, SumFloat{},
                                                  SquareAbout{parameter}, 0.0f, stream);
    };
    COUNTED(call);
}

static cudaError_t bounding_box(PARAMETERS) {
    (void)b, (void)c, (void)parameter;
    const Box3 empty{Point{INFINITY, INFINITY, INFINITY}, Point{-INFINITY, -INFINITY, -INFINITY}};
    const auto call = [&](auto count) {
        return cub::DeviceReduce::TransformReduce(temp, *temp_bytes, static_cast<const Point *>(a),
                                                  static_cast<Box3 *>(result), count, JoinBoxes{}, BoxOf{},
                                                  empty, stream);
    };
    COUNTED(call);
}

static cudaError_t dot3(PARAMETERS) {
    (void)parameter;
    const Product3 product{static_cast<const float *>(a), static_cast<const float *>(b),
                           static_cast<const float *>(c)};
    const auto call = [&](auto count) {
        using Index = decltype(count);
        return cub::DeviceReduce::TransformReduce(temp, *temp_bytes, thrust::counting_iterator<Index>(0),
                                                  static_cast<double *>(result), count, SumDouble{}, product,
                                                  0.0, stream);
    };
    COUNTED(call);
}

static cudaError_t log_sum_exp(PARAMETERS) {
    (void)b, (void)c, (void)parameter;
    const auto call = [&](auto count) {
        return cub::DeviceReduce::TransformReduce(temp, *temp_bytes, static_cast<const float *>(a),
                                                  static_cast<ScaledSum *>(result), count, CombineTerms{},
                                                  OneTerm{}, MaxSum{-INFINITY, 0.0f}, stream);
    };
    COUNTED(call);
}

#define PEER(NAME, CALL) \
    extern "C" int NAME(PARAMETERS) { return CALL(temp, temp_bytes, a, b, c, n, parameter, result, stream); }

PEER(cub_sum_complex, sum_complex<Complex>)
PEER(cub_sum_complex_aligned, sum_complex<AlignedComplex>)
PEER(cub_squares_about_f32, squares_about)
PEER(cub_bounding_box_point, bounding_box)
PEER(cub_best_scored, best<Scored>)
PEER(cub_best_scored_aligned, best<AlignedScored>)
PEER(cub_dot3_f32_f32_f32, dot3)
PEER(cub_log_sum_exp_f32, log_sum_exp)

extern "C" int cub_version() { return CUB_VERSION; }

extern "C" const char *error_string(int status) {
    return cudaGetErrorString(static_cast<cudaError_t>(status));
}
