// The ladder's reference kernels: each rung of kernels-gpu's ladder in CUDA C++, compiled by nvcc, and CUB's
// sum, for `warpfold-bench ladder --peers`. Only for comparison, never shipped.
//
// A rung has three parts: the loads of a thread, the combination in a block, and the store of the result.
// Each part is a template over the element and the operator; a kernel combines three parts. All rungs make
// the same accesses, barriers and launches as the published ladder ("CUDA 006 - Reduction"), with these
// corrections, without which they are wrong for some n:
//   - a launch has shared memory for each thread's element, not for each block's;
//   - a thread of reduce_3 or reduce_4 whose element is past n holds the identity;
//   - a single warp uses __syncwarp, because the whole block must reach a barrier in a branch. So does
//     reduce_2_warp, from "Parallel Reduction with CUDA", which has no barrier there: since Volta that is a race;
//   - temporary storage is allocated beforehand, and the last pass writes the result itself.
// reduce_5_x* is unrolled and tests the index before each chunk, as published; warpfold's kernel tests once
// for all chunks. From 4 chunks on, their ratio compares two algorithms. Indices are `int`, correct up to n
// == 2^30: those of reduce_5 exceed n by up to one grid.

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <cuda_runtime.h>

#include <climits>

constexpr unsigned WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

// An operator: its identity, the combination of two values, an atomic, and a warp's instruction if there is
// one.
template <typename T>
struct Plus {
    static __device__ __forceinline__ T identity() { return T{}; }
    static __device__ __forceinline__ void into(T &a, T b) { a += b; }
    static __device__ __forceinline__ void atomically_into(T *a, T b) { atomicAdd(a, b); }
    static __device__ __forceinline__ T of_warp(T value) { return __reduce_add_sync(ALL_LANES, value); }
};

__device__ __forceinline__ int global_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

__device__ __forceinline__ unsigned grid_threads() { return blockDim.x * gridDim.x; }

// ---- The loads of a thread ---------------------------------------------------------------------------
//
// Each stores the thread's value in its cell of shared memory. No barrier: the combination begins with one.

// One element.
struct One {
    template <typename T, typename Op>
    static __device__ __forceinline__ void load(const T *in, int n, T *cells) {
        const int i = global_thread();
        cells[threadIdx.x] = i < n ? in[i] : Op::identity();
    }
};

// Two elements, a grid apart.
struct Two {
    template <typename T, typename Op>
    static __device__ __forceinline__ void load(const T *in, int n, T *cells) {
        One::load<T, Op>(in, n, cells);
        const unsigned i = global_thread() + grid_threads();
        if (i < n) Op::into(cells[threadIdx.x], in[i]);
    }
};

// All elements of a grid-stride loop.
struct Stride {
    template <typename T, typename Op>
    static __device__ __forceinline__ void load(const T *in, int n, T *cells) {
        cells[threadIdx.x] = Op::identity();
        for (int i = global_thread(); i < n; i += grid_threads()) Op::into(cells[threadIdx.x], in[i]);
    }
};

// At most `Count` elements of a grid-stride loop, unrolled.
template <int Count>
struct Chunks {
    template <typename T, typename Op>
    static __device__ __forceinline__ void load(const T *in, int n, T *cells) {
        cells[threadIdx.x] = Op::identity();
        int i = global_thread();
#pragma unroll
        for (int chunk = 0; chunk < Count && i < n; ++chunk, i += grid_threads()) {
            Op::into(cells[threadIdx.x], in[i]);
        }
    }
};

// ---- The combination in a block ----------------------------------------------------------------------
//
// Thread 0 stores the block's value.

// In shared memory, with partners at distances 1, 2, 4 ...; a thread finds by a division whether it combines.
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

// The same partners, combined by the first threads: only one warp diverges, but there are bank conflicts.
struct ByFirstThreads {
    template <typename T, typename Op>
    static __device__ __forceinline__ void combine(T *cells, T *out) {
        const int me = threadIdx.x;
        __syncthreads();
        for (unsigned apart = 1; apart < blockDim.x; apart *= 2) {
            const int i = 2 * apart * me;
            if (i < blockDim.x) Op::into(cells[i], cells[i + apart]);
            __syncthreads();
        }
        if (me == 0) *out = cells[0];
    }
};

