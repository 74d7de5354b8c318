#include "core/schedule/tensor.h"

#include <functional>
#include <numeric>

#include "core/base/check.h"

namespace stagewright {

std::string_view name_of(TensorClass tensor_class) {
  switch (tensor_class) {
    case TensorClass::kParameter:
      return "parameter";
    case TensorClass::kGradient:
      return "gradient";
    case TensorClass::kOptimizer:
      return "optimizer";
    case TensorClass::kActivation:
      return "activation";
    case TensorClass::kWorkspace:
      return "workspace";
    case TensorClass::kCommunication:
      return "communication";
    case TensorClass::kInput:
      return "input";
  }
  SW_CHECK(false, "a known tensor class");
}

std::int64_t TensorSpec::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

Bytes TensorSpec::bytes() const {
  return elements() * size_of(dtype);
}

}  // namespace stagewright
