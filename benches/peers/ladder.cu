// The ladder's reference kernels: each rung of kernels-gpu's ladder in CUDA C++, compiled by nvcc, and CUB's sum,
// for `warpfold-bench ladder --peers`. Compared with, never shipped.
//
// A rung is three choices: what a thread loads, how a block combines what its threads hold, and who writes the
// result. They are written once each, as templates over the element and the operator; a kernel puts three of them
// together. All rungs make the same accesses, barriers and launches as the published ladder ("CUDA 006 -
// Reduction"), with these corrections, without which they are wrong for some n:
//   - a launch asks for shared memory for each thread's element, not for each block's;
//   - a thread of reduce_3 or reduce_4 whose element is past n holds the identity;
//   - a warp alone is synchronised by __syncwarp, since a barrier in a branch must be reached by the whole block;
//   - temporary storage is allocated beforehand, and the last pass writes the result itself.
// reduce_5_x* tests before each chunk, as published, and is unrolled; warpfold's tests once for all chunks. From 4
// chunks on the ratio of the two compares two algorithms.
// Indices are `int`, right up to n == 2^30: reduce_5 steps past n by up to one grid.

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <cuda_runtime.h>

#include <climits>

constexpr unsigned WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

// An operator: its identity, two values combined, an atomic, and a warp's instruction where there is one.
template <typename T>
struct Plus {
    static __device__ __forceinline__ T identity() { return T{}; }
    static __device__ __forceinline__ void into(T &a, T b) { a += b; }
    static __device__ __forceinline__ void atomically_into(T *a, T b) { atomicAdd(a, b); }
    static __device__ __forceinline__ T of_warp(T value) { return __reduce_add_sync(ALL_LANES, value); }
};

__device__ __forceinline__ int global_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ unsigned grid_threads() { return blockDim.x * gridDim.x; }

// ---- What a thread loads -------------------------------------------------------------------------------------
//
// Each puts the thread's value into its cell of shared memory. No barrier: the combination begins with one.

// One element.
struct One {
    template <typename T, typename Op>
    static __device__ __forceinline__ void load(const T *in, int n, T *cells) {
        const int at = global_thread();
        cells[threadIdx.x] = at < n ? in[at] : Op::identity();
    }
};

// Two elements, a grid apart.
struct Two {
    template <typename T, typename Op>
    static __device__ __forceinline__ void load(const T *in, int n, T *cells) {
        One::load<T, Op>(in, n, cells);
        const unsigned at = global_thread() + grid_threads();
        if (at < n) Op::into(cells[threadIdx.x], in[at]);
    }
};

// Every element that a grid-stride loop gives it.
struct Stride {
    template <typename T, typename Op>
    static __device__ __forceinline__ void load(const T *in, int n, T *cells) {
        cells[threadIdx.x] = Op::identity();
        for (int at = global_thread(); at < n; at += grid_threads()) Op::into(cells[threadIdx.x], in[at]);
    }
};

// At most so many of them, unrolled.
template <int Count>
struct Chunks {
    template <typename T, typename Op>
    static __device__ __forceinline__ void load(const T *in, int n, T *cells) {
        cells[threadIdx.x] = Op::identity();
        int at = global_thread();
#pragma unroll
        for (int chunk = 0; chunk < Count && at < n; ++chunk, at += grid_threads()) {
            Op::into(cells[threadIdx.x], in[at]);
        }
    }
};

// ---- How a block combines ------------------------------------------------------------------------------------
//
// Each has thread 0 store the block's value.

// In shared memory, with partners at distances 1, 2, 4 ...: every thread tests by a division whether it combines.
struct ByRemainder {
    template <typename T, typename Op>
    static __device__ __forceinline__ void combine(T *cells, T *out) {
        const int me = threadIdx.x;
        __syncthreads();
        for (unsigned apart = 1; apart < blockDim.x; apart *= 2) {
            if (me % (2 * apart) == 0) Op::into(cells[me], cells[me + apart]);
            __syncthreads();
        }
        if (me == 0) *out = cells[0];
    }
};

