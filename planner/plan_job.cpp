#include "planner/plan_job.h"

#include <utility>

#include "sim/cost/calibrated_cost.h"

namespace stagewright {
namespace {

/// Whose step is priced where the job names nobody's.
constexpr const char* kFramework = "stagewright";

}  // namespace

Result<StepPrices> load_step_prices(const DataFiles& files, const std::string& framework_name) {
  auto framework = find_framework(files, framework_name);
  if (!framework) {
    return pass_on(std::move(framework));
  }
  auto time = load_step_constants(files);
  if (!time) {
    return pass_on(std::move(time));
  }
  auto memory = load_memory_constants(files);
  if (!memory) {
    return pass_on(std::move(memory));
  }
  return StepPrices{*std::move(framework), *std::move(time), *std::move(memory)};
}

Result<std::unique_ptr<CostModel>> usual_costs(const DataFiles& files) {
  auto prices = load_step_prices(files, kFramework);
  if (!prices) {
    return pass_on(std::move(prices));
  }
  return make_calibrated_cost(std::move(prices->time), std::move(prices->framework));
}

Result<SearchResult> plan_job(const PlanJob& job,
                              const DataFiles& files,
                              const SearchControl& control) {
  auto prices = load_step_prices(files, kFramework);
  if (!prices) {
    return pass_on(std::move(prices));
  }
  auto constraints = parse_constraints(job.constraints);
  if (!constraints) {
    return pass_on(std::move(constraints));
  }
  const auto cost = make_calibrated_cost(prices->time, prices->framework);
  SearchRequest request;
  request.global_batch = job.global_batch;
  request.sequence =
      job.sequence > 0 ? job.sequence : static_cast<std::int32_t>(job.model.shape.max_sequence);
  request.constraints = *std::move(constraints);
  request.objective = job.objective;
  request.keep = job.plans;
  request.gap = job.gap;
  request.most_simulated = job.most_simulated;
  request.threads = job.threads;
  request.step_prices = *std::move(prices);
  if (job.cluster.types.front().name == "cpu") {
    request.precision.compute = DType::kFloat32;
  }
  return search(job.model, job.cluster, *cost, request, control);
}

}  // namespace stagewright
