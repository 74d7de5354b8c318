#include "runtime/compute/widened_operands.h"

#include <algorithm>
#include <cstdint>

#include "core/base/check.h"
#include "runtime/compute/kernels/convert.h"

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
    return buffers_[found->buffer].data();
  }
  const std::size_t index = copies_.size();
  copies_.push_back({place, type, index, written});
  if (buffers_.size() <= index) {
    buffers_.emplace_back();
  }
  std::vector<float>& buffer = buffers_[index];
  if (static_cast<std::int64_t>(buffer.size()) < type.elements) {
    buffer.resize(static_cast<std::size_t>(type.elements));
  }
  if (read) {
    const auto* narrow = static_cast<const std::uint16_t*>(place);
    if (type.type == DType::kBFloat16) {
      kernels::convert(kernels::FromBFloat16{narrow, buffer.data()}, type.elements);
    } else {
      kernels::convert(kernels::FromFloat16{narrow, buffer.data()}, type.elements);
    }
  }
  return buffer.data();
}

void WidenedOperands::narrow() {
  for (const Copy& copy : copies_) {
    if (!copy.written) {
      continue;
    }
    auto* narrow = static_cast<std::uint16_t*>(copy.place);
    const float* wide = buffers_[copy.buffer].data();
    if (copy.type.type == DType::kBFloat16) {
      kernels::convert(kernels::ToBFloat16{wide, narrow}, copy.type.elements);
    } else {
      kernels::convert(kernels::ToFloat16{wide, narrow}, copy.type.elements);
    }
  }
}

}  // namespace stagewright