// Partners at a distance of half the block, then a quarter ..., down to `Last`: neighbours access neighbours.
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

// Halves until 64 values are left, which the first warp combines in shared memory, unrolled.
struct ByLastWarp {
    template <typename T, typename Op>
    static __device__ __forceinline__ void combine(T *cells, T *out) {
        halve<2 * WARP, T, Op>(cells);
        const int me = threadIdx.x;
        if (me >= WARP) return;
        // A block of one warp has 32 values.
        if (blockDim.x > WARP) step<T, Op, 32>(cells, me);
        step<T, Op, 16>(cells, me);
        step<T, Op, 8>(cells, me);
        step<T, Op, 4>(cells, me);
        step<T, Op, 2>(cells, me);
        step<T, Op, 1>(cells, me);
        if (me == 0) *out = cells[0];
    }

    template <typename T, typename Op, int Apart>
    static __device__ __forceinline__ void step(T *cells, int me) {
        if (me < Apart) Op::into(cells[me], cells[me + Apart]);
        __syncwarp();
    }
};

// Halves until one warp is left, which uses shuffles.
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

// Halves until one warp is left, which uses one instruction for the rest. Its lanes write back the result.
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

// ---- The kernels -------------------------------------------------------------------------------------

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
    const int i = global_thread();
    if (i < n) Op::atomically_into(result, in[i]);
}

// An atomic in shared memory for each element, and one on the result for each block.
template <typename T, typename Op>
__global__ void atomic_of_blocks(const T *in, int n, T *result) {
    __shared__ T of_block;
    const bool is_first = threadIdx.x == 0;
    if (is_first) of_block = Op::identity();
    __syncthreads();
    const int i = global_thread();
    if (i < n) Op::atomically_into(&of_block, in[i]);
    __syncthreads();
    if (is_first) Op::atomically_into(result, of_block);
}

// ---- The launches ------------------------------------------------------------------------------------

template <typename T>
using Kernel = void (*)(const T *, int, T *);

// Device addresses of a reference kernel's arrays. The partials are those of the odd and of the even passes.
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

// One pass of atomics on a result that is set to 0 first.
template <typename T>
static cudaError_t atomics(Kernel<T> kernel, const Arrays<T> &arrays, int n, int threads,
                           cudaStream_t stream) {
    const cudaError_t zeroed = cudaMemsetAsync(arrays.result, 0, sizeof(T), stream);
    if (zeroed != cudaSuccess) return zeroed;
    kernel<<<blocks_for(n, threads, 1), threads, 0, stream>>>(arrays.in, n, arrays.result);
    return cudaGetLastError();
}

// Passes of the same kernel, each over the partials of the previous one, until there is one block.
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

// The bench's interface, for sums of int. All functions return a cudaError_t; none allocates, none waits.

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
PARTIALS(reduce_2_warp, 1, One, ByLastWarp)
PARTIALS(reduce_3, 2, Two, ByHalves)
PARTIALS(reduce_4, 2, Two, ByShuffles)
PARTIALS(reduce_4_redux, 2, Two, ByInstruction)
PARTIALS(reduce_5, chunks, Stride, ByShuffles)
PARTIALS(reduce_5_x1, 1, Chunks<1>, ByShuffles)
PARTIALS(reduce_5_x2, 2, Chunks<2>, ByShuffles)
PARTIALS(reduce_5_x4, 4, Chunks<4>, ByShuffles)
PARTIALS(reduce_5_x8, 8, Chunks<8>, ByShuffles)
PARTIALS(reduce_5_x16, 16, Chunks<16>, ByShuffles)

// cub::DeviceReduce::Sum with CUB's default policy, and 32-bit offsets if n allows them. If `temp` is null,
// writes the required size to `temp_bytes` and launches nothing.
extern "C" int cub_sum(void *temp, size_t *temp_bytes, const int *input, long long n, int *result,
                       cudaStream_t stream) {
    if (n <= INT_MAX) {
        return cub::DeviceReduce::Sum(temp, *temp_bytes, input, result, static_cast<int>(n), stream);
    }
    return cub::DeviceReduce::Sum(temp, *temp_bytes, input, result, n, stream);
}

extern "C" int cub_version() { return CUB_VERSION; }

extern "C" const char *error_string(int status) {
    return cudaGetErrorString(static_cast<cudaError_t>(status));
}
