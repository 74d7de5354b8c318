#include "planner/axes/tensor.h"

#include <functional>
#include <numeric>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/check.h"
#include "core/base/divide_up.h"

namespace stagewright {
namespace {

/// A size that a tensor degree has to divide.
struct DividedSize {
  std::string_view what;
  std::int64_t size = 0;
};

/// Heads first, since they are what usually limits the degree.
std::vector<DividedSize> divided_sizes(const ModelGraph& model) {
  std::vector<DividedSize> heads;
  std::vector<DividedSize> widths;
  for (const Layer& layer : model.layers) {
    for (const LayerOp& op : layer.ops) {
      if (op.split == Split::kNone || op.split == Split::kVocabulary) {
        continue;
      }
      if (op.kind == LayerOpKind::kAttention) {
        heads.push_back({"heads", op.heads});
        heads.push_back({"kv heads", op.kv_heads});
      } else if (op.kind == LayerOpKind::kActivation) {
        widths.push_back(
            {"columns of the feed-forward layer", layer.values[op.output->index()].width});
      }
    }
  }
  heads.insert(heads.end(), widths.begin(), widths.end());
  return heads;
}

bool is_divided(const TensorAxis& axis, const LayerOp& op) {
  return axis.degree > 1 && op.split != Split::kNone;
}

}  // namespace

std::vector<std::int32_t> tensor_degrees(const ModelGraph& model) {
  std::int64_t common = 0;
  for (const DividedSize& divided : divided_sizes(model)) {
    common = std::gcd(common, divided.size);
  }
  std::vector<std::int32_t> degrees;
  for (std::int32_t degree = 1; degree <= common; ++degree) {
    if (common % degree == 0) {
      degrees.push_back(degree);
    }
  }
  if (degrees.empty()) {
    degrees.push_back(1);
  }
  return degrees;
}

Result<void> check_tensor_degree(const ModelGraph& model,
                                 std::int32_t degree,
                                 const std::string& where) {
  if (degree > 1 && sees_images(model)) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("tp is {}, but '{}' has convolutions, which are not divided; use 1 and "
                            "divide the batch (dp) or the layers (pp)",
                            degree,
                            model.name),
                where);
  }
  for (const DividedSize& divided : divided_sizes(model)) {
    if (divided.size % degree != 0) {
      return fail(ErrorCode::kInfeasible,
                  fmt::format("tp is {}, which does not divide the {} {} of {}; tp can be {}",
                              degree,
                              divided.size,
                              divided.what,
                              model.name,
                              fmt::join(tensor_degrees(model), ", ")),
                  where);
    }
  }
  return {};
}

std::int64_t local_width(const TensorAxis& axis, const LayerValue& value) {
  return value.divided ? divide_up(value.width, axis.degree) : value.width;
}

bool rows_are_divided(const TensorAxis& axis, const LayerValue& value) {
  return axis.divides_rows && !value.divided;
}

std::int64_t local_rows(const TensorAxis& axis, const LayerValue& value, std::int64_t rows) {
  return rows_are_divided(axis, value) ? rows / axis.degree : rows;
}

std::int64_t local_heads(const TensorAxis& axis, const LayerOp& op, std::int64_t heads) {
  return op.split == Split::kNone ? heads : heads / axis.degree;
}

WeightShard shard(const TensorAxis& axis, const LayerWeight& weight) {
  SW_CHECK(!weight.parameters.empty(), "a weight of at least one parameter");
  WeightShard shard;
  if (axis.degree > 1) {
    shard.axis = weight.split_axis;
  }
  std::int64_t offset = 0;
  for (const ModelParameter& parameter : weight.parameters) {
    std::vector<std::int64_t> shape = parameter.shape;
    const auto divided = static_cast<std::size_t>(shard.axis.value_or(0));
    if (shard.axis) {
      shape[divided] = divide_up(shape[divided], axis.degree);
    }
    shard.parts.push_back({.extent = shape[divided], .offset = offset});
    offset += std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    if (shard.shape.empty()) {
      shard.shape = shape;
    } else {
      shard.shape.front() += shape.front();
    }
  }
  return shard;
}

Operation::Slice vocabulary_slice(const TensorAxis& axis, const LayerOp& op, std::int64_t total) {
  if (!is_divided(axis, op)) {
    return {.group = std::nullopt, .stride = total, .total = total};
  }
  return {.group = axis.group, .stride = divide_up(total, axis.degree), .total = total};
}

std::optional<Operation::Slice> row_slice(const TensorAxis& axis,
                                          const LayerValue& value,
                                          std::int64_t rows) {
  if (!rows_are_divided(axis, value)) {
    return std::nullopt;
  }
  return Operation::Slice{.group = axis.group, .stride = rows / axis.degree, .total = rows};
}

bool output_is_partial(const TensorAxis& axis, const LayerOp& op) {
  if (!is_divided(axis, op)) {
    return false;
  }
  switch (op.split) {
    case Split::kRow:
      return true;
    case Split::kVocabulary:
      // A vocabulary projection has its output columns divided; an embedding and a loss sum.
      return op.kind != LayerOpKind::kLinear;
    case Split::kNone:
    case Split::kColumn:
    case Split::kElementwise:
      return false;
  }
  SW_CHECK(false, "a known split");
}

bool input_gradient_is_partial(const TensorAxis& axis, const LayerOp& op) {
  if (!is_divided(axis, op)) {
    return false;
  }
  switch (op.split) {
    case Split::kColumn:
      return true;
    case Split::kVocabulary:
      return op.kind == LayerOpKind::kLinear;
    case Split::kNone:
    case Split::kRow:
    case Split::kElementwise:
      return false;
  }
  SW_CHECK(false, "a known split");
}

bool weight_gradient_is_partial(const TensorAxis& axis, const LayerOp& op) {
  return axis.divides_rows && op.split == Split::kNone;
}

}  // namespace stagewright
