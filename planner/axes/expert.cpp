#include "planner/axes/expert.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"

namespace stagewright {

std::int64_t expert_count(const ModelGraph& model) {
  for (const Layer& layer : model.layers) {
    for (const LayerOp& op : layer.ops) {
      if (op.kind == LayerOpKind::kExperts) {
        return layer.values[op.inputs.back().index()].width;
      }
    }
  }
  return 0;
}

Result<void> check_expert_degree(const ModelGraph& model, const Plan& plan) {
  const std::int64_t experts = expert_count(model);
  if (experts == 0 && plan.ep > 1) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("ep is {}, but '{}' has no experts; use 1", plan.ep, model.name),
                "plan:/ep");
  }
  const std::int64_t ranks = std::int64_t{plan.stages.front().dp} * plan.cp;
  if (plan.ep > 1 && (experts % plan.ep != 0 || ranks % plan.ep != 0)) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("ep is {}; it must divide the {} experts of '{}' and the dp {} x cp {} "
                            "ranks that share them",
                            plan.ep,
                            experts,
                            model.name,
                            plan.stages.front().dp,
                            plan.cp),
                "plan:/ep");
  }
  return {};
}

WeightShard shard(const ExpertAxis& axis, const LayerWeight& weight) {
  SW_CHECK(weight.by_expert, "matrices of experts");
  LayerWeight divided = weight;
  divided.split_axis = 0;
  return shard(TensorAxis{.degree = axis.degree, .group = axis.group}, divided);
}

CountedRows counted_rows(const ExpertAxis& axis,
                         std::int64_t experts,
                         std::int64_t experts_per_token,
                         std::int64_t rows) {
  const std::int64_t own = experts / axis.degree;
  return {.parts = axis.degree,
          .experts = own,
          .largest = rows * std::min(experts_per_token, own),
          .expected = rows * experts_per_token};
}

}  // namespace stagewright
