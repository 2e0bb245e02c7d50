// CUB's reductions of whole arrays of one element type, and an empty kernel. Compiled once for each type,
// with -DELEMENT=<code>, and with -DLONG=1 if an array has more than INT_MAX elements.
//
// CUB accumulates in the same type as warpfold, and writes that type:
//
// | operator         | elements                   | accumulator                           | CUB's call      |
// |------------------|----------------------------|---------------------------------------|-----------------|
// | sum              | i8 i16, u8 u16, f16 bf16   | int, unsigned, float                  | Reduce          |
// | sum              | the others                 | the element                           | Sum             |
// | min, max         | all                        | the element, in which both are exact  | Min, Max        |
// | arg_min, arg_max | all                        | the element and its index             | ArgMin, ArgMax  |
// | dot              | all                        | long long, unsigned long long, double | TransformReduce |
// | mean_variance    | all                        | two doubles: see Deviations           | TransformReduce |
//
// The policy is CUB's default, which was tuned on other cards, or a policy tuned for this one (sum, min, max).

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <cuda/functional>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>

#include <climits>
#include <type_traits>

#ifndef LONG
#define LONG 0
#endif

// The types of a code: the element, the accumulator of its sum, and that of its products.
template <int Code>
struct Types;

#define TYPES(CODE, ELEMENT_TYPE, SUM_TYPE, PRODUCT_TYPE) \
    template <>                                           \
    struct Types<CODE> {                                  \
        using Element = ELEMENT_TYPE;                     \
        using Sum = SUM_TYPE;                             \
        using Product = PRODUCT_TYPE;                     \
    };

TYPES(0, signed char, int, long long)
TYPES(1, short, int, long long)
TYPES(2, int, int, long long)
TYPES(3, long long, long long, long long)
TYPES(4, unsigned char, unsigned, unsigned long long)
TYPES(5, unsigned short, unsigned, unsigned long long)
TYPES(6, unsigned, unsigned, unsigned long long)
TYPES(7, unsigned long long, unsigned long long, unsigned long long)
TYPES(8, __half, float, double)
TYPES(9, __nv_bfloat16, float, double)
TYPES(10, float, float, double)
TYPES(11, double, double, double)

using Element = Types<ELEMENT>::Element;
using Sum = Types<ELEMENT>::Sum;
using Product = Types<ELEMENT>::Product;

// Exact; 16-bit floats are converted through float.
template <typename To>
__host__ __device__ __forceinline__ To widened(Element x) {
    if constexpr (std::is_arithmetic<Element>::value) {
        return static_cast<To>(x);
    } else {
        return static_cast<To>(static_cast<float>(x));
    }
}

// The parameters of all calls.
struct Call {
    void *temp;
    size_t *temp_bytes;
    const Element *a;
    const Element *b;
    long long n;
    double shift;
    void *result;
    cudaStream_t stream;

    template <typename T>
    T *result_as(size_t offset = 0) const {
        return reinterpret_cast<T *>(static_cast<char *>(result) + offset);
    }
};

// Invokes `reduce` with the number of elements, in the type in which CUB counts.
template <typename F>
static cudaError_t counted(const Call &call, F reduce) {
    if constexpr (LONG != 0) {
        if (call.n > INT_MAX) {
            return reduce(call.n);
        }
    }
    return reduce(static_cast<int>(call.n));
}

static cudaError_t sum(const Call &call) {
    return counted(call, [&](auto n) {
        if constexpr (std::is_same<Sum, Element>::value) {
            return cub::DeviceReduce::Sum(call.temp, *call.temp_bytes, call.a, call.result_as<Sum>(), n,
                                          call.stream);
        } else {
            return cub::DeviceReduce::Reduce(call.temp, *call.temp_bytes, call.a, call.result_as<Sum>(), n,
                                             ::cuda::std::plus<Sum>{}, Sum{}, call.stream);
        }
    });
}

static cudaError_t minimum(const Call &call) {
    return counted(call, [&](auto n) {
        return cub::DeviceReduce::Min(call.temp, *call.temp_bytes, call.a, call.result_as<Element>(), n,
                                      call.stream);
    });
}

static cudaError_t maximum(const Call &call) {
    return counted(call, [&](auto n) {
        return cub::DeviceReduce::Max(call.temp, *call.temp_bytes, call.a, call.result_as<Element>(), n,
                                      call.stream);
    });
}

// The value at the result's address, and its index 8 bytes after it. CUB counts in 64 bits by itself.
static cudaError_t arg_min(const Call &call) {
    return cub::DeviceReduce::ArgMin(call.temp, *call.temp_bytes, call.a, call.result_as<Element>(),
                                     call.result_as<long long>(8), call.n, call.stream);
}

