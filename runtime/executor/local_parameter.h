#pragma once

#include <cstdint>

#include "core/schedule/schedule.h"
#include "runtime/compute/kernels/random.h"

namespace stagewright {

/// The part of a parameter that lies on a rank, as a matrix (a vector is one row).
struct LocalMatrix {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t row_pitch = 1;  ///< elements from one row in memory to the next
  kernels::TensorSlice slice{.global_width = 1};

  [[nodiscard]] std::int64_t elements() const { return rows * row_pitch; }
};
[[nodiscard]] LocalMatrix local_matrix(const ParameterSlice& parameter, const RankBinding& binding);

/// Where elements of that matrix lie in the weight's tensor, and which of them.
struct LocalRange {
  std::int64_t to = 0;     ///< in the tensor
  std::int64_t first = 0;  ///< in the matrix
  std::int64_t count = 0;
};
/// Of a slice that begins at weight_offset of all members' tensors together, what lies here.
[[nodiscard]] LocalRange local_range(const ParameterSlice& parameter,
                                     const RankBinding& binding,
                                     const LocalMatrix& local);

}  // namespace stagewright
