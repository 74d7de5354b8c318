#include "runtime/compute/widened_operands.h"

#include <algorithm>
#include <cstdint>

#include "core/base/check.h"

namespace stagewright {

namespace {

[[nodiscard]] bool any_narrow(std::span<const OperandType> types) {
  return std::ranges::any_of(types, [](const OperandType& type) { return is_narrow(type.type); });
}

}  // namespace

bool is_narrow(DType type) {
  return type == DType::kBFloat16 || type == DType::kFloat16;
}

bool WidenedOperands::needed(const BoundOperation& bound) {
  return any_narrow(bound.input_types) || any_narrow(bound.output_types);
}

BoundOperation WidenedOperands::widen(const BoundOperation& bound) {
  SW_CHECK(bound.input_types.size() == bound.inputs.size() &&
               bound.output_types.size() == bound.outputs.size(),
           "a type for every operand");
  copies_.clear();
  inputs_.assign(bound.inputs.begin(), bound.inputs.end());
  outputs_.assign(bound.outputs.begin(), bound.outputs.end());
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (is_narrow(bound.input_types[i].type)) {
      inputs_[i] = copy_of(inputs_[i], bound.input_types[i], true, false);
    }
  }
  const bool read = reads_outputs(*bound.operation);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (is_narrow(bound.output_types[i].type)) {
      outputs_[i] = copy_of(outputs_[i], bound.output_types[i], read, true);
    }
  }
  BoundOperation widened = bound;
  widened.inputs = inputs_;
  widened.outputs = outputs_;
  return widened;
}

void* WidenedOperands::copy_of(void* place, const OperandType& type, bool read, bool written) {
  const auto found = std::ranges::find(copies_, place, &Copy::place);
  if (found != copies_.end()) {
    SW_CHECK(found->type.elements == type.elements, "one operand named twice");
    found->written = found->written || written;
    return found->wide;
  }
  float* const wide = kernels_.wide_buffer(copies_.size(), type.elements);
  copies_.push_back({place, type, wide, written});
  if (read) {
    const auto* narrow = static_cast<const std::uint16_t*>(place);
    if (type.type == DType::kBFloat16) {
      kernels_.convert(kernels::FromBFloat16{narrow, wide}, type.elements);
    } else {
      kernels_.convert(kernels::FromFloat16{narrow, wide}, type.elements);
    }
  }
  return wide;
}

void WidenedOperands::narrow() {
  for (const Copy& copy : copies_) {
    if (!copy.written) {
      continue;
    }
    auto* narrow = static_cast<std::uint16_t*>(copy.place);
    if (copy.type.type == DType::kBFloat16) {
      kernels_.convert(kernels::ToBFloat16{copy.wide, narrow}, copy.type.elements);
    } else {
      kernels_.convert(kernels::ToFloat16{copy.wide, narrow}, copy.type.elements);
    }
  }
}

}  // namespace stagewright