static cudaError_t arg_max(const Call &call) {
    return cub::DeviceReduce::ArgMax(call.temp, *call.temp_bytes, call.a, call.result_as<Element>(),
                                     call.result_as<long long>(8), call.n, call.stream);
}

struct ProductAt {
    const Element *__restrict__ a;
    const Element *__restrict__ b;
    template <typename Index>
    __host__ __device__ __forceinline__ Product operator()(Index i) const {
        return widened<Product>(a[i]) * widened<Product>(b[i]);
    }
};

static cudaError_t dot(const Call &call) {
    return counted(call, [&](auto n) {
        return cub::DeviceReduce::TransformReduce(call.temp, *call.temp_bytes,
                                                  thrust::counting_iterator<decltype(n)>(0),
                                                  call.result_as<Product>(), n, ::cuda::std::plus<Product>{},
                                                  ProductAt{call.a, call.b}, Product{}, call.stream);
    });
}

// The sums of the deviations from a value near the mean, which the host chooses, and of their squares. Mean
// and variance follow from them without cancellation, and without a division for each element.
struct Deviations {
    double sum, squares;
};

struct Deviation {
    double from;
    __host__ __device__ __forceinline__ Deviations operator()(Element x) const {
        const double d = widened<double>(x) - from;
        return Deviations{d, d * d};
    }
};

struct AddDeviations {
    __host__ __device__ __forceinline__ Deviations operator()(const Deviations &a,
                                                              const Deviations &b) const {
        return Deviations{a.sum + b.sum, a.squares + b.squares};
    }
};

static cudaError_t mean_variance(const Call &call) {
    return counted(call, [&](auto n) {
        return cub::DeviceReduce::TransformReduce(call.temp, *call.temp_bytes, call.a,
                                                  call.result_as<Deviations>(), n, AddDeviations{},
                                                  Deviation{call.shift}, Deviations{0.0, 0.0}, call.stream);
    });
}

// Blocks of 512 threads, 16 elements of 4 bytes per thread, loads of 4 elements.
template <typename T>
struct Tuned {
    struct Policy : cub::ChainedPolicy<500, Policy, Policy> {
        using ReducePolicy =
            cub::AgentReducePolicy<512, 16, T, 4, cub::BLOCK_REDUCE_WARP_REDUCTIONS, cub::LOAD_LDG>;
        using SingleTilePolicy = ReducePolicy;
        using SegmentedReducePolicy = ReducePolicy;
    };
    using MaxPolicy = Policy;
};

template <typename T, typename Op>
static cudaError_t tuned(const Call &call, Op op, T init) {
    using Offset = unsigned long long;
    using Dispatch =
        cub::DispatchReduce<const Element *, T *, Offset, Op, T, T, ::cuda::std::identity, Tuned<T>>;
    return Dispatch::Dispatch(call.temp, *call.temp_bytes, call.a, call.result_as<T>(),
                              static_cast<Offset>(call.n), op, init, call.stream);
}

// The bench's interface. Both functions return a cudaError_t; neither allocates or waits. If `temp` is null,
// a reduction writes the required size to `temp_bytes` and launches nothing. Only dot uses `b`, only
// mean_variance `shift`; `result` has room for 16 bytes.
extern "C" int cub_reduce(int op, int is_tuned, void *temp, size_t *temp_bytes, const void *a, const void *b,
                          long long n, double shift, void *result, cudaStream_t stream) {
    const auto *first = static_cast<const Element *>(a);
    const auto *second = static_cast<const Element *>(b);
    const Call call{temp, temp_bytes, first, second, n, shift, result, stream};
    using Limits = ::cuda::std::numeric_limits<Element>;
    switch (op * 2 + is_tuned) {
        case 0: return sum(call);
        case 1: return tuned<Sum>(call, ::cuda::std::plus<Sum>{}, Sum{});
        case 2: return minimum(call);
        case 3: return tuned<Element>(call, ::cuda::minimum<Element>{}, Limits::max());
        case 4: return maximum(call);
        case 5: return tuned<Element>(call, ::cuda::maximum<Element>{}, Limits::lowest());
        case 6: return arg_min(call);
        case 8: return arg_max(call);
        case 10: return dot(call);
        case 12: return mean_variance(call);
        default: return cudaErrorInvalidValue;
    }
}

__global__ void empty_kernel() {}

extern "C" int launch_empty_kernel(cudaStream_t stream) {
    empty_kernel<<<1, 32, 0, stream>>>();
    return cudaGetLastError();
}

extern "C" int cub_version() { return CUB_VERSION; }

extern "C" const char *error_string(int status) {
    return cudaGetErrorString(static_cast<cudaError_t>(status));
}
