// Reductions by shuffles and atomics in CUDA C++, compiled by nvcc: the reference kernels of kernels-gpu's
// `kepler`, for `warpfold-bench bench --suite kepler --peers all`. Only for comparison, never shipped.
//
// The algorithms of the post "Faster Parallel Reductions on Kepler" (Justin Luitjens, NVIDIA), as templates over the element, the operator and
// the number of elements per load: grid-stride loops that nvcc unrolls, `int` indices (correct up to n ==
// 2^30), 512 threads, at most 1024 blocks. The first threads reduce the elements after the last whole vector.
// Loads of vectors require an input aligned to 16 bytes; warpfold's kernels do not.

#include <cuda_runtime.h>

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;
constexpr int MAX_BLOCKS = 1024;

template <typename T>
struct Plus {
    static __device__ __forceinline__ T identity() { return T{}; }
    static __device__ __forceinline__ T of(T a, T b) { return a + b; }
    static __device__ __forceinline__ void atomically_into(T *a, T b) { atomicAdd(a, b); }
};

// `Count` neighbours, read by one load.
template <typename T, int Count>
struct alignas(sizeof(T) * Count) Neighbours {
    T each[Count];

    // Combines the neighbours in a tree.
    template <typename Op>
    __device__ __forceinline__ T combined() const {
        if constexpr (Count == 1) {
            return each[0];
        } else if constexpr (Count == 2) {
            return Op::of(each[0], each[1]);
        } else {
            static_assert(Count == 4, "1, 2 or 4 neighbours");
            return Op::of(Op::of(each[0], each[1]), Op::of(each[2], each[3]));
        }
    }
};

// Combines the elements of a thread.
template <typename T, typename Op, int Count>
__device__ __forceinline__ T of_thread(const T *in, int n) {
    const auto *vectors = reinterpret_cast<const Neighbours<T, Count> *>(in);
    const int vector_count = n / Count;
    const int me = blockIdx.x * blockDim.x + threadIdx.x;
    T value = Op::identity();
    for (int i = me; i < vector_count; i += gridDim.x * blockDim.x) {
        value = Op::of(value, vectors[i].template combined<Op>());
    }
    if (Count > 1 && me < n % Count) value = Op::of(value, in[vector_count * Count + me]);
    return value;
}

// Combines the values of a warp; the result is in lane 0.
template <typename T, typename Op>
__device__ __forceinline__ T of_warp(T value) {
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        value = Op::of(value, __shfl_down_sync(ALL_LANES, value, distance));
    }
    return value;
}

// Combines the values of a warp; the result is in all lanes.
template <typename T, typename Op>
__device__ __forceinline__ T of_all_lanes(T value) {
#pragma unroll
    for (int mask = WARP / 2; mask > 0; mask /= 2) {
        value = Op::of(value, __shfl_xor_sync(ALL_LANES, value, mask));
    }
    return value;
}

// Combines the values of a block: first each warp, then the first warp all warps; the result is in thread 0.
template <typename T, typename Op>
__device__ __forceinline__ T of_block(T value) {
    __shared__ T of_warps[WARP];
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
    value = of_warp<T, Op>(value);
    if (lane == 0) of_warps[warp] = value;
    __syncthreads();
    const bool has_partial = threadIdx.x < blockDim.x / WARP;
    value = has_partial ? of_warps[lane] : Op::identity();
    return warp == 0 ? of_warp<T, Op>(value) : value;
}

// A partial for each block: the result is the same in every run.
struct Stable {
    template <typename T, typename Op>
    static __device__ __forceinline__ void combine(T value, T *out) {
        value = of_block<T, Op>(value);
        if (threadIdx.x == 0) out[blockIdx.x] = value;
    }
};

// The same, and every thread of the block gets the partial: the warps by butterflies, then a broadcast through shared
// memory. The last thread stores it.
struct StableAll {
    template <typename T, typename Op>
    static __device__ __forceinline__ void combine(T value, T *out) {
        __shared__ T of_warps[WARP];
        const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
        value = of_all_lanes<T, Op>(value);
        if (lane == 0) of_warps[warp] = value;
        __syncthreads();
        if (warp == 0) {
            value = lane < blockDim.x / WARP ? of_warps[lane] : Op::identity();
            value = of_warp<T, Op>(value);
            if (lane == 0) of_warps[0] = value;
        }
        __syncthreads();
        if (threadIdx.x == blockDim.x - 1) out[blockIdx.x] = of_warps[0];
    }
};

// An atomic for each warp.
struct WarpAtomic {
    template <typename T, typename Op>
    static __device__ __forceinline__ void combine(T value, T *out) {
        value = of_warp<T, Op>(value);
        if (threadIdx.x % WARP == 0) Op::atomically_into(out, value);
    }
};

// An atomic for each block.
struct BlockAtomic {
    template <typename T, typename Op>
    static __device__ __forceinline__ void combine(T value, T *out) {
        value = of_block<T, Op>(value);
        if (threadIdx.x == 0) Op::atomically_into(out, value);
    }
};

template <typename T, typename Op, typename Combine, int Count>
__global__ void reduce(const T *in, int n, T *out) {
    Combine::template combine<T, Op>(of_thread<T, Op, Count>(in, n), out);
}

// ---- Sums of triples -----------------------------------------------------------------------------------

