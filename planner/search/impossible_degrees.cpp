#include "planner/search/impossible_degrees.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "planner/axes/tensor.h"

namespace stagewright {
namespace {

bool allows(const SpaceJob& job, std::string_view name, std::int64_t value) {
  const ValueSet* values = job.constraint(name);
  return values == nullptr || values->has(value);
}

Rejection reject(const SpaceJob& job, const PlanPoint& point, const Plan& common, std::string why) {
  const std::int32_t layers = job.layers();
  Plan plan = common;
  plan.stages = even_stages(layers, std::min(point.pp, layers), point.dp, point.tp);
  return {std::move(plan), std::move(why)};
}

}  // namespace

std::vector<Rejection> impossible_degrees(const SpaceJob& job, const Plan& common) {
  std::vector<Rejection> rejected;
  for (std::int64_t tp = 1; tp <= job.devices; ++tp) {
    if (job.devices % tp != 0 || !allows(job, "tp", tp)) {
      continue;
    }
    PlanPoint point;
    point.tp = static_cast<std::int32_t>(tp);
    if (const auto checked = check_tensor_degree(*job.model, point.tp, "tp"); !checked) {
      point.dp = static_cast<std::int32_t>(job.devices / tp);
      rejected.push_back(reject(job, point, common, checked.error().message));
      continue;
    }
    const std::int64_t most = std::min<std::int64_t>(job.layers(), job.devices / tp);
    for (std::int64_t pp = 1; pp <= most; ++pp) {
      const std::int64_t dp = job.devices / tp / pp;
      if (job.devices % (tp * pp) != 0 || !allows(job, "pp", pp) || !allows(job, "dp", dp) ||
          job.global_batch % dp == 0) {
        continue;
      }
      point.pp = static_cast<std::int32_t>(pp);
      point.dp = static_cast<std::int32_t>(dp);
      rejected.push_back(
          reject(job,
                 point,
                 common,
                 fmt::format("global batch {} is not divisible by dp {}", job.global_batch, dp)));
    }
  }
  return rejected;
}

}  // namespace stagewright
