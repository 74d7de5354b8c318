#include "planner/lower/order_reductions.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace stagewright {
namespace {

/// By stage: so many compute actions of a rank come before each of its updates.
std::map<StageId, std::vector<std::int32_t>> slots_before_updates(
    const std::vector<Action>& compute) {
  std::map<StageId, std::vector<std::int32_t>> slots;
  for (std::size_t i = 0; i < compute.size(); ++i) {
    if (compute[i].kind == ActionKind::kUpdateParameters) {
      slots[compute[i].stage].push_back(static_cast<std::int32_t>(i));
    }
  }
  return slots;
}

/// By stage: so many compute actions of a rank until its last weight gradient is there.
std::map<StageId, std::int32_t> slots_behind_backwards(const std::vector<Action>& compute) {
  std::map<StageId, std::int32_t> slots;
  for (std::size_t i = 0; i < compute.size(); ++i) {
    if (compute[i].kind == ActionKind::kBackward ||
        compute[i].kind == ActionKind::kBackwardWeight) {
      slots[compute[i].stage] = static_cast<std::int32_t>(i) + 1;
    }
  }
  return slots;
}

/// A bucket that several ranks hold: the sharing, and which of its buckets, in order.
using SharedBucket = std::pair<std::size_t, std::size_t>;

/// A reduction before ranks have agreed on an order.
struct Wish {
  BucketReduction reduction;
  std::optional<SharedBucket> shared;
};

std::vector<Wish> wishes_of(const RankDraft& draft, const std::vector<Action>& compute) {
  const std::map<StageId, std::int32_t> slots = slots_behind_backwards(compute);
  const std::map<StageId, std::vector<std::int32_t>> updates = slots_before_updates(compute);
  std::map<std::size_t, std::size_t> shared_before;
  std::vector<Wish> wishes;
  for (std::size_t b = 0; b < draft.bucket_uses.size(); ++b) {
    const BucketUse& use = draft.bucket_uses[b];
    Wish wish{{BucketId(b), 0}, std::nullopt};
    for (const StageId stage : use.stages) {
      const auto found = slots.find(stage);
      wish.reduction.slot = std::max(wish.reduction.slot, found == slots.end() ? 0 : found->second);
    }
    if (use.sharing) {
      wish.shared = SharedBucket(*use.sharing, shared_before[*use.sharing]++);
    }
    if (draft.program.buckets[b].reduce.empty()) {
      continue;
    }
    const auto found = updates.find(draft.program.buckets[b].stage);
    if (found == updates.end()) {
      wishes.push_back(wish);
      continue;
    }
    for (const std::int32_t slot : found->second) {
      wish.reduction.slot = slot;
      wishes.push_back(wish);
    }
  }
  return wishes;
}

}  // namespace

std::vector<std::vector<BucketReduction>> order_reductions(const PipelineOrder& order,
                                                           const std::vector<RankDraft>& drafts) {
  std::vector<std::vector<Wish>> wishes;
  std::map<SharedBucket, std::int32_t> latest;
  for (std::size_t rank = 0; rank < drafts.size(); ++rank) {
    wishes.push_back(wishes_of(drafts[rank], order.ranks[rank]));
    for (const Wish& wish : wishes.back()) {
      if (wish.shared) {
        std::int32_t& slot = latest[*wish.shared];
        slot = std::max(slot, wish.reduction.slot);
      }
    }
  }
  std::vector<std::vector<BucketReduction>> reductions;
  for (std::vector<Wish>& of_rank : wishes) {
    std::stable_sort(of_rank.begin(), of_rank.end(), [&latest](const Wish& a, const Wish& b) {
      const auto agreed = [&latest](const Wish& wish) {
        return wish.shared ? latest.at(*wish.shared) : wish.reduction.slot;
      };
      return agreed(a) < agreed(b);
    });
    std::int32_t earliest = 0;
    auto& ordered = reductions.emplace_back();
    for (const Wish& wish : of_rank) {
      earliest = std::max(earliest, wish.reduction.slot);
      ordered.push_back({wish.reduction.bucket, earliest});
    }
  }
  return reductions;
}

}  // namespace stagewright
