#pragma once

#include <cmath>

#include "runtime/compute/kernels/device_grid.h"
#include "runtime/compute/kernels/portable.h"

#if !defined(__CUDACC__)
#error "for nvcc; the CPU's team is lane.h"
#endif

namespace stagewright::kernels {

/// The GPU's team: one thread block, a whole number of warps.  The same members
/// as `Lane`, where they are explained.  Dynamic shared memory of the launch:
/// kBlockSharedBytes.
class Block {
 public:
  [[nodiscard]] __device__ float* scratch() const { return shared() + kBlockWarps; }

  __device__ void sync() const { __syncthreads(); }

  template <class Body>
  __device__ void each(Index n, Body body) const {
    for (Index i = threadIdx.x; i < n; i += blockDim.x) {
      body(i);
    }
  }

  template <class Term>
  [[nodiscard]] __device__ float sum(Index n, Term term) const {
    float total = 0.0F;
    for (Index i = threadIdx.x; i < n; i += blockDim.x) {
      total += term(i);
    }
    return reduce(total, 0.0F, [](float a, float b) { return a + b; });
  }

  template <class Term>
  [[nodiscard]] __device__ float max(Index n, Term term) const {
    float largest = -INFINITY;
    for (Index i = threadIdx.x; i < n; i += blockDim.x) {
      largest = fmaxf(largest, term(i));
    }
    return reduce(largest, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
  }

  template <class Body>
  __device__ void once(Body body) const {
    if (threadIdx.x == 0) {
      body();
    }
  }

 private:
  static __device__ float* shared() {
    extern __shared__ float stagewright_shared[];
    return stagewright_shared;
  }

  template <class Op>
  static __device__ float reduce_warp(float value, Op op) {
    for (int distance = 16; distance > 0; distance /= 2) {
      value = op(value, __shfl_xor_sync(0xffffffffU, value, distance));
    }
    return value;
  }

  // Every thread gets the result, reduced in a fixed order.
  template <class Op>
  static __device__ float reduce(float value, float neutral, Op op) {
    const unsigned lane = threadIdx.x % 32;
    value = reduce_warp(value, op);
    __syncthreads();  // the last reduction has been read by all
    if (lane == 0) {
      shared()[threadIdx.x / 32] = value;
    }
    __syncthreads();
    return reduce_warp(lane < blockDim.x / 32 ? shared()[lane] : neutral, op);
  }
};

}  // namespace stagewright::kernels
