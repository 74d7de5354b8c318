#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/result.h"
#include "core/plan/optimizer.h"
#include "core/schedule/operation.h"

namespace stagewright {

/// An operation whose operands have been found.
struct BoundOperation {
  const Operation* operation = nullptr;
  std::span<void* const> inputs;   ///< in the order of OpKind
  std::span<void* const> outputs;  ///< in the order of OpKind
  std::int64_t slice_begin = 0;    ///< of Operation::slice, on this rank
  std::int64_t slice_end = 0;
};

/// What changes from one optimizer step to the next.
struct StepConstants {
  std::int64_t number = 1;  ///< of the update, from 1: of the step, unless a step has several
  OptimizerSpec optimizer;
};

/// Computes: runs one operation of a stage program.  One per rank, used by the rank's thread.
/// Collectives are not its business.
class ComputeDevice {
 public:
  ComputeDevice() = default;
  ComputeDevice(const ComputeDevice&) = delete;
  ComputeDevice& operator=(const ComputeDevice&) = delete;
  virtual ~ComputeDevice() = default;

  /// Canonical name of the device type: "cpu".
  [[nodiscard]] virtual std::string_view name() const = 0;

  /// Whether it has a kernel: kUnsupported, naming what is missing, otherwise.
  [[nodiscard]] virtual Result<void> check(const Operation& operation) const = 0;

  /// Runs it.  REQUIRES: check() passed; operands of the documented sizes.
  /// Throws BackendError if the device fails.
  virtual void execute(const BoundOperation& bound, const StepConstants& step) = 0;
};

}  // namespace stagewright
