// CUB's reductions of segments, whose time `warpfold-bench segments --peers` compares: by offsets of unsigned int and,
// since CUB 3.1, of segments of one length.

#include <cub/device/device_segmented_reduce.cuh>
#include <cub/version.cuh>
#include <cuda_runtime.h>

#define HAS_ROWS (CUB_VERSION >= 300100)

#if HAS_ROWS
#include <cuda/std/utility>
#endif

// The operators of `cub_segments`.
enum Op { SUM_F32 = 0, SUM_F64 = 1, ARG_MAX_F32 = 2 };

template <typename T>
static cudaError_t sum(void *temp, size_t *temp_bytes, const T *items, const unsigned *offsets, int len,
                       long long count, T *results, cudaStream_t stream) {
    using Reduce = cub::DeviceSegmentedReduce;
    if (offsets != nullptr) {
        return Reduce::Sum(temp, *temp_bytes, items, results, count, offsets, offsets + 1, stream);
    }
#if HAS_ROWS
    return Reduce::Sum(temp, *temp_bytes, items, results, count, len, stream);
#else
    return cudaErrorNotSupported;
#endif
}

// A result is an index in its segment, of 32 bits, and a value.
static cudaError_t arg_max(void *temp, size_t *temp_bytes, const float *items, const unsigned *offsets, int len,
                           long long count, void *results, cudaStream_t stream) {
    using Reduce = cub::DeviceSegmentedReduce;
    if (offsets != nullptr) {
        auto *pairs = static_cast<cub::KeyValuePair<int, float> *>(results);
        return Reduce::ArgMax(temp, *temp_bytes, items, pairs, count, offsets, offsets + 1, stream);
    }
#if HAS_ROWS
    auto *pairs = static_cast<cuda::std::pair<int, float> *>(results);
    return Reduce::ArgMax(temp, *temp_bytes, items, pairs, count, len, stream);
#else
    return cudaErrorNotSupported;
#endif
}

extern "C" int cub_has_rows() { return HAS_ROWS; }

// Enqueues the reductions of `count` segments: by `count + 1` offsets, or of `len` items each if there are none. Returns
// a cudaError_t. If `temp` is null, writes the required size to `temp_bytes` and launches nothing.
extern "C" int cub_segments(int op, void *temp, size_t *temp_bytes, const void *items, const unsigned *offsets, int len,
                            long long count, void *results, cudaStream_t stream) {
    const auto *floats = static_cast<const float *>(items);
    switch (op) {
        case SUM_F32:
            return sum(temp, temp_bytes, floats, offsets, len, count, static_cast<float *>(results), stream);
        case SUM_F64:
            return sum(temp, temp_bytes, static_cast<const double *>(items), offsets, len, count,
                       static_cast<double *>(results), stream);
        case ARG_MAX_F32: return arg_max(temp, temp_bytes, floats, offsets, len, count, results, stream);
        default: return cudaErrorInvalidValue;
    }
}

extern "C" int cub_version() { return CUB_VERSION; }

extern "C" const char *error_string(int status) {
    return cudaGetErrorString(static_cast<cudaError_t>(status));
}
