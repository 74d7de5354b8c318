#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/schedule/semantics.h"
#include "planner/lower/lower.h"
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

/// The schedules that can be lowered.
constexpr std::array<std::string_view, 3> kLowered{"gpipe", "1f1b", "eager-1f1b"};

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

std::vector<Degrees> layouts() {
  std::vector<Degrees> layouts;
  for (const std::int32_t dp : {1, 2}) {
    for (const std::int32_t tp : {1, 2}) {
      for (const std::int32_t pp : {1, 2, 3, 5}) {
        layouts.push_back({.dp = dp, .tp = tp, .pp = pp});
      }
    }
  }
  return layouts;
}

/// Every layout with few and many micro-batches, plain and with recomputation on uneven stages.
std::vector<Variant> variants_of(std::string_view schedule) {
  std::vector<Variant> all;
  for (const Degrees& degrees : layouts()) {
    for (const std::int32_t micro_batches : {1, 2, 7}) {
      Variant variant{
          .degrees = degrees, .schedule = std::string(schedule), .micro_batches = micro_batches};
      all.push_back(variant);
      variant.recompute = Recompute::kFull;
      variant.uneven = true;
      all.push_back(variant);
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

void expect_valid(const ModelGraph& model, const Variant& variant) {
  SCOPED_TRACE(model.name + " " + name_of(variant));
  const Result<Schedule> schedule = lower(model, cpu_cluster(20), plan_for(model, variant));
  ASSERT_TRUE(schedule) << schedule.error().to_string();
  const Result<void> valid = validate(*schedule);
  EXPECT_TRUE(valid) << valid.error().to_string();
}

TEST(LoweredSchedules, AreValidOverAGridOfLayouts) {
  for (const ModelGraph& model : {tiny_gpt(3), tiny_llama(3)}) {
    for (const std::string_view schedule : kLowered) {
      for (const Variant& variant : variants_of(schedule)) {
        expect_valid(model, variant);
      }
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
  const ModelGraph model = tiny_llama(6);
  for (const std::string_view schedule : kLowered) {
    for (const std::int32_t pp : {2, 3, 4, 8}) {
      for (const std::int32_t micro_batches : {1, 3, 8, 17}) {
        Plan plan = plan_of(model, {.pp = pp}, micro_batches);
        plan.schedule = std::string(schedule);
        const Result<Schedule> lowered = lower(model, cpu_cluster(8), plan);
        ASSERT_TRUE(lowered) << lowered.error().to_string();
        EXPECT_EQ(StrictRendezvous(*lowered).run(), 0U)
            << schedule << " pp " << pp << " micro-batches " << micro_batches;
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