// The same partners, combined by the first threads: only one warp diverges, and banks conflict.
struct ByFirstThreads {
    template <typename T, typename Op>
    static __device__ __forceinline__ void combine(T *cells, T *out) {
        const int me = threadIdx.x;
        __syncthreads();
        for (unsigned apart = 1; apart < blockDim.x; apart *= 2) {
            const int at = 2 * apart * me;
            if (at < blockDim.x) Op::into(cells[at], cells[at + apart]);
            __syncthreads();
        }
        if (me == 0) *out = cells[0];
    }
};

// Partners half of the block apart, then a quarter ..., no nearer than `Last`: neighbours access neighbours.
template <unsigned Last, typename T, typename Op>
__device__ __forceinline__ void halve(T *cells) {
    const int me = threadIdx.x;
    __syncthreads();
    for (unsigned apart = blockDim.x / 2; apart >= Last; apart /= 2) {
        if (me < apart) Op::into(cells[me], cells[me + apart]);
        __syncthreads();
    }
}

struct ByHalves {
    template <typename T, typename Op>
    static __device__ __forceinline__ void combine(T *cells, T *out) {
        halve<1, T, Op>(cells);
        if (threadIdx.x == 0) *out = cells[0];
    }
};

// Halves until a warp is left, which shuffles.
struct ByShuffles {
    template <typename T, typename Op>
    static __device__ __forceinline__ void combine(T *cells, T *out) {
        halve<WARP, T, Op>(cells);
        if (threadIdx.x >= WARP) return;
        T mine = cells[threadIdx.x];
#pragma unroll
        for (unsigned apart = WARP / 2; apart > 0; apart /= 2) {
            Op::into(mine, __shfl_down_sync(ALL_LANES, mine, apart));
        }
        if (threadIdx.x == 0) *out = mine;
    }
};

// Halves until a warp is left, which has an instruction for the rest. Its lanes write back what they get.
struct ByInstruction {
    template <typename T, typename Op>
    static __device__ __forceinline__ void combine(T *cells, T *out) {
        halve<WARP, T, Op>(cells);
        if (threadIdx.x >= WARP) return;
        cells[threadIdx.x] = Op::of_warp(cells[threadIdx.x]);
        __syncwarp();
        if (threadIdx.x == 0) *out = cells[0];
    }
};

// ---- The kernels ---------------------------------------------------------------------------------------------

// A partial for each block.
template <typename T, typename Op, typename Load, typename Combine>
__global__ void partials_of_blocks(const T *in, int n, T *partials) {
    extern __shared__ __align__(16) unsigned char shared[];
    T *cells = reinterpret_cast<T *>(shared);
    Load::template load<T, Op>(in, n, cells);
    Combine::template combine<T, Op>(cells, &partials[blockIdx.x]);
}

// An atomic on the result for each element.
template <typename T, typename Op>
__global__ void atomic_of_threads(const T *in, int n, T *result) {
    const int at = global_thread();
    if (at < n) Op::atomically_into(result, in[at]);
}

// An atomic in shared memory for each element, and one on the result for each block.
template <typename T, typename Op>
__global__ void atomic_of_blocks(const T *in, int n, T *result) {
    __shared__ T of_block;
    const bool is_first = threadIdx.x == 0;
    if (is_first) of_block = Op::identity();
    __syncthreads();
    const int at = global_thread();
    if (at < n) Op::atomically_into(&of_block, in[at]);
    __syncthreads();
    if (is_first) Op::atomically_into(result, of_block);
}

// ---- The launches --------------------------------------------------------------------------------------------

template <typename T>
using Kernel = void (*)(const T *, int, T *);

// Where a reference kernel reads and writes: device addresses. The partials of the odd passes and of the even ones.
template <typename T>
struct Arrays {
    const T *in;
    T *partials[2];
    T *result;
};

static int blocks_for(int n, int threads, int per_thread) {
    const long long per_block = static_cast<long long>(threads) * per_thread;
    return static_cast<int>((n + per_block - 1) / per_block);
}

