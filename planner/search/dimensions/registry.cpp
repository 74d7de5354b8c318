#include "planner/search/dimensions/registry.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/suggest.h"

namespace stagewright {

std::span<const Dimension> dimensions() {
  static const std::array kDimensions{
      tensor_dimension(),
      pipeline_dimension(),
      context_dimension(),
      expert_dimension(),
      expert_tensor_dimension(),
      data_dimension(),
      devices_dimension(),
      micro_batch_dimension(),
      micro_batches_dimension(),
      sequence_parallel_dimension(),
      recompute_dimension(),
      recompute_layers_dimension(),
      virtual_stages_dimension(),
      schedule_dimension(),
      cut_dimension(),
      rank_order_dimension(),
      zero_dimension(),
      shard_group_dimension(),
      bucket_dimension(),
      transfer_dimension(),
  };
  return kDimensions;
}

Result<const Dimension*> find_dimension(std::string_view name) {
  const auto all = dimensions();
  const auto found = std::ranges::find(all, name, &Dimension::name);
  if (found != all.end()) {
    return &*found;
  }
  std::vector<std::string_view> names;
  for (const Dimension& dimension : all) {
    names.push_back(dimension.name);
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("there is no dimension '{}'{}", name, suggestion(name, names)));
}

std::string value_text(const Dimension& dimension, std::int64_t value) {
  const std::vector<std::string_view> words = dimension.words();
  if (value >= 0 && static_cast<std::size_t>(value) < words.size()) {
    return std::string(words[static_cast<std::size_t>(value)]);
  }
  return fmt::to_string(value);
}

bool executable(const PlanPoint& point) {
  return std::ranges::all_of(dimensions(), [&](const Dimension& dimension) {
    return dimension.executable == nullptr || dimension.executable(point);
  });
}

bool closed_form_point(const PlanPoint& point) {
  return point.cp > 1 || point.ep > 1 || point.expert_tp > 1;
}

}  // namespace stagewright
