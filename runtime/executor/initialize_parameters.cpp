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
    std::vector<float> values(static_cast<std::size_t>(local.elements()));
    fill(parameter, local, seed, values.data());
    const LocalRange part = local_range(parameter, binding, local);
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
