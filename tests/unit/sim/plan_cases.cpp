#include "plan_cases.h"

#include <functional>
#include <ostream>
#include <random>

#include "planner/lower/lower.h"

namespace stagewright::test {

void PrintTo(const PlanCase& one, std::ostream* out) {
  *out << one.name;
}

std::string name_of_case(const testing::TestParamInfo<PlanCase>& one) {
  return one.param.name;
}

std::vector<PlanCase> plan_cases() {
  return {{"one", {}},
          {"dp2", {.dp = 2}},
          {"tp2", {.tp = 2}},
          {"pp2", {.pp = 2}},
          {"pp2gpipe", {.pp = 2}, 6, Recompute::kNone, "gpipe"},
          {"pp4", {.pp = 4}, 7},
          {"dp2tp2pp2", {.dp = 2, .tp = 2, .pp = 2}, 3},
          {"full", {.tp = 2, .pp = 2}, 4, Recompute::kFull}};
}

Result<Schedule> lowered(const PlanCase& one, const ModelGraph& model, const Cluster& cluster) {
  Plan plan = plan_of(model, one.degrees, one.micro_batches);
  plan.schedule = one.schedule;
  for (StagePlan& stage : plan.stages) {
    stage.recompute = one.recompute;
  }
  return lower(model, cluster, plan);
}

void scatter(unsigned seed, Duration longest, FakeCost& cost) {
  cost.compute = [seed, longest](const Operation& op) {
    const std::size_t mixed = std::hash<std::string>{}(cost_key(op) + std::to_string(seed));
    return Duration(static_cast<std::int64_t>(mixed % static_cast<std::size_t>(longest.count())));
  };
  std::mt19937 random(seed);
  std::uniform_int_distribution<std::int64_t> time(1, longest.count());
  cost.collective_time = Duration(time(random));
  // Every second time longer than most phases, so that sends hold up what follows them.
  cost.transfer_time = Duration(time(random)) * (seed % 2 == 0 ? 60 : 1);
}

}  // namespace stagewright::test
