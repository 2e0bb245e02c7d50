// CUB's whole reductions, and a kernel that does nothing: what the library's calls are timed beside.
// All return a cudaError_t; none allocates, none waits. With `temp` null a reduction writes the bytes it
// needs to `temp_bytes` and launches nothing.

#include <cub/device/device_reduce.cuh>
#include <cub/version.cuh>

#include <climits>

#define REDUCTION(NAME, CALL, TYPE)                                                                       \
    extern "C" int NAME(void *temp, size_t *temp_bytes, const TYPE *input, long long n, TYPE *result,      \
                        cudaStream_t stream) {                                                            \
        if (n <= INT_MAX) {                                                                               \
            return cub::DeviceReduce::CALL(temp, *temp_bytes, input, result, static_cast<int>(n), stream); \
        }                                                                                                 \
        return cub::DeviceReduce::CALL(temp, *temp_bytes, input, result, n, stream);                       \
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

__global__ void nothing() {}

extern "C" int launch_nothing(cudaStream_t stream) {
    nothing<<<1, 32, 0, stream>>>();
    return cudaGetLastError();
}

extern "C" int cub_version() { return CUB_VERSION; }

extern "C" const char *error_string(int status) { return cudaGetErrorString(static_cast<cudaError_t>(status)); }
