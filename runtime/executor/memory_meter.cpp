#include "runtime/executor/memory_meter.h"

#include <algorithm>

#include "core/base/check.h"

namespace stagewright {

MemoryMeter::MemoryMeter(const RankPlan& plan) : plan_(plan), taken_(plan.lifetimes.size()) {
  for (std::size_t i = 0; i < plan.lifetimes.size(); ++i) {
    if (!plan.lifetimes[i].micro_batch) {
      take(std::array{OperandPlace{i, 0, 0}});
    }
  }
}

std::size_t MemoryMeter::class_of(std::size_t lifetime) const {
  const TensorId tensor = plan_.lifetimes[lifetime].tensor;
  return static_cast<std::size_t>(plan_.program->tensors[tensor.index()].tensor_class);
}

bool MemoryMeter::take(std::span<const OperandPlace> operands) {
  bool changed = false;
  for (const OperandPlace& operand : operands) {
    if (taken_[operand.lifetime] != 0) {
      continue;
    }
    taken_[operand.lifetime] = 1;
    changed = true;
    const Bytes bytes = plan_.lifetimes[operand.lifetime].bytes;
    const std::size_t tag = class_of(operand.lifetime);
    live_[tag] += bytes;
    total_ += bytes;
    peaks_.by_class[tag] = std::max(peaks_.by_class[tag], live_[tag]);
    peaks_.total = std::max(peaks_.total, total_);
  }
  return changed;
}

bool MemoryMeter::take(const Instruction& instruction) {
  const bool inputs = take(instruction.inputs);
  return take(instruction.outputs) || inputs;
}

bool MemoryMeter::release(const Instruction& instruction) {
  for (const std::size_t lifetime : instruction.released) {
    SW_CHECK(taken_[lifetime] != 0, "only what was taken is given back");
    taken_[lifetime] = 0;
    const Bytes bytes = plan_.lifetimes[lifetime].bytes;
    live_[class_of(lifetime)] -= bytes;
    total_ -= bytes;
  }
  return !instruction.released.empty();
}

}  // namespace stagewright
