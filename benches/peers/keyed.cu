// Reduction by key in CUDA C++, compiled by nvcc: a reference kernel for every kernel in
// kernels-gpu/src/keyed and kernels-gpu/src/filter.rs, and CUB's ReduceByKey, for `warpfold-bench bench --suite keyed
// --peers all`. Only for comparison, never shipped.
//
// Sums by keys of unsigned int into dense cells, with `int` indices (n <= 2^30). Unlike warpfold's kernels,
// these do not compare a key with the number of cells. Each thread has one element, or each block one tile;
// the number of blocks follows. keyed_warp is the algorithm of "Voting and Shuffling to Optimize Atomic
// Operations"; all members of a warp stay in its loops, as independent thread scheduling requires.

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>
#include <cuda_runtime.h>

constexpr unsigned FULL = 0xffffffffu;

template <typename T>
__global__ void keyed_atomic(const unsigned *keys, const T *values, int n, T *cells) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&cells[keys[i]], values[i]);
}

// The bits of a value, for compare-and-swap.
template <typename T>
struct Bits;

template <>
struct Bits<float> {
    using Word = unsigned;
    static __device__ __forceinline__ Word of(float value) { return __float_as_uint(value); }
    static __device__ __forceinline__ float back(Word word) { return __uint_as_float(word); }
};

template <>
struct Bits<double> {
    using Word = unsigned long long;
    static __device__ __forceinline__ Word of(double value) { return __double_as_longlong(value); }
    static __device__ __forceinline__ double back(Word word) { return __longlong_as_double(word); }
};

// As for hardware without an atomic of the type: adds to the last seen value, until no other thread has
// changed it.
template <typename T>
__device__ void add_by_cas(T *cell, T value) {
    using Word = typename Bits<T>::Word;
    Word *word = reinterpret_cast<Word *>(cell);
    for (Word seen = *word;;) {
        const Word found = atomicCAS(word, seen, Bits<T>::of(Bits<T>::back(seen) + value));
        if (found == seen) return;
        seen = found;
    }
}

template <typename T>
__global__ void keyed_cas(const unsigned *keys, const T *values, int n, T *cells) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) add_by_cas(&cells[keys[i]], values[i]);
}

// The lanes of the warp with this lane's key, without match.any. In each round the first lane without a group
// broadcasts its key, and a ballot finds the group.
__device__ unsigned same_key(unsigned members, unsigned key) {
    unsigned mine = 0;
    for (unsigned left = members; left != 0;) {
        const unsigned leader = __ffs(left) - 1;
        const bool joins = __shfl_sync(members, key, leader) == key;
        const unsigned group = __ballot_sync(members, joins);
        mine = joins ? group : mine;
        left &= ~group;
    }
    return mine;
}

// The sum over the lanes of a group; the result is in its first lane. In each round a lane adds the value of
// the next lane of its group, and every second lane leaves. `later` has the group's higher lanes that have
// not left.
template <typename T>
__device__ T sum_of_group(unsigned members, unsigned group, T value) {
    const unsigned lane = threadIdx.x & 31;
    unsigned rank = __popc(group & ~(FULL << lane));
    unsigned later = group & (FULL - 1 << lane);
    while (__any_sync(members, later)) {
        const int next = __ffs(later);
        const T theirs = __shfl_sync(members, value, next - 1);
        if (next != 0) value += theirs;
        later &= ~__ballot_sync(members, rank & 1);
        rank /= 2;
    }
    return value;
}

template <typename T, bool Match, int Arrays>
__global__ void keyed_warp(const unsigned *keys, const T *values, int n, T *cells, int cell_count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned members = __ballot_sync(FULL, i < n);
    if (i >= n) return;
    unsigned key = keys[i];
    T x[Arrays];
#pragma unroll
    for (int a = 0; a < Arrays; a++) x[a] = values[a * n + i];
    unsigned group = Match ? __match_any_sync(members, key) : same_key(members, key);
#pragma unroll
    for (int a = 0; a < Arrays; a++) x[a] = sum_of_group(members, group, x[a]);
    if (__ffs(group) - 1 == (threadIdx.x & 31)) {
#pragma unroll
        for (int a = 0; a < Arrays; a++) atomicAdd(&cells[a * cell_count + key], x[a]);
    }
}

constexpr int BINS = 512;
constexpr int PER_THREAD = 4;

