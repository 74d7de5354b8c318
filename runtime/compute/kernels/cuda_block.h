#pragma once

#include <cmath>

#include "runtime/compute/kernels/packs.h"
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
    run_each(n, threadIdx.x, blockDim.x, body);
  }

  template <class Term>
  [[nodiscard]] __device__ float sum(Index n, Term term) const {
    const auto add = [](float a, float b) { return a + b; };
    return reduce(join_each(n, threadIdx.x, blockDim.x, 0.0F, term, add), 0.0F, add);
  }

  template <class Term>
  [[nodiscard]] __device__ float max(Index n, Term term) const {
    const auto larger = [](float a, float b) { return fmaxf(a, b); };
    return reduce(
        join_each(n, threadIdx.x, blockDim.x, -INFINITY, term, larger), -INFINITY, larger);
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
