#include "cudnn_graph_standin.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "runtime/compute/kernels/convert.h"

namespace standin {

namespace {

namespace kernels = stagewright::kernels;
using Index = std::array<std::int64_t, 4>;

[[nodiscard]] std::size_t size_of(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_BFLOAT16:
    case CUDNN_DATA_HALF:
      return 2;
    case CUDNN_DATA_BOOLEAN:
      return 1;
    default:
      return 4;
  }
}

[[nodiscard]] float rounded(cudnnDataType_t type, float value) {
  switch (type) {
    case CUDNN_DATA_BFLOAT16:
      return kernels::from_bfloat16(kernels::to_bfloat16(value));
    case CUDNN_DATA_HALF:
      return kernels::from_float16(kernels::to_float16(value));
    default:
      return value;
  }
}

/// Where the elements of a tensor are while a graph is computed.
class Values {
 public:
  Values(const std::vector<GraphOperation>& operations, const std::map<std::int64_t, void*>& places)
      : places_(places) {
    for (const GraphOperation& operation : operations) {
      if (operation.output.passing) {
        passing_[operation.output.id].assign(static_cast<std::size_t>(operation.output.extent()),
                                             0.0F);
      }
    }
  }

  /// Dimensions of one element are the same for all indices.
  [[nodiscard]] float read(const GraphTensor& tensor, const Index& at) const {
    const auto i = static_cast<std::size_t>(offset(tensor, at));
    if (tensor.passing) {
      return passing_.at(tensor.id)[i];
    }
    const void* data = places_.at(tensor.id);
    switch (tensor.type) {
      case CUDNN_DATA_BFLOAT16:
        return kernels::from_bfloat16(static_cast<const std::uint16_t*>(data)[i]);
      case CUDNN_DATA_HALF:
        return kernels::from_float16(static_cast<const std::uint16_t*>(data)[i]);
      default:
        return static_cast<const float*>(data)[i];
    }
  }

  void write(const GraphTensor& tensor, const Index& at, float value) {
    const auto i = static_cast<std::size_t>(offset(tensor, at));
    if (tensor.passing) {
      passing_.at(tensor.id)[i] = rounded(tensor.type, value);
      return;
    }
    void* data = places_.at(tensor.id);
    switch (tensor.type) {
      case CUDNN_DATA_BFLOAT16:
        static_cast<std::uint16_t*>(data)[i] = kernels::to_bfloat16(value);
        return;
      case CUDNN_DATA_HALF:
        static_cast<std::uint16_t*>(data)[i] = kernels::to_float16(value);
        return;
      default:
        static_cast<float*>(data)[i] = value;
    }
  }

  /// Puts x's elements where they lie in memory into y, which has the same places.
  void reorder(const GraphTensor& x, const GraphTensor& y) {
    std::vector<float>& to = passing_.at(y.id);
    for_each(x.sizes, [&](const Index& at) {
      to[static_cast<std::size_t>(x.strides[0] * at[0] + x.strides[1] * at[1] +
                                  x.strides[2] * at[2] + x.strides[3] * at[3])] =
          rounded(y.type, read(x, at));
    });
  }

  static void for_each(const Index& sizes, const std::function<void(const Index&)>& body) {
    Index at{};
    for (at[0] = 0; at[0] < sizes[0]; ++at[0]) {
      for (at[1] = 0; at[1] < sizes[1]; ++at[1]) {
        for (at[2] = 0; at[2] < sizes[2]; ++at[2]) {
          for (at[3] = 0; at[3] < sizes[3]; ++at[3]) {
            body(at);
          }
        }
      }
    }
  }

 private:
  [[nodiscard]] static std::int64_t offset(const GraphTensor& tensor, const Index& at) {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      offset += tensor.sizes[i] == 1 ? 0 : tensor.strides[i] * at[i];
    }
    return offset;
  }

  const std::map<std::int64_t, void*>& places_;
  std::map<std::int64_t, std::vector<float>> passing_;
};