__device__ unsigned bin_of(unsigned key) { return key * 0x9E3779B1u >> 23; }

template <typename T>
__global__ void keyed_bins(const unsigned *keys, const T *values, int n, T *cells) {
    __shared__ unsigned owners[BINS];
    __shared__ T bins[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        owners[b] = FULL;
        bins[b] = 0;
    }
    __syncthreads();

    unsigned key[PER_THREAD];
    T value[PER_THREAD];
    int first = blockIdx.x * blockDim.x * PER_THREAD + threadIdx.x;
#pragma unroll
    for (int e = 0; e < PER_THREAD; e++) {
        int i = first + e * blockDim.x;
        if (i < n) {
            key[e] = keys[i];
            value[e] = values[i];
        }
    }
#pragma unroll
    for (int e = 0; e < PER_THREAD; e++) {
        if (first + e * (int)blockDim.x < n) atomicMin(&owners[bin_of(key[e])], key[e]);
    }
    __syncthreads();

#pragma unroll
    for (int e = 0; e < PER_THREAD; e++) {
        if (first + e * (int)blockDim.x < n) {
            unsigned bin = bin_of(key[e]);
            atomicAdd(owners[bin] == key[e] ? &bins[bin] : &cells[key[e]], value[e]);
        }
    }
    __syncthreads();

    for (int b = threadIdx.x; b < BINS; b += blockDim.x) {
        if (owners[b] != FULL) atomicAdd(&cells[owners[b]], bins[b]);
    }
}

template <typename T>
struct Four;
template <>
struct Four<float> {
    float4 v;
    __device__ void get(const float *p, float *x) {
        v = *reinterpret_cast<const float4 *>(p);
        x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
    }
};
template <>
struct Four<double> {
    __device__ void get(const double *p, double *x) {
        double2 low = reinterpret_cast<const double2 *>(p)[0];
        double2 high = reinterpret_cast<const double2 *>(p)[1];
        x[0] = low.x, x[1] = low.y, x[2] = high.x, x[3] = high.y;
    }
};

// Keys and values must be aligned to 16 bytes.
template <typename T>
__global__ void keyed_runs(const unsigned *keys, const T *values, int n, T *cells) {
    int lane = threadIdx.x & 31;
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER_THREAD;
    int first = i - lane * PER_THREAD;
    if (first >= n) return;
    unsigned key[PER_THREAD];
    T value[PER_THREAD];
    if (first + 32 * PER_THREAD <= n) {
        uint4 k = *reinterpret_cast<const uint4 *>(keys + i);
        key[0] = k.x, key[1] = k.y, key[2] = k.z, key[3] = k.w;
        Four<T>().get(values + i, value);
    } else {
#pragma unroll
        for (int e = 0; e < PER_THREAD; e++) {
            key[e] = keys[min(i + e, n - 1)];
            value[e] = i + e < n ? values[i + e] : 0;
        }
    }

    T head = 0, tail = value[0];
    unsigned tail_key = key[0];
    bool single = true;
#pragma unroll
    for (int e = 1; e < PER_THREAD; e++) {
        if (key[e] == tail_key) {
            tail += value[e];
        } else {
            if (single) {
                head = tail;
                single = false;
            } else {
                atomicAdd(&cells[tail_key], tail);
            }
            tail_key = key[e];
            tail = value[e];
        }
    }

    unsigned key_before = __shfl_up_sync(FULL, tail_key, 1);
    bool linked = lane > 0 && key_before == key[0];
    unsigned starts = __ballot_sync(FULL, !(linked && single));
    int reach = lane - (31 - __clz(starts & (FULL >> (31 - lane))));
    for (int distance = 1; __any_sync(FULL, distance <= reach); distance *= 2) {
        T below = __shfl_up_sync(FULL, tail, distance);
        if (distance <= reach) tail += below;
    }
    T before = __shfl_up_sync(FULL, tail, 1);
    if (!single) atomicAdd(&cells[key[0]], linked ? before + head : head);
    unsigned links = __ballot_sync(FULL, linked);
    if (!(links >> lane >> 1 & 1)) atomicAdd(&cells[tail_key], tail);
}

// ---- The launches ------------------------------------------------------------------------------------

// The bench's interface. All functions return a cudaError_t; none allocates, none waits. `cells` has
// `cell_count` cells for each array of values.

