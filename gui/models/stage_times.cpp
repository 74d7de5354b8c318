#include "gui/models/stage_times.h"

#include <algorithm>
#include <array>

#include "gui/models/opened_file.h"

namespace stagewright::gui {
namespace {

/// Of a kind of action on a stage.
struct Mean {
  std::int64_t total = 0;
  std::int64_t count = 0;
  [[nodiscard]] Duration value() const { return Duration(count == 0 ? 0 : total / count); }
};

using StageMeans = std::array<Mean, kActionKindCount>;

}  // namespace

std::vector<StageTime> stage_times(const OpenedFile& file) {
  const ActionStore& store = file.shown.actions;
  std::int32_t count = file.plan ? static_cast<std::int32_t>(file.plan->plan.stages.size()) : 0;
  for (ActionIndex i = 0; i < store.size(); ++i) {
    count = is_compute(store.kind[i]) ? std::max(count, store.stage[i] + 1) : count;
  }
  std::vector<StageTime> stages(static_cast<std::size_t>(count));
  std::vector<StageMeans> means(stages.size());
  for (const Lane& lane : store.lanes) {
    const auto memory = std::ranges::find(file.shown.memory, lane.rank, &MemoryLane::rank);
    for (ActionIndex i = lane.begin; i < lane.end; ++i) {
      if (!is_compute(store.kind[i])) {
        continue;
      }
      const auto s = static_cast<std::size_t>(store.stage[i]);
      Mean& mean = means[s][static_cast<std::size_t>(store.kind[i])];
      mean.total += store.end[i] - store.start[i];
      ++mean.count;
      if (memory != file.shown.memory.end() && memory->peak > stages[s].peak.value_or(Bytes())) {
        stages[s].peak = memory->peak;
        stages[s].limit = memory->limit;
      }
    }
  }
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto mean = [&](ActionKind kind) {
      return means[s][static_cast<std::size_t>(kind)].value();
    };
    stages[s].forward = mean(ActionKind::kForward);
    stages[s].backward = mean(ActionKind::kBackward) + mean(ActionKind::kBackwardInput);
    stages[s].weight = mean(ActionKind::kBackwardWeight);
    stages[s].recompute = mean(ActionKind::kRecompute);
    if (file.plan) {
      stages[s].first_layer = file.plan->plan.stages[s].first_layer;
      stages[s].layers = file.plan->plan.stages[s].layers;
    }
  }
  return stages;
}

double imbalance(const std::vector<StageTime>& stages) {
  double sum = 0;
  double slowest = 0;
  for (const StageTime& stage : stages) {
    const double time = to_seconds(stage.whole());
    sum += time;
    slowest = std::max(slowest, time);
  }
  return sum > 0 ? slowest * static_cast<double>(stages.size()) / sum - 1 : 0;
}

}  // namespace stagewright::gui