[[nodiscard]] float apply(const GraphOperation& operation, const Index& at, const Values& values) {
  const auto in = [&](std::size_t i) { return values.read(operation.inputs[i], at); };
  switch (operation.mode) {
    case CUDNN_POINTWISE_ADD:
      return in(0) + in(1);
    case CUDNN_POINTWISE_SUB:
      return in(0) - in(1);
    case CUDNN_POINTWISE_MUL:
      return in(0) * in(1);
    case CUDNN_POINTWISE_DIV:
      return in(0) / in(1);
    case CUDNN_POINTWISE_EXP:
      return std::exp(in(0));
    case CUDNN_POINTWISE_LOG:
      return std::log(in(0));
    case CUDNN_POINTWISE_IDENTITY:
      return in(0);
    case CUDNN_POINTWISE_CMP_GE:
      return in(0) >= in(1) ? 1.0F : 0.0F;
    case CUDNN_POINTWISE_BINARY_SELECT:
      return in(2) != 0.0F ? in(0) : in(1);
    case CUDNN_POINTWISE_GEN_INDEX:
      return static_cast<float>(at[static_cast<std::size_t>(operation.axis)]);
    default:
      return std::numeric_limits<float>::quiet_NaN();  // refused by objection()
  }
}

[[nodiscard]] bool is_known(cudnnPointwiseMode_t mode) {
  static const std::set<int> kKnown = {CUDNN_POINTWISE_ADD,
                                       CUDNN_POINTWISE_SUB,
                                       CUDNN_POINTWISE_MUL,
                                       CUDNN_POINTWISE_DIV,
                                       CUDNN_POINTWISE_EXP,
                                       CUDNN_POINTWISE_LOG,
                                       CUDNN_POINTWISE_IDENTITY,
                                       CUDNN_POINTWISE_CMP_GE,
                                       CUDNN_POINTWISE_BINARY_SELECT,
                                       CUDNN_POINTWISE_GEN_INDEX};
  return kKnown.contains(mode);
}

/// Operands of a pointwise operation.
[[nodiscard]] std::size_t operands_of(cudnnPointwiseMode_t mode) {
  switch (mode) {
    case CUDNN_POINTWISE_EXP:
    case CUDNN_POINTWISE_LOG:
    case CUDNN_POINTWISE_IDENTITY:
    case CUDNN_POINTWISE_GEN_INDEX:
      return 1;
    case CUDNN_POINTWISE_BINARY_SELECT:
      return 3;
    default:
      return 2;
  }
}

void multiply(const GraphOperation& operation, Values& values) {
  const GraphTensor& a = operation.inputs[0];
  const GraphTensor& b = operation.inputs[1];
  const GraphTensor& c = operation.output;
  Values::for_each(c.sizes, [&](const Index& at) {
    float sum = 0.0F;
    for (std::int64_t k = 0; k < a.sizes[3]; ++k) {
      const std::int64_t shared = at[1] * b.sizes[1] / c.sizes[1];
      sum += values.read(a, {at[0], at[1], at[2], k}) * values.read(b, {at[0], shared, k, at[3]});
    }
    values.write(c, at, sum);
  });
}

void reduce(const GraphOperation& operation, Values& values) {
  const GraphTensor& x = operation.inputs[0];
  const GraphTensor& y = operation.output;
  const bool adds = operation.reduction == CUDNN_REDUCE_TENSOR_ADD;
  std::map<Index, float> sums;
  Values::for_each(x.sizes, [&](const Index& at) {
    Index to{};
    for (std::size_t i = 0; i < to.size(); ++i) {
      to[i] = at[i] * y.sizes[i] / x.sizes[i];
    }
    const float value = values.read(x, at);
    const auto [found, is_new] = sums.emplace(to, value);
    if (!is_new) {
      found->second = adds ? found->second + value : std::max(found->second, value);
    }
  });
  for (const auto& [at, sum] : sums) {
    values.write(y, at, sum);
  }
}

