#pragma once

#include <vector>

#include "core/plan/optimizer.h"
#include "core/schedule/operation.h"

namespace stagewright::gpu_check {

using Doubles = std::vector<double>;

/// What an operation is to compute, in double precision and straight from its definition (OpKind):
/// its outputs, from its inputs and what the outputs held before.  Of the kinds that
/// kernel_cases.cpp lists; whole vocabularies, one device.  `optimizer` is of updates, the first.
[[nodiscard]] std::vector<Doubles> float64_result(const Operation& op,
                                                  const std::vector<Doubles>& inputs,
                                                  std::vector<Doubles> outputs,
                                                  const OptimizerSpec& optimizer);

}  // namespace stagewright::gpu_check
