#pragma once

#include <cstddef>

#include "runtime/compute/kernels/device_kernels.h"
#include "runtime/compute/kernels/portable.h"

/// How many threads run a kernel on a GPU.
namespace stagewright::kernels {

inline constexpr unsigned kBlockWarps = 32;      ///< of the largest block
inline constexpr unsigned kBlockScratch = 1024;  ///< floats of a team's scratch
inline constexpr std::size_t kBlockSharedBytes = (kBlockWarps + kBlockScratch) * sizeof(float);

inline constexpr unsigned kRowThreads = 128;      ///< of the team of a row
inline constexpr unsigned kElementThreads = 256;  ///< of a block of elements
inline constexpr unsigned kColumnsPerBlock = 32;
inline constexpr unsigned kRowsAtOnce = 8;  ///< of a block that sums columns

struct DeviceGrid {
  unsigned blocks = 1;
  unsigned threads_x = 1;
  unsigned threads_y = 1;
  std::size_t shared_bytes = 0;
  friend bool operator==(const DeviceGrid&, const DeviceGrid&) = default;
};

/// Blocks of a launch that has `count` pieces of work: at most what one dimension of a grid may
/// have everywhere.
constexpr unsigned blocks_for(Index count) {
  constexpr Index kLimit = 65535;
  return static_cast<unsigned>(count < kLimit ? count : kLimit);
}

/// REQUIRES: there is something to do.
constexpr DeviceGrid grid_of(KernelForm form, Index count, Index columns) {
  switch (form) {
    case KernelForm::kRows:
      return {blocks_for(count), kRowThreads, 1, kBlockSharedBytes};
    case KernelForm::kElements:
      return {blocks_for((count + kElementThreads - 1) / kElementThreads), kElementThreads, 1, 0};
    case KernelForm::kColumns:
      return {static_cast<unsigned>((columns + kColumnsPerBlock - 1) / kColumnsPerBlock),
              kColumnsPerBlock,
              kRowsAtOnce,
              0};
  }
  return {};
}

}  // namespace stagewright::kernels
