#pragma once

#include <cstddef>
#include <vector>

#include "core/schedule/operation.h"
#include "float64_operations.h"

namespace stagewright::gpu_check {

using Index = std::size_t;

/// Operands and sizes of one call.
struct Call {
  const Operation& op;
  const std::vector<Doubles>& in;
  std::vector<Doubles>& out;
  const OptimizerSpec& optimizer;
  Index rows = static_cast<Index>(op.shape.rows);
  Index cols = static_cast<Index>(op.shape.cols);
  Index inner = static_cast<Index>(op.shape.inner);
};

/// Of float64_attention.cpp.
void attention_forward(Call& call);
void attention_backward(Call& call);

}  // namespace stagewright::gpu_check
