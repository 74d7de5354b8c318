#pragma once

#include <cuda_runtime.h>

#include "runtime/compute/kernels/cuda_block.h"
#include "runtime/compute/kernels/portable.h"

/// Runs kernels on a CUDA stream; for nvcc.  The counterpart of cpu_launch.h.
namespace stagewright::kernels {

template <class Kernel>
__global__ void rows_on_gpu(Index rows, Kernel kernel) {
  for (Index r = blockIdx.x; r < rows; r += gridDim.x) {
    kernel(Block(), r);
    __syncthreads();
  }
}

template <class Kernel>
__global__ void elements_on_gpu(Index count, Kernel kernel) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    kernel(i);
  }
}

inline constexpr unsigned kColumnsPerBlock = 32;
inline constexpr unsigned kRowsAtOnce = 8;

// A block sums 32 columns: each of its 8 warps every eighth row, then the parts in order.
template <class Kernel>
__global__ void columns_on_gpu(Index rows, Index columns, Kernel kernel) {
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

/// Blocks of a launch that has `count` pieces of work: at most what one
/// dimension of a grid may have everywhere.
inline unsigned blocks_for(Index count) {
  constexpr Index kLimit = 65535;
  return static_cast<unsigned>(count < kLimit ? count : kLimit);
}

template <class Kernel>
void launch_rows(cudaStream_t stream, Index rows, const Kernel& kernel) {
  constexpr unsigned kThreads = 128;
  if (rows > 0) {
    rows_on_gpu<<<blocks_for(rows), kThreads, Block::kSharedBytes, stream>>>(rows, kernel);
  }
}

template <class Kernel>
void launch_elements(cudaStream_t stream, Index count, const Kernel& kernel) {
  constexpr unsigned kThreads = 256;
  if (count > 0) {
    const Index blocks = (count + kThreads - 1) / kThreads;
    elements_on_gpu<<<blocks_for(blocks), kThreads, 0, stream>>>(count, kernel);
  }
}

template <class Kernel>
void launch_columns(cudaStream_t stream, Index rows, Index columns, const Kernel& kernel) {
  if (columns > 0) {
    const Index blocks = (columns + kColumnsPerBlock - 1) / kColumnsPerBlock;
    columns_on_gpu<<<static_cast<unsigned>(blocks),
                     dim3(kColumnsPerBlock, kRowsAtOnce),
                     0,
                     stream>>>(rows, columns, kernel);
  }
}

}  // namespace stagewright::kernels
