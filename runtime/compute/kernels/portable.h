#pragma once

#include <cstdint>

/// Marks a function that g++ compiles for the CPU and nvcc for both sides.  On
/// the CPU it must be inlined into the launch (`cpu_launch.h`): that is where
/// the vector width of this machine is chosen.
#if defined(__CUDACC__)
#define SW_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define SW_HOST_DEVICE inline __attribute__((always_inline))
#endif

/// Kernels of the training step.  Row kernels are functors `k(team, row)`: a
/// team is one SIMD lane-loop on the CPU (`Lane`) and one thread block on a GPU
/// (`Block`).  Element kernels are functors `k(index)`.  Each is an aggregate,
/// so that a call names its arguments:
///
///     layer_norm_forward({.x = x, .gamma = gamma, ...}, rows);
///
/// All matrices are row-major.  `T` is the type of activations; parameters,
/// statistics and parameter gradients are float.  Outputs may share memory with
/// inputs only where the kernel says so.
namespace stagewright::kernels {

/// Counts and offsets of elements.
using Index = std::int64_t;

}  // namespace stagewright::kernels
