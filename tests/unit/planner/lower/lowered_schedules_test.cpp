#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/schedule/semantics.h"
#include "planner/lower/lower.h"
#include "planner/schedules/registry.h"
#include "tests/support/tiny_models.h"

namespace stagewright {
namespace {

/// Stages of different lengths: the first takes all layers that the others, with one each, leave.
void make_uneven(Plan& plan, std::int32_t layers) {
  const auto stages = static_cast<std::int32_t>(plan.stages.size());
  for (std::int32_t i = 0; i < stages; ++i) {
    StagePlan& stage = plan.stages[static_cast<std::size_t>(i)];
    stage.first_layer = i == 0 ? 0 : layers - stages + i;
    stage.layers = i == 0 ? layers - stages + 1 : 1;
  }
}

struct Variant {
  Degrees degrees;
  std::string schedule;
  std::int32_t micro_batches = 1;
  Recompute recompute = Recompute::kNone;
  bool uneven = false;
};

std::string name_of(const Variant& variant) {
  return fmt::format("dp{} tp{} pp{} {} of {} recompute {}{}",
                     variant.degrees.dp,
                     variant.degrees.tp,
                     variant.degrees.pp,
                     variant.micro_batches,
                     variant.schedule,
                     name_of(variant.recompute),
                     variant.uneven ? " uneven" : "");
}

/// Every combination of the sizes below, plain and with recomputation on uneven stages.
std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const ScheduleGenerator& generator : schedule_generators()) {
    for (const std::int32_t dp : {1, 2}) {
      for (const std::int32_t tp : {1, 2}) {
        for (const std::int32_t pp : {1, 2, 3, 5}) {
          for (const std::int32_t micro_batches : {1, 2, 7}) {
            Variant variant{.degrees = {.dp = dp, .tp = tp, .pp = pp},
                            .schedule = std::string(generator.name),
                            .micro_batches = micro_batches};
            all.push_back(variant);
            variant.recompute = Recompute::kFull;
            variant.uneven = true;
            all.push_back(variant);
          }
        }
      }
    }
  }
  return all;
}

Plan plan_for(const ModelGraph& model, const Variant& variant) {
  Plan plan = plan_of(model, variant.degrees, variant.micro_batches);
  plan.schedule = variant.schedule;
  if (variant.uneven) {
    make_uneven(plan, static_cast<std::int32_t>(model.layers.size()));
  }
  for (StagePlan& stage : plan.stages) {
    stage.recompute = variant.recompute;
  }
  return plan;
}

TEST(LoweredSchedules, AreValidOverAGridOfLayouts) {
  for (const ModelGraph& model : {tiny_gpt(3), tiny_llama(3)}) {
    for (const Variant& variant : variants()) {
      SCOPED_TRACE(model.name + " " + name_of(variant));
      const Result<Schedule> schedule = lower(model, cpu_cluster(20), plan_for(model, variant));
      ASSERT_TRUE(schedule) << schedule.error().to_string();
      const Result<void> valid = validate(*schedule);
      ASSERT_TRUE(valid) << valid.error().to_string();
    }
  }
}

/// The transfers of each rank, in list order.
std::vector<std::vector<std::int32_t>> transfers_of(const Schedule& schedule) {
  std::vector<std::vector<std::int32_t>> transfers(schedule.ranks.size());
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const auto& actions = schedule.programs[schedule.ranks[rank].program.index()].actions;
    for (std::size_t i = 0; i < actions.size(); ++i) {
      if (is_send(actions[i].kind) || is_receive(actions[i].kind)) {
        transfers[rank].push_back(static_cast<std::int32_t>(i));
      }
    }
  }
  return transfers;
}

/// Runs the transfers where each rank has one at a time, and waits until the other side has come to
/// it too: the strictest queue that a backend could have.  How many are left when nothing moves.
std::size_t left_in_strict_rendezvous(const Schedule& schedule) {
  const auto matches = match_messages(schedule).value();
  const auto transfers = transfers_of(schedule);
  std::vector<std::size_t> next(transfers.size());
  const auto current = [&](std::size_t rank) {
    return next[rank] < transfers[rank].size() ? transfers[rank][next[rank]] : -1;
  };
  bool moved = true;
  while (moved) {
    moved = false;
    for (std::size_t rank = 0; rank < transfers.size(); ++rank) {
      if (const std::int32_t action = current(rank); action >= 0) {
        const Match& match = *matches[rank][static_cast<std::size_t>(action)];
        if (current(match.rank.index()) == match.action) {
          ++next[rank];
          ++next[match.rank.index()];
          moved = true;
        }
      }
    }
  }
  std::size_t left = 0;
  for (std::size_t rank = 0; rank < transfers.size(); ++rank) {
    left += transfers[rank].size() - next[rank];
  }
  return left;
}

TEST(LoweredSchedules, CannotDeadlockUnderTheStrictestQueue) {
  const ModelGraph model = tiny_llama(6);
  for (const ScheduleGenerator& generator : schedule_generators()) {
    for (const std::int32_t pp : {2, 3, 4, 8}) {
      for (const std::int32_t micro_batches : {1, 3, 8, 17}) {
        Plan plan = plan_of(model, {.pp = pp}, micro_batches);
        plan.schedule = std::string(generator.name);
        const Result<Schedule> schedule = lower(model, cpu_cluster(8), plan);
        ASSERT_TRUE(schedule) << schedule.error().to_string();
        EXPECT_EQ(left_in_strict_rendezvous(*schedule), 0U)
            << generator.name << " pp " << pp << " micro-batches " << micro_batches;
      }
    }
  }
}

TEST(LoweredSchedules, AreValidWithFlushesBucketsAndOtherRankOrders) {
  const ModelGraph model = tiny_gpt(3);
  for (const RankOrder& rank_order : {RankOrder{"tp", "cp", "dp", "pp"},
                                      RankOrder{"pp", "cp", "dp", "tp"},
                                      RankOrder{"dp", "tp", "pp", "cp"}}) {
    Plan plan = plan_of(model, {.dp = 2, .tp = 2, .pp = 2}, 6);
    plan.flushes = 3;
    plan.bucket_size = Bytes(4096);
    plan.rank_order = rank_order;
    const Result<Schedule> schedule = lower(model, cpu_cluster(8), plan);
    ASSERT_TRUE(schedule) << schedule.error().to_string();
    const Result<void> valid = validate(*schedule);
    EXPECT_TRUE(valid) << valid.error().to_string();
  }
}

}  // namespace
}  // namespace stagewright
