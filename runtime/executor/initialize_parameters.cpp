#include "runtime/executor/initialize_parameters.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "core/base/hash.h"
#include "runtime/compute/kernels/convert.h"
#include "runtime/compute/kernels/random.h"

namespace stagewright {

namespace {

/// The part of a parameter that lies here, as a matrix (a vector is one row).
struct LocalMatrix {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t row_pitch = 1;  ///< elements from one row in memory to the next
  kernels::TensorSlice slice{.global_width = 1};
};

[[nodiscard]] LocalMatrix local_matrix(const ParameterSlice& parameter,
                                       const RankBinding& binding) {
  const std::vector<std::int64_t>& shape = parameter.global_shape;
  SW_CHECK(shape.size() == 1 || shape.size() == 2, "parameters of one or two dimensions");
  LocalMatrix local;
  local.rows = shape.size() == 2 ? shape[0] : 1;
  local.columns = shape.back();
  local.row_pitch = local.columns;
  local.slice.global_width = local.columns;
  if (!parameter.shard_axis) {
    return local;
  }
  SW_CHECK(parameter.shard_group, "a sharded parameter that names its group");
  const std::int64_t first = binding.positions[parameter.shard_group->index()] * parameter.extent;
  if (shape.size() == 2 && *parameter.shard_axis == 0) {
    local.rows = std::clamp<std::int64_t>(shape[0] - first, 0, parameter.extent);
    local.slice.first_row = first;
  } else {
    local.columns = std::clamp<std::int64_t>(shape.back() - first, 0, parameter.extent);
    local.row_pitch = parameter.extent;
    local.slice.first_column = first;
  }
  return local;
}

/// The first 64 bits of the hash of a name.
[[nodiscard]] std::uint64_t stream_of(const std::string& name) {
  return std::stoull(content_hash(name).substr(0, 16), nullptr, 16);
}

void fill(const ParameterSlice& parameter,
          const LocalMatrix& local,
          std::uint64_t seed,
          float* to) {
  const std::string& name = parameter.tied_to ? *parameter.tied_to : parameter.name;
  for (std::int64_t row = 0; row < local.rows; ++row) {
    float* y = to + row * local.row_pitch;
    switch (parameter.initializer) {
      case Initializer::kZeros:
        std::fill_n(y, local.columns, 0.0F);
        break;
      case Initializer::kOnes:
        std::fill_n(y, local.columns, 1.0F);
        break;
      case Initializer::kNormal:
        kernels::fill_normal({.y = y,
                              .rows = 1,
                              .width = local.columns,
                              .slice = {.first_row = local.slice.first_row + row,
                                        .first_column = local.slice.first_column,
                                        .global_width = local.slice.global_width},
                              .deviation = parameter.deviation,
                              .seed = seed,
                              .stream = stream_of(name)});
        break;
    }
  }
}

/// Where elements of a parameter go, and which of them.
struct Part {
  std::int64_t to = 0;     ///< in the weight's tensor
  std::int64_t first = 0;  ///< in the slice
  std::int64_t count = 0;
};

/// Of a slice that begins at weight_offset of all members' tensors together, what lies here.
[[nodiscard]] Part part_here(const ParameterSlice& parameter,
                             const RankBinding& binding,
                             std::int64_t elements) {
  const std::int64_t offset = parameter.weight_offset;
  if (!parameter.flat_shard) {
    return {.to = offset, .first = 0, .count = elements};
  }
  const std::int64_t stride = parameter.flat_shard->stride;
  const std::int64_t begin = binding.positions[parameter.flat_shard->group.index()] * stride;
  const std::int64_t first = std::max(begin, offset);
  const std::int64_t last = std::min(begin + stride, offset + elements);
  if (first >= last) {
    return {};
  }
  return {.to = first - begin, .first = first - offset, .count = last - first};
}

/// Writes values into a tensor of the given type, rounded to the nearest.
void store(std::span<const float> values, DType type, std::byte* to) {
  const auto count = static_cast<std::int64_t>(values.size());
  auto* narrow = reinterpret_cast<std::uint16_t*>(to);
  switch (type) {
    case DType::kFloat32:
    case DType::kTf32:
      std::ranges::copy(values, reinterpret_cast<float*>(to));
      return;
    case DType::kBFloat16:
      return kernels::convert(kernels::ToBFloat16{values.data(), narrow}, count);
    case DType::kFloat16:
      return kernels::convert(kernels::ToFloat16{values.data(), narrow}, count);
    case DType::kFloat8:
    case DType::kInt32:
      break;
  }
  SW_CHECK(false, "weights in fp32, bf16 or fp16");
}

}  // namespace

void initialize_parameters(const Schedule& schedule,
                           const RankPlan& plan,
                           std::uint64_t seed,
                           std::span<std::byte> arena) {
  const RankBinding& binding = schedule.ranks[plan.rank.index()];
  for (const ParameterSlice& parameter : plan.program->parameters) {
    const LocalMatrix local = local_matrix(parameter, binding);
    std::vector<float> values(static_cast<std::size_t>(local.rows * local.row_pitch));
    fill(parameter, local, seed, values.data());
    const Part part = part_here(parameter, binding, static_cast<std::int64_t>(values.size()));
    std::vector<TensorId> versions = parameter.other_versions;
    versions.push_back(parameter.weight);
    for (const TensorId version : versions) {
      const OperandPlace place = persistent_place(plan, version);
      const DType type = plan.program->tensors[version.index()].dtype;
      store(std::span(values).subspan(static_cast<std::size_t>(part.first),
                                      static_cast<std::size_t>(part.count)),
            type,
            arena.data() + place.offset + part.to * size_of(type).count());
    }
  }
}

}  // namespace stagewright
