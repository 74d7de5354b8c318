#pragma once

#include "runtime/compute/operands.h"
#include "runtime/compute/operation_kernels.h"

namespace stagewright {

/// Whether it chooses experts, sends rows to them and back, or works on counted rows: kRouteForward
/// to kGroupedGemm, and activations of counted rows.
[[nodiscard]] bool is_of_experts(const Operation& op);

/// Whether the host has to know the counts to run it: a product or an activation of counted rows.
[[nodiscard]] bool reads_counts(const Operation& op);

/// Runs such an operation as the kernels of a device.
void run_experts(const Operands& with, OperationKernels& on);

/// Calls `body(first row, rows, expert)` for each run of counted rows of one expert.
template <class Body>
void for_each_counted(const OpShape& shape, const std::int32_t* counts, const Body& body) {
  for (std::int64_t part = 0; part < shape.batch; ++part) {
    std::int64_t row = part * shape.sequence;
    const std::int64_t end = row + shape.sequence;
    for (std::int64_t expert = 0; expert < shape.heads; ++expert) {
      const std::int64_t counted = counts[part * shape.heads + expert];
      const std::int64_t rows = counted < end - row ? counted : end - row;
      if (rows > 0) {
        body(row, rows, expert);
        row += rows;
      }
    }
  }
}

}  // namespace stagewright