// One pass of atomics on a result that is 0 before.
template <typename T>
static cudaError_t atomics(Kernel<T> kernel, const Arrays<T> &arrays, int n, int threads, cudaStream_t stream) {
    const cudaError_t zeroed = cudaMemsetAsync(arrays.result, 0, sizeof(T), stream);
    if (zeroed != cudaSuccess) return zeroed;
    kernel<<<blocks_for(n, threads, 1), threads, 0, stream>>>(arrays.in, n, arrays.result);
    return cudaGetLastError();
}

// Passes by the same kernel, each over the partials of the one before, until there is one block.
template <typename T>
static cudaError_t passes(Kernel<T> kernel, const Arrays<T> &arrays, int n, int threads, int per_thread,
                          cudaStream_t stream) {
    const T *in = arrays.in;
    for (int pass = 0;; ++pass) {
        const int blocks = blocks_for(n, threads, per_thread);
        T *out = blocks == 1 ? arrays.result : arrays.partials[pass % 2];
        kernel<<<blocks, threads, threads * sizeof(T), stream>>>(in, n, out);
        const cudaError_t launched = cudaGetLastError();
        if (launched != cudaSuccess || blocks == 1) return launched;
        in = out;
        n = blocks;
    }
}

// What the bench calls, for sums of int. All return a cudaError_t; none allocates, none waits.

using Element = int;
using Operator = Plus<Element>;

#define REFERENCE(NAME)                                                                              \
    extern "C" int reference_##NAME(const Element *in, int n, int threads, int chunks, Element *odd, \
                                    Element *even, Element *result, cudaStream_t stream)

#define ATOMIC(NAME, KERNEL)                                                                         \
    REFERENCE(NAME) {                                                                                \
        (void)chunks;                                                                                \
        const Arrays<Element> arrays{in, {odd, even}, result};                                       \
        return atomics<Element>(KERNEL<Element, Operator>, arrays, n, threads, stream);              \
    }

#define PARTIALS(NAME, PER_THREAD, LOAD, COMBINE)                                                    \
    REFERENCE(NAME) {                                                                                \
        (void)chunks;                                                                                \
        const Arrays<Element> arrays{in, {odd, even}, result};                                       \
        return passes<Element>(partials_of_blocks<Element, Operator, LOAD, COMBINE>, arrays, n,      \
                               threads, PER_THREAD, stream);                                         \
    }

ATOMIC(reduce_naive, atomic_of_threads)
ATOMIC(reduce_shared_memory, atomic_of_blocks)
PARTIALS(reduce_0, 1, One, ByRemainder)
PARTIALS(reduce_0_modulo, 1, One, ByRemainder)
PARTIALS(reduce_1, 1, One, ByFirstThreads)
PARTIALS(reduce_2, 1, One, ByHalves)
PARTIALS(reduce_3, 2, Two, ByHalves)
PARTIALS(reduce_4, 2, Two, ByShuffles)
PARTIALS(reduce_4_redux, 2, Two, ByInstruction)
PARTIALS(reduce_5, chunks, Stride, ByShuffles)
PARTIALS(reduce_5_x1, 1, Chunks<1>, ByShuffles)
PARTIALS(reduce_5_x2, 2, Chunks<2>, ByShuffles)
PARTIALS(reduce_5_x4, 4, Chunks<4>, ByShuffles)
PARTIALS(reduce_5_x8, 8, Chunks<8>, ByShuffles)
PARTIALS(reduce_5_x16, 16, Chunks<16>, ByShuffles)

// cub::DeviceReduce::Sum with the policy that CUB chooses by itself, and 32-bit offsets where n allows.
// With `temp` null it writes the bytes it needs to `temp_bytes` and launches nothing.
extern "C" int cub_sum(void *temp, size_t *temp_bytes, const int *input, long long n, int *result,
                       cudaStream_t stream) {
    if (n <= INT_MAX) {
        return cub::DeviceReduce::Sum(temp, *temp_bytes, input, result, static_cast<int>(n), stream);
    }
    return cub::DeviceReduce::Sum(temp, *temp_bytes, input, result, n, stream);
}

extern "C" int cub_version() { return CUB_VERSION; }

extern "C" const char *error_string(int status) { return cudaGetErrorString(static_cast<cudaError_t>(status)); }
