#include "planner/lower/check_order.h"

#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "planner/lower/lower.h"
#include "planner/schedules/registry.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

const std::set<std::string_view> kRefused = {"pipedream", "pipedream-2bw"};

/// What lower() says of 8 micro-batches on 4 ranks, with the schedule's own number of stages.
Result<Schedule> lowered(const ScheduleGenerator& generator) {
  const ModelGraph model = tiny_gpt(6);
  Plan plan = plan_of(model, {.pp = 4 * generator.default_virtual_stages}, 8);
  plan.virtual_stages = generator.default_virtual_stages;
  plan.schedule = std::string(generator.name);
  return lower(model, cpu_cluster(8), plan);
}

TEST(CheckOrder, LetsInWhatCanBeLoweredAndTellsWhyNotOtherwise) {
  for (const ScheduleGenerator& generator : schedule_generators()) {
    SCOPED_TRACE(std::string(generator.name));
    const Result<Schedule> schedule = lowered(generator);
    if (!kRefused.contains(generator.name)) {
      EXPECT_TRUE(schedule) << schedule.error().to_string();
      continue;
    }
    ASSERT_FALSE(schedule);
    EXPECT_EQ(schedule.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(schedule.error().where, "plan:/schedule");
    EXPECT_NE(schedule.error().message.find(generator.name), std::string::npos);
  }
}

TEST(CheckOrder, NamesTheObstacle) {
  EXPECT_EQ(
      lowered(find_schedule("pipedream").value()).error().message,
      "schedule 'pipedream' changes weights while micro-batches are under way, which cannot be "
      "lowered to a program yet; it can be listed, emitted and checked; '1f1b', "
      "'interleaved-1f1b' or 'zb-h1' can be lowered");
}

}  // namespace
}  // namespace stagewright
