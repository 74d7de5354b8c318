#pragma once

#include "runtime/compute/kernels/cuda_block.h"
#include "runtime/compute/kernels/packs.h"
#include "runtime/compute/kernels/device_grid.h"
#include "runtime/compute/kernels/portable.h"

/// Runs kernels on the threads of a GPU, launched as device_grid.h says; for nvcc.  The counterpart
/// of cpu_launch.h.
namespace stagewright::kernels {

template <class Kernel>
__device__ void run_rows(Index rows, const Kernel& kernel) {
  for (Index r = blockIdx.x; r < rows; r += gridDim.x) {
    kernel(Block(), r);
    __syncthreads();
  }
}

template <class Kernel>
__device__ void run_elements(Index count, const Kernel& kernel) {
  run_each(count,
           static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x,
           static_cast<Index>(gridDim.x) * blockDim.x,
           kernel);
}

// A block sums 32 columns: each of its 8 warps every eighth row, then the parts in order.
template <class Kernel>
__device__ void run_columns(Index rows, Index columns, const Kernel& kernel) {
  __shared__ float part[kRowsAtOnce][kColumnsPerBlock + 1];
  const Index c = static_cast<Index>(blockIdx.x) * kColumnsPerBlock + threadIdx.x;
  float sum = 0.0F;
  if (c < columns) {
    for (Index r = threadIdx.y; r < rows; r += kRowsAtOnce) {
      sum += kernel.term(r, c);
    }
  }
  part[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && c < columns) {
    for (unsigned i = 1; i < kRowsAtOnce; ++i) {
      sum += part[i][threadIdx.x];
    }
    kernel.store(c, sum);
  }
}

/// The body of an entry of the device's code.
template <class Kernel>
__device__ void run_on_gpu(Index count, Index columns, const Kernel& kernel) {
  if constexpr (kFormOf<Kernel> == KernelForm::kRows) {
    run_rows(count, kernel);
  } else if constexpr (kFormOf<Kernel> == KernelForm::kElements) {
    run_elements(count, kernel);
  } else {
    run_columns(count, columns, kernel);
  }
}

}  // namespace stagewright::kernels
