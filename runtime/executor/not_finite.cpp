#include "runtime/executor/not_finite.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/compute/kernels/convert.h"

namespace stagewright {

namespace {

template <class T, class Widen>
[[nodiscard]] bool all_finite(const void* data, std::int64_t count, Widen widen) {
  const std::span elements(static_cast<const T*>(data), static_cast<std::size_t>(count));
  return std::ranges::all_of(elements, [widen](T x) { return std::isfinite(widen(x)); });
}

[[nodiscard]] bool all_finite(const void* data, const OperandType& type) {
  switch (type.type) {
    case DType::kFloat32:
    case DType::kTf32:
      return all_finite<float>(data, type.elements, [](float x) { return x; });
    case DType::kBFloat16:
      return all_finite<std::uint16_t>(
          data, type.elements, [](std::uint16_t x) { return kernels::from_bfloat16(x); });
    case DType::kFloat16:
      return all_finite<std::uint16_t>(
          data, type.elements, [](std::uint16_t x) { return kernels::from_float16(x); });
    case DType::kInt32:
    case DType::kFloat8:
      return true;
  }
  return true;
}

}  // namespace

std::optional<std::size_t> first_not_finite(const RankProgram& program,
                                            const BoundOperation& bound,
                                            ComputeDevice& device) {
  // Masked scores may be infinite, and behind counted rows lies nothing that counts: where they are
  // joined again shows what was among them.
  if (bound.operation->kind == OpKind::kLossRowMax || writes_counted_rows(*bound.operation)) {
    return std::nullopt;
  }
  std::vector<std::byte> content;
  for (std::size_t i = 0; i < bound.outputs.size(); ++i) {
    const TensorSpec& tensor = program.tensors[bound.operation->outputs[i].index()];
    if (tensor.tensor_class == TensorClass::kWorkspace) {
      continue;
    }
    const OperandType& type = bound.output_types[i];
    content.resize(static_cast<std::size_t>((type.elements * size_of(type.type)).count()));
    device.download(content, bound.outputs[i]);
    if (!all_finite(content.data(), type)) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace stagewright