template <typename T>
static int launch(int kernel, const unsigned *keys, const T *values, int n, T *cells, int cell_count,
                  int threads, cudaStream_t stream) {
    auto blocks = [&](int per_thread) { return (n + threads * per_thread - 1) / (threads * per_thread); };
    const int one = blocks(1), tile = blocks(PER_THREAD), count = cell_count;
    switch (kernel) {
        case 0: keyed_atomic<<<one, threads, 0, stream>>>(keys, values, n, cells); break;
        case 1: keyed_cas<<<one, threads, 0, stream>>>(keys, values, n, cells); break;
        case 2: keyed_warp<T, false, 1><<<one, threads, 0, stream>>>(keys, values, n, cells, count); break;
        case 3: keyed_warp<T, true, 1><<<one, threads, 0, stream>>>(keys, values, n, cells, count); break;
        case 4: keyed_bins<<<tile, threads, 0, stream>>>(keys, values, n, cells); break;
        case 5: keyed_runs<<<tile, threads, 0, stream>>>(keys, values, n, cells); break;
        case 6: keyed_warp<T, true, 3><<<one, threads, 0, stream>>>(keys, values, n, cells, count); break;
        case 7: keyed_warp<T, false, 3><<<one, threads, 0, stream>>>(keys, values, n, cells, count); break;
        default: return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}

extern "C" int keyed_f32(int kernel, const unsigned *keys, const float *values, int n, float *cells,
                         int cell_count, int threads, cudaStream_t stream) {
    return launch(kernel, keys, values, n, cells, cell_count, threads, stream);
}

extern "C" int keyed_f64(int kernel, const unsigned *keys, const double *values, int n, double *cells,
                         int cell_count, int threads, cudaStream_t stream) {
    return launch(kernel, keys, values, n, cells, cell_count, threads, stream);
}

// A hash table for each warp: the smallest key that selects a slot owns it, and its lanes set their bits there. The
// others try again.
__device__ unsigned same_key_by_hash(unsigned members, unsigned key, unsigned *owners, unsigned *peers) {
    const unsigned lane = threadIdx.x & 31, slot = (threadIdx.x & ~31u) + (key * 0x9E3779B1u >> 27);
    unsigned mine = 0;
    while (__any_sync(members, mine == 0)) {
        const bool searches = mine == 0;
        if (searches) atomicMin(&owners[slot], key);
        __syncwarp(members);
        const bool owns = searches && owners[slot] == key;
        if (owns) atomicOr(&peers[slot], 1u << lane);
        __syncwarp(members);
        if (owns) mine = peers[slot];
        __syncwarp(members);
        if (owns && 31 - __clz(mine) == lane) owners[slot] = FULL, peers[slot] = 0;
        __syncwarp(members);
    }
    return mine;
}

// The search alone: 0 by ballots, 1 by match.any, 2 by a hash table.
template <int Search>
__global__ void find_peers(const unsigned *keys, int n, unsigned *masks) {
    __shared__ unsigned owners[Search == 2 ? 256 : 1], peers[Search == 2 ? 256 : 1];
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (Search == 2) owners[threadIdx.x] = FULL, peers[threadIdx.x] = 0;
    __syncwarp();
    const unsigned members = __ballot_sync(FULL, i < n);
    if (i >= n) return;
    const unsigned key = keys[i];
    masks[i] = Search == 0   ? same_key(members, key)
               : Search == 1 ? __match_any_sync(members, key)
                             : same_key_by_hash(members, key, owners, peers);
}

__global__ void all_reduce_peers(const unsigned *keys, const double *values, int n, double *out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned members = __ballot_sync(FULL, i < n);
    if (i >= n) return;
    const unsigned group = __match_any_sync(members, keys[i]);
    const double sum = sum_of_group(members, group, values[i]);
    out[i] = __shfl_sync(members, sum, __ffs(group) - 1);
}

// The elements above a number: an atomic for each, or one for each warp, as in "Warp-Aggregated Atomics".
template <bool Aggregate>
__global__ void filter(const int *in, int n, int above, int *out, unsigned long long *count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const bool keeps = i < n && in[i] > above;
    if (!Aggregate) {
        // Otherwise the compiler would aggregate these atomics, too.
        unsigned long long one = keeps;
        asm("" : "+l"(one));
        if (keeps) out[atomicAdd(count, one)] = in[i];
        return;
    }
    const unsigned lane = threadIdx.x & 31, lanes = __ballot_sync(FULL, keeps);
    if (lanes == 0) return;
    const int leader = __ffs(lanes) - 1;
    unsigned long long first = 0;
    if (lane == leader) first = atomicAdd(count, (unsigned long long)__popc(lanes));
    first = __shfl_sync(FULL, first, leader);
    if (keeps) out[first + __popc(lanes & ((1u << lane) - 1))] = in[i];
}

// The kernels without cells. A filter's counter is set to 0 first.
extern "C" int lanes(int kernel, const unsigned *in, const double *values, int above, int n, void *out,
                     unsigned long long *count, int threads, cudaStream_t stream) {
    const int blocks = (n + threads - 1) / threads;
    unsigned *masks = static_cast<unsigned *>(out);
    const int *numbers = reinterpret_cast<const int *>(in);
    if (kernel >= 4) {
        const cudaError_t zeroed = cudaMemsetAsync(count, 0, sizeof(*count), stream);
        if (zeroed != cudaSuccess) return zeroed;
    }
    switch (kernel) {
        case 0: find_peers<0><<<blocks, threads, 0, stream>>>(in, n, masks); break;
        case 1: find_peers<1><<<blocks, threads, 0, stream>>>(in, n, masks); break;
        case 2: find_peers<2><<<blocks, threads, 0, stream>>>(in, n, masks); break;
        case 3:
            all_reduce_peers<<<blocks, threads, 0, stream>>>(in, values, n, static_cast<double *>(out));
            break;
        case 4:
            filter<false><<<blocks, threads, 0, stream>>>(numbers, n, above, static_cast<int *>(out), count);
            break;
        case 5:
            filter<true><<<blocks, threads, 0, stream>>>(numbers, n, above, static_cast<int *>(out), count);
            break;
        default: return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}

struct Add {
    template <typename T>
    __device__ T operator()(T a, T b) const {
        return a + b;
    }
};

// cub::DeviceReduce::ReduceByKey: a key and a sum for each run of equal keys, and the number of runs. If
// `temp` is null, writes the required size to `temp_bytes` and launches nothing.
extern "C" int cub_by_key_f32(void *temp, size_t *temp_bytes, const unsigned *keys, const float *values,
                              int n, unsigned *run_keys, float *run_sums, int *runs, cudaStream_t stream) {
    return cub::DeviceReduce::ReduceByKey(temp, *temp_bytes, keys, run_keys, values, run_sums, runs, Add(), n,
                                          stream);
}

extern "C" int cub_by_key_f64(void *temp, size_t *temp_bytes, const unsigned *keys, const double *values,
                              int n, unsigned *run_keys, double *run_sums, int *runs, cudaStream_t stream) {
    return cub::DeviceReduce::ReduceByKey(temp, *temp_bytes, keys, run_keys, values, run_sums, runs, Add(), n,
                                          stream);
}

// cub::DeviceRadixSort::SortPairs: the pairs in the order of their keys. Storage as above.
extern "C" int cub_sort_pairs_f32(void *temp, size_t *temp_bytes, const unsigned *keys, unsigned *sorted_keys,
                                  const float *values, float *sorted_values, int n, cudaStream_t stream) {
    return cub::DeviceRadixSort::SortPairs(temp, *temp_bytes, keys, sorted_keys, values, sorted_values, n, 0, 32,
                                           stream);
}

// cub::DeviceHistogram::HistogramEven: the number of keys below `cells` that have each value. Storage as above.
template <typename K>
static int cub_histogram(void *temp, size_t *temp_bytes, const K *keys, int n, unsigned *counts, int cells,
                         cudaStream_t stream) {
    return cub::DeviceHistogram::HistogramEven(temp, *temp_bytes, keys, counts, cells + 1, 0, cells, n, stream);
}

extern "C" int cub_histogram_u8(void *temp, size_t *temp_bytes, const unsigned char *keys, int n,
                                unsigned *counts, int cells, cudaStream_t stream) {
    return cub_histogram(temp, temp_bytes, keys, n, counts, cells, stream);
}

extern "C" int cub_histogram_u32(void *temp, size_t *temp_bytes, const unsigned *keys, int n, unsigned *counts,
                                 int cells, cudaStream_t stream) {
    return cub_histogram(temp, temp_bytes, keys, n, counts, cells, stream);
}

extern "C" int cub_version() { return CUB_VERSION; }

extern "C" const char *error_string(int status) {
    return cudaGetErrorString(static_cast<cudaError_t>(status));
}
