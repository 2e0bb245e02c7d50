// Reductions by shuffles and atomics in CUDA C++, compiled by nvcc: the twins of kernels-gpu's
// `kepler`, for `warpfold-bench bench --suite kepler --peers all`. Compared against, never shipped.
//
// The published forms ("Faster Parallel Reductions on Kepler"): grid-stride loops that nvcc unrolls as
// it likes, int indexes, 512 threads, at most 1024 blocks. The vector forms load int2 and int4, as the
// post only mentions; what is left behind the last vector is summed by the first threads. The input
// starts at a multiple of 16 bytes, which warpfold's kernels do not ask for.
// Int indexes hold up to n == 2^30.

#include <cuda_runtime.h>

__device__ __forceinline__ int warp_sum(int value) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffff, value, offset);
    }
    return value;
}

// Thread 0 holds the result.
__device__ __forceinline__ int block_sum(int value) {
    __shared__ int partials[32];
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;

    value = warp_sum(value);
    if (lane == 0) {
        partials[warp] = value;
    }
    __syncthreads();

    value = threadIdx.x < blockDim.x / 32 ? partials[lane] : 0;
    if (warp == 0) {
        value = warp_sum(value);
    }
    return value;
}

__device__ __forceinline__ int sum_of(int value) { return value; }
__device__ __forceinline__ int sum_of(int2 value) { return value.x + value.y; }
__device__ __forceinline__ int sum_of(int4 value) { return (value.x + value.y) + (value.z + value.w); }

// A thread's share, a Vector at a time.
template <typename Vector>
__device__ __forceinline__ int share(const int *input, int n) {
    constexpr int N = sizeof(Vector) / sizeof(int);
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const Vector *vectors = reinterpret_cast<const Vector *>(input);

    int sum = 0;
    for (int i = thread; i < n / N; i += blockDim.x * gridDim.x) {
        sum += sum_of(vectors[i]);
    }
    if (N > 1 && thread < n % N) {
        sum += input[n / N * N + thread];
    }
    return sum;
}

template <typename Vector>
__global__ void stable(const int *input, int n, int *output) {
    int sum = block_sum(share<Vector>(input, n));
    if (threadIdx.x == 0) {
        output[blockIdx.x] = sum;
    }
}

template <typename Vector>
__global__ void warp_atomic(const int *input, int n, int *output) {
    int sum = warp_sum(share<Vector>(input, n));
    if (threadIdx.x % 32 == 0) {
        atomicAdd(output, sum);
    }
}

template <typename Vector>
__global__ void block_atomic(const int *input, int n, int *output) {
    int sum = block_sum(share<Vector>(input, n));
    if (threadIdx.x == 0) {
        atomicAdd(output, sum);
    }
}

// ---------------------------------------------------------------------------------------------

using Kernel = void (*)(const int *, int, int *);

static int blocks_for(int n, int threads, int vector) {
    long long tile = static_cast<long long>(threads) * vector;
    long long blocks = (n + tile - 1) / tile;
    return static_cast<int>(blocks < 1024 ? blocks : 1024);
}

static cudaError_t two_passes(Kernel kernel, int vector, const int *input, int n, int threads, int *partials,
                              int *result, cudaStream_t stream) {
    int blocks = blocks_for(n, threads, vector);
    kernel<<<blocks, threads, 0, stream>>>(input, n, blocks == 1 ? result : partials);
    if (blocks > 1) {
        stable<int><<<1, 1024, 0, stream>>>(partials, blocks, result);
    }
    return cudaGetLastError();
}

static cudaError_t one_cell(Kernel kernel, int vector, const int *input, int n, int threads, int *result,
                            cudaStream_t stream) {
    cudaError_t status = cudaMemsetAsync(result, 0, sizeof(int), stream);
    if (status != cudaSuccess) return status;
    kernel<<<blocks_for(n, threads, vector), threads, 0, stream>>>(input, n, result);
    return cudaGetLastError();
}

// What the bench calls, as those of ladder.cu. All return a cudaError_t; none allocates, none waits.

#define STABLE_TWIN(NAME, VECTOR)                                                                            \
    extern "C" int twin_##NAME(const int *input, int n, int threads, int, int *partials, int *, int *result, \
                               cudaStream_t stream) {                                                        \
        return two_passes(stable<VECTOR>, sizeof(VECTOR) / sizeof(int), input, n, threads, partials, result, \
                          stream);                                                                           \
    }

#define CELL_TWIN(NAME, KERNEL, VECTOR)                                                                      \
    extern "C" int twin_##NAME(const int *input, int n, int threads, int, int *, int *, int *result,         \
                               cudaStream_t stream) {                                                        \
        return one_cell(KERNEL<VECTOR>, sizeof(VECTOR) / sizeof(int), input, n, threads, result, stream);    \
    }

STABLE_TWIN(stable, int)
STABLE_TWIN(stable_vec2, int2)
STABLE_TWIN(stable_vec4, int4)
CELL_TWIN(warp_atomic, warp_atomic, int)
CELL_TWIN(warp_atomic_vec2, warp_atomic, int2)
CELL_TWIN(warp_atomic_vec4, warp_atomic, int4)
CELL_TWIN(block_atomic, block_atomic, int)
CELL_TWIN(block_atomic_vec2, block_atomic, int2)
CELL_TWIN(block_atomic_vec4, block_atomic, int4)
