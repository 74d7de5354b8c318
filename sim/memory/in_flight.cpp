#include "sim/memory/in_flight.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace stagewright {
namespace {

/// What a schedule holds, without the limit by the number of micro-batches: P ranks, `after` = P -
/// rank, in micro-batches of all of the rank's layers.
using Held = double (*)(double ranks, double after);

struct HeldBy {
  std::string_view schedule;
  Held held;  ///< null: all micro-batches
};

constexpr std::array<HeldBy, 18> kHeld = {{
    {"gpipe", nullptr},
    {"afab", nullptr},
    {"looped-bfs", nullptr},
    {"bfs", nullptr},
    {"eager-1f1b", [](double, double after) { return 2 * after - 1; }},
    {"zb-h1", [](double ranks, double) { return ranks; }},
    {"zb-1p", [](double ranks, double) { return ranks; }},
    {"zb-h1-quick-start", [](double ranks, double) { return ranks; }},
    {"zb-h2", [](double ranks, double) { return 2 * ranks - 1; }},
    {"zb-2p", [](double ranks, double) { return 2 * ranks - 1; }},
    {"zb-v", [](double ranks, double) { return ranks; }},
    {"zbv", [](double ranks, double) { return ranks; }},
    {"interleaved-zero-bubble", [](double ranks, double) { return ranks; }},
    {"hanayo", [](double ranks, double) { return ranks; }},
    {"v-half", [](double ranks, double) { return ranks / 2 + 1; }},
    {"v-min", [](double ranks, double) { return ranks / 3 + 1; }},
    {"dualpipe", [](double ranks, double) { return ranks + 1; }},
    {"dualpipe-v", [](double ranks, double) { return ranks + 0.5; }},
}};

double held(const TrainingRun& run, std::int32_t rank) {
  const double ranks = run.pp;
  const double after = run.pp - rank;
  const auto batches = static_cast<double>(run.micro_batches);
  const auto* const known = std::ranges::find(kHeld, run.schedule, &HeldBy::schedule);
  if (known != kHeld.end()) {
    return known->held == nullptr ? batches : std::min(batches, known->held(ranks, after));
  }
  if (run.virtual_stages > 1) {
    const double stages = run.virtual_stages;
    return std::min(stages * batches, 2 * (after - 1) + (stages - 1) * ranks + 1) / stages;
  }
  return std::min(batches, after);
}

}  // namespace

double losses_in_flight(const TrainingRun& run) {
  const auto* const known = std::ranges::find(kHeld, run.schedule, &HeldBy::schedule);
  const bool all = run.pp > 1 && known != kHeld.end() && known->held == nullptr;
  return all ? static_cast<double>(run.micro_batches) : 1;
}

double in_flight(const TrainingRun& run, std::int32_t rank) {
  if (run.pp == 1) {
    return 1;
  }
  const auto batches = static_cast<double>(run.micro_batches);
  switch (run.vocabulary_placement) {
    case VocabularyPlacement::kEnds:
    case VocabularyPlacement::kRedistributed:
      return held(run, rank);
    case VocabularyPlacement::kAllStages:
      return std::min(batches, held(run, rank) + 2);
    case VocabularyPlacement::kAllStagesOnce:
      return std::min(batches, held(run, rank) + 1);
    case VocabularyPlacement::kInterlaced:
      return std::min(batches, std::ceil(1.5 * held(run, rank)));
  }
  return held(run, rank);
}

}  // namespace stagewright
