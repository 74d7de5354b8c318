#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/cluster/cluster.h"
#include "core/schedule/schedule.h"
#include "fake_cost.h"
#include "tests/support/tiny_models.h"

namespace stagewright::test {

/// A plan that is lowered and timed in two ways.
struct PlanCase {
  const char* name;
  Degrees degrees;
  std::int32_t micro_batches = 4;
  Recompute recompute = Recompute::kNone;
  const char* schedule = "1f1b";
};
void PrintTo(const PlanCase& one, std::ostream* out);
[[nodiscard]] std::string name_of_case(const testing::TestParamInfo<PlanCase>& one);

/// Every degree alone and together, on 8 devices at the most.
[[nodiscard]] std::vector<PlanCase> plan_cases();

/// The case's plan for a model of 4 blocks, lowered.
[[nodiscard]] Result<Schedule> lowered(const PlanCase& one,
                                       const ModelGraph& model,
                                       const Cluster& cluster);

/// Prices that differ from operation to operation without any order in them.
void scatter(unsigned seed, Duration longest, FakeCost& cost);

}  // namespace stagewright::test
