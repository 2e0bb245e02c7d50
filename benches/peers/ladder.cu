// The ladder in CUDA C++, compiled by nvcc: the twin of every rung in kernels-gpu, and CUB's sum,
// for `warpfold-bench ladder --peers`. Compared against, never shipped.
//
// Each kernel is the published rung as its author wrote it: int indexes, dynamic shared memory,
// one atomicAdd per thread where the rung says so. Mended, because a twin must be right for every n:
//   - the launch asks for threads * sizeof(int) bytes of shared memory (published: blocks * sizeof(int));
//   - reduce_3 and reduce_4 store 0 for a thread whose first element is past n (published: nothing);
//   - the warp-reduce form of reduce_4 uses __syncwarp (published: __syncthreads under `tid < 32`);
//   - scratch is allocated beforehand, and the last pass writes the result itself (published: a
//     cudaMalloc, a copy and a cudaFree per pass).
// reduce_5_chunks is the post's loop with its exit at the first chunk past the end, unrolled; warpfold's
// reduce_5_x* asks once for all chunks. From 4 chunks on the ratio of the two compares two algorithms.
// Int indexes hold up to n == 2^30: reduce_5 steps its index past n by up to one grid.

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <cuda_runtime.h>

#include <climits>

__global__ void reduce_naive(const int *input, int n, int *output) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < n) {
        atomicAdd(output, input[idx]);
    }
}

__global__ void reduce_shared_memory(const int *input, int n, int *output) {
    __shared__ int sdata[1];
    if (threadIdx.x == 0) {
        sdata[0] = 0;
    }
    __syncthreads();

    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < n) {
        atomicAdd(&sdata[0], input[idx]);
    }
    __syncthreads();

    if (threadIdx.x == 0) {
        atomicAdd(output, sdata[0]);
    }
}

__global__ void reduce_0(const int *input, int n, int *output) {
    extern __shared__ int sdata[];
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int tid = threadIdx.x;

    sdata[tid] = idx < n ? input[idx] : 0;
    __syncthreads();

    for (unsigned int s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }

    if (tid == 0) {
        output[blockIdx.x] = sdata[0];
    }
}

__global__ void reduce_1(const int *input, int n, int *output) {
    extern __shared__ int sdata[];
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int tid = threadIdx.x;

    sdata[tid] = idx < n ? input[idx] : 0;
    __syncthreads();

    for (unsigned int s = 1; s < blockDim.x; s *= 2) {
        int index = 2 * s * tid;
        if (index < blockDim.x) {
            sdata[index] += sdata[index + s];
        }
        __syncthreads();
    }

    if (tid == 0) {
        output[blockIdx.x] = sdata[0];
    }
}

__global__ void reduce_2(const int *input, int n, int *output) {
    extern __shared__ int sdata[];
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int tid = threadIdx.x;

    sdata[tid] = idx < n ? input[idx] : 0;
    __syncthreads();

    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }

    if (tid == 0) {
        output[blockIdx.x] = sdata[0];
    }
}

// What reduce_3 and reduce_4 load: one element from each half of the input.
__device__ __forceinline__ void load_two(const int *input, int n, int *sdata) {
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int tid = threadIdx.x;

    sdata[tid] = idx < n ? input[idx] : 0;
    if (idx + blockDim.x * gridDim.x < n) {
        sdata[tid] += input[idx + blockDim.x * gridDim.x];
    }
    __syncthreads();
}

// The tree of reduce_4 and reduce_5: shared memory until one warp is left.
__device__ __forceinline__ void tree_to_one_warp(int *sdata) {
    int tid = threadIdx.x;
    for (unsigned int s = blockDim.x / 2; s >= 32; s >>= 1) {
        if (tid < s) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }
}

__device__ __forceinline__ void store_warp_sum(const int *sdata, int *output) {
    int tid = threadIdx.x;
    if (tid < 32) {
        int sum = sdata[tid];
#pragma unroll
        for (int offset = 16; offset > 0; offset /= 2) {
            sum += __shfl_down_sync(0xffffffff, sum, offset);
        }
        if (tid == 0) {
            output[blockIdx.x] = sum;
        }
    }
}

__global__ void reduce_3(const int *input, int n, int *output) {
    extern __shared__ int sdata[];
    int tid = threadIdx.x;
    load_two(input, n, sdata);

    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) {
            sdata[tid] += sdata[tid + s];
        }
        __syncthreads();
    }

    if (tid == 0) {
        output[blockIdx.x] = sdata[0];
    }
}

__global__ void reduce_4(const int *input, int n, int *output) {
    extern __shared__ int sdata[];
    load_two(input, n, sdata);
    tree_to_one_warp(sdata);
    store_warp_sum(sdata, output);
}

__global__ void reduce_4_redux(const int *input, int n, int *output) {
    extern __shared__ int sdata[];
    int tid = threadIdx.x;
    load_two(input, n, sdata);
    tree_to_one_warp(sdata);

    if (tid < 32) {
        sdata[tid] = __reduce_add_sync(0xffffffff, sdata[tid]);
        __syncwarp();
        if (tid == 0) {
            output[blockIdx.x] = sdata[0];
        }
    }
}

