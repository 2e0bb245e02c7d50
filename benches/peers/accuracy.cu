// CUB's sums of f32 and f64, whose accuracy `warpfold-bench accuracy` compares, and whose time `warpfold-bench exact
// --peers`: by default the order of the additions depends on the GPU; in the mode gpu_to_gpu, which CUB has since 3.1,
// the result does not.

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>

#define HAS_GPU_TO_GPU (CUB_VERSION >= 300100)

#if HAS_GPU_TO_GPU
#include <cuda/__execution/determinism.h>
#include <cuda/__execution/require.h>
#include <cuda/std/__execution/env.h>
#include <cuda/stream_ref>
#endif

// The modes of `cub_sum`.
enum Mode { DEFAULT = 0, GPU_TO_GPU = 1 };

template <typename T>
static cudaError_t sum(int mode, const T *items, int n, T *result, cudaStream_t stream) {
    if (mode == GPU_TO_GPU) {
#if HAS_GPU_TO_GPU
        const auto mode = cuda::execution::require(cuda::execution::determinism::gpu_to_gpu);
        const auto where = cuda::std::execution::prop{cuda::get_stream, cuda::stream_ref{stream}};
        return cub::DeviceReduce::Sum(items, result, n, cuda::std::execution::env{where, mode});
#else
        return cudaErrorNotSupported;
#endif
    }
    size_t bytes = 0;
    cudaError_t status = cub::DeviceReduce::Sum(nullptr, bytes, items, result, n, stream);
    if (status != cudaSuccess) return status;
    void *temp = nullptr;
    status = cudaMallocAsync(&temp, bytes, stream);
    if (status != cudaSuccess) return status;
    status = cub::DeviceReduce::Sum(temp, bytes, items, result, n, stream);
    const cudaError_t freed = cudaFreeAsync(temp, stream);
    return status != cudaSuccess ? status : freed;
}

// Lets CUDA keep the temporary storage of a sum for the next one, which otherwise would wait for new memory.
extern "C" int cub_keep_memory() {
    int device = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status != cudaSuccess) return status;
    cudaMemPool_t pool = nullptr;
    status = cudaDeviceGetDefaultMemPool(&pool, device);
    if (status != cudaSuccess) return status;
    unsigned long long all = ~0ull;
    return cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
}

extern "C" int cub_has_gpu_to_gpu() { return HAS_GPU_TO_GPU; }

// Enqueues the sum of `n` items in device memory, and returns a cudaError_t. `result` has room for one item.
extern "C" int cub_sum(int is_f64, int mode, const void *items, int n, void *result,
                       cudaStream_t stream) {
    if (is_f64) {
        return sum(mode, static_cast<const double *>(items), n, static_cast<double *>(result), stream);
    }
    return sum(mode, static_cast<const float *>(items), n, static_cast<float *>(result), stream);
}

extern "C" int cub_version() { return CUB_VERSION; }

extern "C" const char *error_string(int status) {
    return cudaGetErrorString(static_cast<cudaError_t>(status));
}
