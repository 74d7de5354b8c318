#include "planner/lower/place_gathers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace stagewright {
namespace {

bool reads_parameters(ActionKind kind) {
  return is_compute(kind) && kind != ActionKind::kBackwardWeight;
}

/// Buckets of a stage whose parameters have an instance for each micro-batch.
std::vector<BucketId> gathered_buckets(const RankDraft& draft, StageId stage) {
  std::vector<BucketId> buckets;
  for (std::size_t b = 0; b < draft.bucket_uses.size(); ++b) {
    if (draft.program.buckets[b].stage == stage &&
        draft.bucket_uses[b].sharding == BucketSharding::kParameters) {
      buckets.emplace_back(b);
    }
  }
  return buckets;
}

}  // namespace

std::vector<BucketAction> place_gathers(const Plan& plan,
                                        const RankDraft& draft,
                                        const std::vector<Action>& compute) {
  std::vector<BucketAction> gathers;
  std::map<std::pair<StageId, MicroBatchId>, std::int32_t> last_use;
  for (std::size_t i = 0; i < compute.size(); ++i) {
    const Action& action = compute[i];
    if (!reads_parameters(action.kind)) {
      continue;
    }
    const auto index = static_cast<std::int32_t>(i);
    const std::int32_t slot = std::max(index - plan.gather_prefetch, 0);
    const auto [last, is_first] = last_use.try_emplace({action.stage, action.micro_batch}, index);
    const std::int32_t before = std::exchange(last->second, index);
    if (!is_first && (slot <= before || index - before <= plan.gather_residency)) {
      continue;
    }
    for (const BucketId bucket : gathered_buckets(draft, action.stage)) {
      gathers.push_back({{.kind = ActionKind::kGatherParameters,
                          .micro_batch = action.micro_batch,
                          .bucket = bucket},
                         slot});
    }
  }
  std::stable_sort(gathers.begin(),
                   gathers.end(),
                   [](const BucketAction& a, const BucketAction& b) { return a.slot < b.slot; });
  return gathers;
}

}  // namespace stagewright