constexpr int TRIPLE_THREADS = 256;

// x, y and z of the first triple, then those of the second, and so on. Each step for all three before the next one.
__global__ void triple_interleaved(const int *in, int triples, int *out) {
    int x = 0, y = 0, z = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < triples; i += gridDim.x * blockDim.x) {
        x += in[3 * i];
        y += in[3 * i + 1];
        z += in[3 * i + 2];
    }
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
        x += __shfl_down_sync(ALL_LANES, x, distance);
        y += __shfl_down_sync(ALL_LANES, y, distance);
        z += __shfl_down_sync(ALL_LANES, z, distance);
    }
    if (threadIdx.x % WARP == 0) {
        atomicAdd(&out[0], x);
        atomicAdd(&out[1], y);
        atomicAdd(&out[2], z);
    }
}

// One field after the other.
__global__ void triple_in_turn(const int *in, int triples, int *out) {
#pragma unroll 1
    for (int field = 0; field < 3; ++field) {
        int value = 0;
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < triples; i += gridDim.x * blockDim.x) {
            value += in[3 * i + field];
        }
        value = of_warp<int, Plus<int>>(value);
        if (threadIdx.x % WARP == 0) atomicAdd(&out[field], value);
    }
}

// One thread for each triple, but at most as many blocks as the device runs at once.
template <typename Kernel>
static cudaError_t triples(Kernel kernel, const int *in, int n, int *result, cudaStream_t stream) {
    int device = 0, processors = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status != cudaSuccess) return status;
    status = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (status != cudaSuccess) return status;
    status = cudaMemsetAsync(result, 0, 3 * sizeof(int), stream);
    if (status != cudaSuccess) return status;
    const int needed = (n / 3 + TRIPLE_THREADS - 1) / TRIPLE_THREADS;
    const int most = processors * (2048 / TRIPLE_THREADS);
    kernel<<<needed < most ? needed : most, TRIPLE_THREADS, 0, stream>>>(in, n / 3, result);
    return cudaGetLastError();
}

// ---- The launches ------------------------------------------------------------------------------------

static int blocks_for(int n, int threads, int count) {
    const long long per_block = static_cast<long long>(threads) * count;
    const long long blocks = (n + per_block - 1) / per_block;
    return blocks < MAX_BLOCKS ? static_cast<int>(blocks) : MAX_BLOCKS;
}

// Two passes: partials, and one block that reduces them.
template <typename T, typename Op, int Count, typename Combine = Stable>
static cudaError_t two_passes(const T *in, int n, int threads, T *partials, T *result,
                              cudaStream_t stream) {
    const int blocks = blocks_for(n, threads, Count);
    T *out = blocks == 1 ? result : partials;
    reduce<T, Op, Combine, Count><<<blocks, threads, 0, stream>>>(in, n, out);
    if (blocks > 1) reduce<T, Op, Stable, 1><<<1, MAX_BLOCKS, 0, stream>>>(partials, blocks, result);
    return cudaGetLastError();
}

// One pass of atomics on a result that is set to 0 first.
template <typename T, typename Op, typename Combine, int Count>
static cudaError_t one_pass(const T *in, int n, int threads, T *result, cudaStream_t stream) {
    const cudaError_t zeroed = cudaMemsetAsync(result, 0, sizeof(T), stream);
    if (zeroed != cudaSuccess) return zeroed;
    reduce<T, Op, Combine, Count><<<blocks_for(n, threads, Count), threads, 0, stream>>>(in, n, result);
    return cudaGetLastError();
}

// The bench's interface, for sums of int, with the parameters of ladder.cu. All functions return a
// cudaError_t; none allocates, none waits.

using Element = int;
using Operator = Plus<Element>;

#define REFERENCE(NAME)                                                                                  \
    extern "C" int reference_##NAME(const Element *in, int n, int threads, int, Element *partials,       \
                                    Element *, Element *result, cudaStream_t stream)

#define STABLE(NAME, ...)                                                                                \
    REFERENCE(NAME) {                                                                                    \
        return two_passes<Element, Operator, __VA_ARGS__>(in, n, threads, partials, result, stream);     \
    }

#define ATOMIC(NAME, COMBINE, COUNT)                                                                     \
    REFERENCE(NAME) {                                                                                    \
        (void)partials;                                                                                  \
        return one_pass<Element, Operator, COMBINE, COUNT>(in, n, threads, result, stream);              \
    }

STABLE(stable, 1)
STABLE(stable_vec2, 2)
STABLE(stable_vec4, 4)
STABLE(stable_all, 1, StableAll)
ATOMIC(warp_atomic, WarpAtomic, 1)
ATOMIC(warp_atomic_vec2, WarpAtomic, 2)
ATOMIC(warp_atomic_vec4, WarpAtomic, 4)
ATOMIC(block_atomic, BlockAtomic, 1)
ATOMIC(block_atomic_vec2, BlockAtomic, 2)
ATOMIC(block_atomic_vec4, BlockAtomic, 4)

#define TRIPLE(NAME)                                                                                     \
    REFERENCE(NAME) {                                                                                    \
        (void)threads, (void)partials;                                                                   \
        return triples(NAME, in, n, result, stream);                                                     \
    }

TRIPLE(triple_interleaved)
TRIPLE(triple_in_turn)
