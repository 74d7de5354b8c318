#include "planner/lower/order_reductions.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
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
    if (completes_gradients(compute[i].kind)) {
      slots[compute[i].stage] = static_cast<std::int32_t>(i) + 1;
    }
  }
  return slots;
}

/// A bucket that several ranks hold: the sharing, and which of its buckets, in order.
using SharedBucket = std::pair<std::size_t, std::size_t>;

/// A reduction before ranks have agreed on an order.
struct Wish {
  BucketAction reduction;
  std::optional<SharedBucket> shared;
};

BucketAction reduction_of(std::size_t bucket, std::int32_t slot, MicroBatchId micro_batch = {}) {
  return {{.kind = ActionKind::kReduceGradients,
           .micro_batch = micro_batch,
           .bucket = BucketId(bucket)},
          slot};
}

/// Behind each backward of a stage, for the gradients of its micro-batch.
std::vector<Wish> behind_each_backward(std::size_t bucket,
                                       StageId stage,
                                       const std::vector<Action>& compute) {
  std::vector<Wish> wishes;
  for (std::size_t i = 0; i < compute.size(); ++i) {
    if (compute[i].stage == stage && completes_gradients(compute[i].kind)) {
      wishes.push_back(
          {reduction_of(bucket, static_cast<std::int32_t>(i) + 1, compute[i].micro_batch),
           std::nullopt});
    }
  }
  return wishes;
}

std::vector<Wish> wishes_of(const RankDraft& draft, const std::vector<Action>& compute) {
  const std::map<StageId, std::int32_t> slots = slots_behind_backwards(compute);
  const std::map<StageId, std::vector<std::int32_t>> updates = slots_before_updates(compute);
  std::map<std::size_t, std::size_t> shared_before;
  std::vector<Wish> wishes;
  for (std::size_t b = 0; b < draft.bucket_uses.size(); ++b) {
    const BucketUse& use = draft.bucket_uses[b];
    const StageId stage = draft.program.buckets[b].stage;
    std::optional<SharedBucket> shared;
    if (use.sharing) {
      shared = SharedBucket(*use.sharing, shared_before[*use.sharing]++);
    }
    if (draft.program.buckets[b].reduce.empty()) {
      continue;
    }
    if (use.sharding >= BucketSharding::kGradients) {
      std::ranges::copy(behind_each_backward(b, stage, compute), std::back_inserter(wishes));
    } else if (const auto found = updates.find(stage); found != updates.end()) {
      for (const std::int32_t slot : found->second) {
        wishes.push_back({reduction_of(b, slot), shared});
      }
    } else {
      std::int32_t latest = 0;
      for (const StageId used : use.stages) {
        const auto last = slots.find(used);
        latest = std::max(latest, last == slots.end() ? 0 : last->second);
      }
      wishes.push_back({reduction_of(b, latest), shared});
    }
  }
  return wishes;
}

}  // namespace

std::vector<std::vector<BucketAction>> order_reductions(const PipelineOrder& order,
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
  std::vector<std::vector<BucketAction>> reductions;
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
      ordered.push_back({wish.reduction.action, earliest});
    }
  }
  return reductions;
}

}  // namespace stagewright