__global__ void reduce_5(const int *input, int n, int *output) {
    extern __shared__ int sdata[];
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int tid = threadIdx.x;

    sdata[tid] = 0;
    while (idx < n) {
        sdata[tid] += input[idx];
        idx += blockDim.x * gridDim.x;
    }
    __syncthreads();
    tree_to_one_warp(sdata);
    store_warp_sum(sdata, output);
}

template <int Chunks>
__global__ void reduce_5_chunks(const int *input, int n, int *output) {
    extern __shared__ int sdata[];
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    int tid = threadIdx.x;

    sdata[tid] = 0;
#pragma unroll
    for (int i = 0; i < Chunks && idx < n; i++) {
        sdata[tid] += input[idx];
        idx += blockDim.x * gridDim.x;
    }
    __syncthreads();
    tree_to_one_warp(sdata);
    store_warp_sum(sdata, output);
}

// ---------------------------------------------------------------------------------------------

using Kernel = void (*)(const int *, int, int *);

static int blocks_for(int n, int threads, int items_per_thread) {
    long long tile = static_cast<long long>(threads) * items_per_thread;
    return static_cast<int>((n + tile - 1) / tile);
}

// One pass: every thread adds to the one result, which holds 0 before.
static cudaError_t reduce_atomic(Kernel kernel, const int *input, int n, int threads, int *result, cudaStream_t stream) {
    cudaError_t status = cudaMemsetAsync(result, 0, sizeof(int), stream);
    if (status != cudaSuccess) return status;
    kernel<<<blocks_for(n, threads, 1), threads, 0, stream>>>(input, n, result);
    return cudaGetLastError();
}

// The recursive reduction: partials are reduced by the same kernel until one is left. `partials`
// holds those of the first pass, `more` those of the second, and so on in turn.
static cudaError_t reduce_partials(Kernel kernel, const int *input, int n, int threads, int items_per_thread,
                                   int *partials, int *more, int *result, cudaStream_t stream) {
    int blocks = blocks_for(n, threads, items_per_thread);
    int *output = blocks == 1 ? result : partials;
    kernel<<<blocks, threads, threads * sizeof(int), stream>>>(input, n, output);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess || blocks == 1) return status;
    return reduce_partials(kernel, output, blocks, threads, items_per_thread, more, partials, result, stream);
}

// What the bench calls. All return a cudaError_t; none allocates, none waits.

#define ATOMIC_TWIN(NAME)                                                                                    \
    extern "C" int twin_##NAME(const int *input, int n, int threads, int, int *, int *, int *result,         \
                               cudaStream_t stream) {                                                        \
        return reduce_atomic(NAME, input, n, threads, result, stream);                                       \
    }

#define PARTIALS_TWIN(NAME, KERNEL, ITEMS_PER_THREAD)                                                        \
    extern "C" int twin_##NAME(const int *input, int n, int threads, int chunks, int *partials, int *more,   \
                               int *result, cudaStream_t stream) {                                           \
        (void)chunks;                                                                                        \
        return reduce_partials(KERNEL, input, n, threads, ITEMS_PER_THREAD, partials, more, result, stream); \
    }

ATOMIC_TWIN(reduce_naive)
ATOMIC_TWIN(reduce_shared_memory)
PARTIALS_TWIN(reduce_0, reduce_0, 1)
PARTIALS_TWIN(reduce_0_modulo, reduce_0, 1)
PARTIALS_TWIN(reduce_1, reduce_1, 1)
PARTIALS_TWIN(reduce_2, reduce_2, 1)
PARTIALS_TWIN(reduce_3, reduce_3, 2)
PARTIALS_TWIN(reduce_4, reduce_4, 2)
PARTIALS_TWIN(reduce_4_redux, reduce_4_redux, 2)
PARTIALS_TWIN(reduce_5, reduce_5, chunks)
PARTIALS_TWIN(reduce_5_x1, reduce_5_chunks<1>, 1)
PARTIALS_TWIN(reduce_5_x2, reduce_5_chunks<2>, 2)
PARTIALS_TWIN(reduce_5_x4, reduce_5_chunks<4>, 4)
PARTIALS_TWIN(reduce_5_x8, reduce_5_chunks<8>, 8)
PARTIALS_TWIN(reduce_5_x16, reduce_5_chunks<16>, 16)

// cub::DeviceReduce::Sum with the policy CUB chooses by itself, and 32-bit offsets where n allows.
// With `temp` null it writes the bytes it needs to `temp_bytes` and launches nothing.
extern "C" int cub_sum(void *temp, size_t *temp_bytes, const int *input, long long n, int *result, cudaStream_t stream) {
    if (n <= INT_MAX) {
        return cub::DeviceReduce::Sum(temp, *temp_bytes, input, result, static_cast<int>(n), stream);
    }
    return cub::DeviceReduce::Sum(temp, *temp_bytes, input, result, n, stream);
}

extern "C" int cub_version() { return CUB_VERSION; }

extern "C" const char *error_string(int status) { return cudaGetErrorString(static_cast<cudaError_t>(status)); }
