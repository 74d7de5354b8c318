#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/schedule/semantics.h"
#include "planner/lower/lower.h"
#include "planner/schedules/pipeline_order.h"
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
  std::int32_t virtual_stages = 1;
  std::int32_t micro_batches = 1;
  Recompute recompute = Recompute::kNone;
  bool uneven = false;
  bool sharded = false;  ///< ZeRO 3, and recomputation ahead
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

/// Layouts of up to 4 pipeline ranks with few and many micro-batches.
std::vector<Variant> variants_of(const ScheduleGenerator& generator) {
  std::vector<Variant> all;
  for (const std::int32_t width : {1, 2}) {
    for (const std::int32_t pp : {1, 2, 3, 4}) {
      for (const std::int32_t micro_batches : {1, 2, 7, 8}) {
        all.push_back({.degrees = {.dp = width, .tp = width, .pp = pp},
                       .schedule = std::string(generator.name),
                       .virtual_stages = generator.default_virtual_stages,
                       .micro_batches = micro_batches});
      }
    }
  }
  return all;
}

Plan plan_for(const ModelGraph& model, const Variant& variant) {
  Degrees degrees = variant.degrees;
  degrees.pp *= variant.virtual_stages;
  Plan plan = plan_of(model, degrees, variant.micro_batches);
  plan.virtual_stages = variant.virtual_stages;
  plan.schedule = variant.schedule;
  if (find_schedule(variant.schedule)->asynchronous) {
    plan.optimizer.clip_norm.reset();
  }
  if (variant.uneven) {
    make_uneven(plan, static_cast<std::int32_t>(model.layers.size()));
  }
  for (StagePlan& stage : plan.stages) {
    stage.recompute = variant.recompute;
  }
  return plan;
}

/// Whether the schedule's own rules allow the layout; if so, what is lowered must be valid.
bool expect_valid_if_allowed(const ModelGraph& model, const Variant& variant) {
  SCOPED_TRACE(model.name + " " + name_of(variant));
  Plan plan = plan_for(model, variant);
  const Result<PipelineOrder> order = pipeline_order(plan);
  if (!order) {
    EXPECT_EQ(order.error().code, ErrorCode::kInfeasible) << order.error().to_string();
    return false;
  }
  if (variant.sharded) {
    plan.recompute_placement = RecomputePlacement::kAhead;
    plan.zero_stage = order->updates || order->placement.size() > 1 ? 0 : 3;
  }
  const Result<Schedule> schedule = lower(model, cpu_cluster(16), plan);
  if (!schedule) {
    ADD_FAILURE() << schedule.error().to_string();
    return true;
  }
  const Result<void> valid = validate(*schedule);
  EXPECT_TRUE(valid) << valid.error().to_string();
  return true;
}

// Plain stages of a GPT, and uneven stages of a Llama that recompute.
TEST(LoweredSchedules, AreValidOverAGridOfLayouts) {
  const ModelGraph gpt = tiny_gpt(14);
  const ModelGraph llama = tiny_llama(15);
  for (const ScheduleGenerator& generator : schedule_generators()) {
    std::size_t allowed = 0;
    for (Variant variant : variants_of(generator)) {
      if (!generator.asynchronous) {  // which does not go with a tied weight
        allowed += expect_valid_if_allowed(gpt, variant) ? 1U : 0U;
      }
      variant.recompute = Recompute::kFull;
      variant.uneven = true;
      variant.sharded = variant.micro_batches % 2 == 0;
      allowed += expect_valid_if_allowed(llama, variant) ? 1U : 0U;
    }
    EXPECT_GT(allowed, 0U) << generator.name;
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
/// it too: the strictest queue that a backend could have.
class StrictRendezvous {
 public:
  explicit StrictRendezvous(const Schedule& schedule)
      : matches_(match_messages(schedule).value()),
        transfers_(transfers_of(schedule)),
        next_(transfers_.size()) {}

  /// Transfers that are left when nothing moves.
  std::size_t run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t rank = 0; rank < transfers_.size(); ++rank) {
        moved = step(rank) || moved;
      }
    }
    std::size_t left = 0;
    for (std::size_t rank = 0; rank < transfers_.size(); ++rank) {
      left += transfers_[rank].size() - next_[rank];
    }
    return left;
  }

 private:
  [[nodiscard]] std::optional<std::int32_t> current(std::size_t rank) const {
    return next_[rank] < transfers_[rank].size() ? std::optional(transfers_[rank][next_[rank]])
                                                 : std::nullopt;
  }

  bool step(std::size_t rank) {
    const std::optional<std::int32_t> action = current(rank);
    if (!action) {
      return false;
    }
    const Match& match = *matches_[rank][static_cast<std::size_t>(*action)];
    if (current(match.rank.index()) != match.action) {
      return false;
    }
    ++next_[rank];
    ++next_[match.rank.index()];
    return true;
  }

  std::vector<std::vector<std::optional<Match>>> matches_;
  std::vector<std::vector<std::int32_t>> transfers_;
  std::vector<std::size_t> next_;
};

TEST(LoweredSchedules, CannotDeadlockUnderTheStrictestQueue) {
  const ModelGraph model = tiny_llama(14);
  for (const ScheduleGenerator& generator : schedule_generators()) {
    for (const Variant& variant : variants_of(generator)) {
      const Result<Schedule> lowered = lower(model, cpu_cluster(16), plan_for(model, variant));
      if (lowered) {
        EXPECT_EQ(StrictRendezvous(*lowered).run(), 0U) << name_of(variant);
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
