#include "runtime/executor/local_parameter.h"

#include <algorithm>
#include <vector>

#include "core/base/check.h"

namespace stagewright {

LocalMatrix local_matrix(const ParameterSlice& parameter, const RankBinding& binding) {
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

LocalRange local_range(const ParameterSlice& parameter,
                       const RankBinding& binding,
                       const LocalMatrix& local) {
  const std::int64_t offset = parameter.weight_offset;
  const std::int64_t elements = local.elements();
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

}  // namespace stagewright
