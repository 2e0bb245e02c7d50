// Copies in CUDA C++, compiled by nvcc: the reference kernels of kernels-gpu's copies, for
// `warpfold-bench bench --suite copy --peers nvcc`. Only for comparison, never shipped.
//
// As in the post "CUDA Pro Tip: Increase Performance with Vectorized Memory Access" (Justin Luitjens, NVIDIA): `int` indices, and a grid-stride loop; the first threads copy the elements after the last
// whole vector. Arrays must be aligned to 16 bytes. The host determines the launch.

#include <cub/version.cuh>
#include <cuda_runtime.h>

__global__ void copy_scalar(const int *in, int *out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        out[i] = in[i];
    }
}

template <typename Vector>
__global__ void copy_vectors(const int *in, int *out, int n) {
    const int width = sizeof(Vector) / sizeof(int);
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = thread; i < n / width; i += blockDim.x * gridDim.x) {
        reinterpret_cast<Vector *>(out)[i] = reinterpret_cast<const Vector *>(in)[i];
    }
    int rest = n / width * width + thread;
    if (rest < n) {
        out[rest] = in[rest];
    }
}

#define REFERENCE(name, kernel)                                                                         \
    extern "C" int reference_##name(const int *in, int *out, int n, int blocks, int threads,            \
                               cudaStream_t stream) {                                              \
        kernel<<<blocks, threads, 0, stream>>>(in, out, n);                                        \
        return cudaGetLastError();                                                                 \
    }

REFERENCE(copy_scalar, copy_scalar)
REFERENCE(copy_vec2, copy_vectors<int2>)
REFERENCE(copy_vec4, copy_vectors<int4>)

extern "C" int cub_version() { return CUB_VERSION; }

extern "C" const char *error_string(int error) {
    return cudaGetErrorString(static_cast<cudaError_t>(error));
}
