// CUB's reductions by a policy of our own: what CUB can do where its default policy, which was tuned on
// other cards, does not fit. Blocks of 512 threads with 16 elements of 4 bytes each, by loads of 16 bytes.
// As in whole.cu, all return a cudaError_t; none allocates, none waits. With `temp` null a reduction writes
// the bytes it needs to `temp_bytes` and launches nothing.

#include <cub/device/dispatch/dispatch_reduce.cuh>
#include <cub/version.cuh>

#include <limits>

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

struct Sum {
    template <typename T>
    __host__ __device__ T operator()(T a, T b) const { return a + b; }
    template <typename T>
    static T init() { return T{}; }
};

struct Min {
    template <typename T>
    __host__ __device__ T operator()(T a, T b) const { return b < a ? b : a; }
    template <typename T>
    static T init() { return std::numeric_limits<T>::max(); }
};

struct Max {
    template <typename T>
    __host__ __device__ T operator()(T a, T b) const { return a < b ? b : a; }
    template <typename T>
    static T init() { return std::numeric_limits<T>::lowest(); }
};

#define REDUCTION(NAME, OP, TYPE)                                                                           \
    extern "C" int NAME(void *temp, size_t *temp_bytes, const TYPE *input, long long n, TYPE *result,        \
                        cudaStream_t stream) {                                                              \
        using Offset = unsigned long long;                                                                  \
        using Dispatch = cub::DispatchReduce<const TYPE *, TYPE *, Offset, OP, TYPE, TYPE,                  \
                                             ::cuda::std::identity, Tuned<TYPE>>;                           \
        return Dispatch::Dispatch(temp, *temp_bytes, input, result, static_cast<Offset>(n), OP{},            \
                                  OP::init<TYPE>(), stream);                                                 \
    }

REDUCTION(cub_sum_i32, Sum, int)
REDUCTION(cub_min_i32, Min, int)
REDUCTION(cub_max_i32, Max, int)
REDUCTION(cub_sum_f32, Sum, float)
REDUCTION(cub_min_f32, Min, float)
REDUCTION(cub_max_f32, Max, float)
REDUCTION(cub_sum_f64, Sum, double)
REDUCTION(cub_min_f64, Min, double)
REDUCTION(cub_max_f64, Max, double)

extern "C" int cub_version() { return CUB_VERSION; }

extern "C" const char *error_string(int status) { return cudaGetErrorString(static_cast<cudaError_t>(status)); }
