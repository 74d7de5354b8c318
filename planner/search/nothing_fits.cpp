#include "planner/search/nothing_fits.h"

#include <algorithm>

#include <fmt/format.h>

namespace stagewright {

Error nothing_fits(const WalkJob& job,
                   const SearchResult& result,
                   const std::optional<Leaf>& nearest_miss,
                   const std::optional<std::string>& without_price) {
  if (nearest_miss) {
    const Estimate& estimate = nearest_miss->estimate;
    const Bytes context = job.closed_form.context;
    const PlanPoint& point = nearest_miss->point;
    const std::string place = fmt::format("tp {}, pp {}, dp {}, micro-batches of {}",
                                          point.tp,
                                          point.pp,
                                          point.dp,
                                          point.micro_batch_size);
    return {ErrorCode::kInfeasible,
            fmt::format("out of memory: none of {} points fits; the nearest ({}) needs at least {} "
                        "on its fullest stage (parameters, gradients and optimizer {}, activations "
                        "and loss {}), {} are usable beside {} of context and libraries; use more "
                        "devices, devices with more memory, or a shorter sequence{}",
                        result.space.size,
                        place,
                        to_string(estimate.bound.memory - context),
                        to_string(estimate.state),
                        to_string(estimate.bound.memory - context - estimate.state),
                        to_string(std::max(job.closed_form.capacity, Bytes{})),
                        to_string(context),
                        job.space->constraints.empty() ? "" : ", or free a constraint"),
            {}};
  }
  // Without a plan that was tried only degrees stand there that the model or the batch do not
  // allow.
  if (!result.rejected.empty() && (result.simulated > 0 || !without_price)) {
    return {ErrorCode::kInfeasible,
            fmt::format("none of {} points can be used: {}; use more devices, devices with more "
                        "memory, or a shorter sequence",
                        result.space.size,
                        result.rejected.back().reason),
            {}};
  }
  return {ErrorCode::kInfeasible,
          fmt::format("none of {} points can be used: {}",
                      result.space.size,
                      without_price.value_or("lowering executes none of them, and nothing that "
                                             "is priced in closed form fits")),
          {}};
}

}  // namespace stagewright