[[nodiscard]] std::string objection_to_product(const GraphOperation& operation) {
  const GraphTensor& a = operation.inputs[0];
  const GraphTensor& b = operation.inputs[1];
  const GraphTensor& c = operation.output;
  if (a.sizes[0] != c.sizes[0] || b.sizes[0] != c.sizes[0] || a.sizes[1] != c.sizes[1] ||
      c.sizes[1] % b.sizes[1] != 0 || a.sizes[2] != c.sizes[2] || b.sizes[3] != c.sizes[3] ||
      a.sizes[3] != b.sizes[2]) {
    return "a product of matrices that do not fit";
  }
  if (a.type != b.type || (a.type != CUDNN_DATA_BFLOAT16 && a.type != CUDNN_DATA_HALF)) {
    return "a product of operands that are not 16 bits wide alike";
  }
  return {};
}

[[nodiscard]] std::string objection_to_pointwise(const GraphOperation& operation) {
  if (!is_known(operation.mode) || operation.inputs.size() != operands_of(operation.mode)) {
    return fmt::format("a pointwise operation {} of {} operands",
                       static_cast<int>(operation.mode),
                       operation.inputs.size());
  }
  for (const GraphTensor& input : operation.inputs) {
    for (std::size_t i = 0; i < input.sizes.size(); ++i) {
      if (input.sizes[i] != operation.output.sizes[i] && input.sizes[i] != 1) {
        return "a pointwise operation of tensors that do not fit";
      }
    }
  }
  const bool compares = operation.mode == CUDNN_POINTWISE_CMP_GE;
  if (compares != (operation.output.type == CUDNN_DATA_BOOLEAN)) {
    return "a comparison whose result is not boolean, or a boolean that is none";
  }
  return {};
}

}  // namespace

std::int64_t GraphTensor::extent() const {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
}

std::size_t GraphTensor::bytes() const {
  return static_cast<std::size_t>(extent()) * size_of(type);
}

std::string objection(const GraphOperation& operation) {
  switch (operation.kind) {
    case GraphOperationKind::kMatmul:
      return objection_to_product(operation);
    case GraphOperationKind::kPointwise:
      return objection_to_pointwise(operation);
    case GraphOperationKind::kReduction:
      for (std::size_t i = 0; i < operation.output.sizes.size(); ++i) {
        if (operation.inputs[0].sizes[i] % operation.output.sizes[i] != 0) {
          return "a reduction of a size that its result's does not divide";
        }
      }
      return {};
    case GraphOperationKind::kReshape:
      return operation.inputs[0].elements() == operation.output.elements() &&
                     operation.inputs[0].extent() == operation.output.extent() &&
                     operation.output.passing
                 ? ""
                 : "a reshape into a tensor of other elements";
  }
  return "an unknown operation";
}

std::string objection(const std::vector<GraphOperation>& operations) {
  for (const GraphOperation& operation : operations) {
    if (operation.output.extent() < operation.output.elements()) {
      return fmt::format("elements of tensor {} lie over each other", operation.output.id);
    }
  }
  std::set<std::int64_t> written;
  std::set<std::int64_t> read;
  for (const GraphOperation& operation : operations) {
    for (const GraphTensor& input : operation.inputs) {
      if (input.passing && !written.contains(input.id)) {
        return fmt::format("tensor {} is read before it is written", input.id);
      }
      read.insert(input.id);
    }
    const GraphTensor& output = operation.output;
    if (output.by_value || (read.contains(output.id) && !written.contains(output.id)) ||
        !written.insert(output.id).second) {
      return fmt::format("tensor {} is written twice, or after it was read", output.id);
    }
  }
  for (const GraphOperation& operation : operations) {
    if (operation.output.passing && !read.contains(operation.output.id)) {
      return fmt::format("nobody reads tensor {}, and it is not in memory", operation.output.id);
    }
  }
  return {};
}

void compute(const std::vector<GraphOperation>& operations,
             const std::map<std::int64_t, void*>& places) {
  Values values(operations, places);
  for (const GraphOperation& operation : operations) {
    switch (operation.kind) {
      case GraphOperationKind::kMatmul:
        multiply(operation, values);
        break;
      case GraphOperationKind::kPointwise:
        Values::for_each(operation.output.sizes, [&](const Index& at) {
          values.write(operation.output, at, apply(operation, at, values));
        });
        break;
      case GraphOperationKind::kReduction:
        reduce(operation, values);
        break;
      case GraphOperationKind::kReshape:
        values.reorder(operation.inputs[0], operation.output);
        break;
    }
  }
}

}  // namespace standin
