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
#include "runtime/compute/widened_operands.h"
#include "runtime/executor/local_parameter.h"

namespace stagewright {

namespace {

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

/// The bytes of a tensor of the given type that holds the values, rounded to the nearest.
[[nodiscard]] std::vector<std::byte> stored(std::span<const float> values, DType type) {
  const auto count = static_cast<std::int64_t>(values.size());
  std::vector<std::uint16_t> narrow(is_narrow(type) ? values.size() : 0);
  if (type == DType::kBFloat16) {
    kernels::convert(kernels::ToBFloat16{values.data(), narrow.data()}, count);
  } else if (type == DType::kFloat16) {
    kernels::convert(kernels::ToFloat16{values.data(), narrow.data()}, count);
  } else {
    SW_CHECK(type == DType::kFloat32 || type == DType::kTf32, "weights in fp32, bf16 or fp16");
  }
  const auto bytes = is_narrow(type) ? std::as_bytes(std::span(narrow)) : std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

void initialize_parameters(const Schedule& schedule,
                           const RankPlan& plan,
                           std::uint64_t seed,
                           const ArenaWriter& write) {
  const RankBinding& binding = schedule.ranks[plan.rank.index()];
  for (const ParameterSlice& parameter : plan.program->parameters) {
    const LocalMatrix local = local_matrix(parameter, binding);
    std::vector<float> values(static_cast<std::size_t>(local.elements()));
    fill(parameter, local, seed, values.data());
    const LocalRange part = local_range(parameter, binding, local);
    std::vector<TensorId> versions = parameter.other_versions;
    versions.push_back(parameter.weight);
    for (const TensorId version : versions) {
      const OperandPlace place = persistent_place(plan, version);
      const DType type = plan.program->tensors[version.index()].dtype;
      const auto own = std::span<const float>(values).subspan(static_cast<std::size_t>(part.first),
                                                              static_cast<std::size_t>(part.count));
      write(place.offset + part.to * size_of(type).count(), stored(own, type));
    }
  }
}

}  // namespace stagewright
