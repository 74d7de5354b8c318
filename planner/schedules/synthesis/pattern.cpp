#include "planner/schedules/synthesis/pattern.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace stagewright::synthesis {
namespace {

std::int32_t ranks_of(const StepTable& table) {
  return static_cast<std::int32_t>(table.caps.size());
}
std::int32_t chunks_of(const StepTable& table) {
  return table.frame.stages / ranks_of(table);
}

double busiest(const StepTable& table) {
  std::int64_t most = 0;
  for (std::int32_t rank = 0; rank < ranks_of(table); ++rank) {
    most = std::max(most, table.work_of(rank));
  }
  return static_cast<double>(most);
}

/// From a stage's start to its follower's.
double hop(const StepTable& table, std::int32_t from, std::int32_t to, StepPart part) {
  const StepType& maker = table.at(from, part);
  return static_cast<double>(maker.duration + table.at(to, part).delay + table.at(to, part).before);
}

StepPart backward_part(const StepTable& table, std::int32_t stage) {
  return table.whole[static_cast<std::size_t>(stage)] ? StepPart::kWholeBackward
                                                      : StepPart::kInputHalf;
}

/// Virtual starts of micro-batch 0 by stage.
struct Offsets {
  std::vector<double> forward;
  std::vector<double> backward;
};

Offsets offsets_of(const StepTable& table, const VirtualTimePattern& pattern, double round) {
  const std::int32_t stages = table.frame.stages;
  const std::int32_t ranks = ranks_of(table);
  Offsets offsets;
  offsets.forward.resize(static_cast<std::size_t>(stages));
  offsets.backward.resize(static_cast<std::size_t>(stages));
  double time = 0;
  double chunk_begin = 0;
  for (std::int32_t stage = 0; stage < stages; ++stage) {
    const auto chunk = static_cast<std::size_t>(stage / ranks);
    if (stage > 0) {
      time += hop(table, stage - 1, stage, StepPart::kForward) * pattern.forward_slope[chunk];
      if (stage % ranks == 0) {
        time = std::max(time, chunk_begin + round);
        chunk_begin = time;
      }
    }
    offsets.forward[static_cast<std::size_t>(stage)] = time;
  }
  const StepType& last = table.at(stages - 1, StepPart::kForward);
  time += static_cast<double>(last.duration) + pattern.gap * busiest(table);
  chunk_begin = time;
  for (std::int32_t stage = stages - 1; stage >= 0; --stage) {
    const auto chunk = static_cast<std::size_t>(stage / ranks);
    if (stage < stages - 1) {
      time += hop(table, stage + 1, stage, backward_part(table, stage + 1)) *
              pattern.backward_slope[chunk];
      if (stage % ranks == ranks - 1) {
        time = std::max(time, chunk_begin + round);
        chunk_begin = time;
      }
    }
    offsets.backward[static_cast<std::size_t>(stage)] = time;
  }
  return offsets;
}

}  // namespace

VirtualTimes virtual_times(const StepTable& table, const VirtualTimePattern& pattern) {
  const std::int32_t micro_batches = table.frame.micro_batches;
  const double work = busiest(table) * pattern.period;
  const double spacing = pattern.group > 1 ? work / chunks_of(table) : 0;
  const Offsets offsets = offsets_of(table, pattern, pattern.group * spacing);
  VirtualTimes times;
  times.forward.reserve(static_cast<std::size_t>(table.frame.stages * micro_batches));
  times.backward.reserve(times.forward.capacity());
  for (std::size_t stage = 0; stage < offsets.forward.size(); ++stage) {
    for (std::int32_t m = 0; m < micro_batches; ++m) {
      const double begin = m / pattern.group * (pattern.group * work) + m % pattern.group * spacing;
      times.forward.push_back(begin + offsets.forward[stage]);
      times.backward.push_back(begin + offsets.backward[stage]);
    }
  }
  return times;
}

std::vector<VirtualTimePattern> first_patterns(const StepTable& table) {
  const auto chunks = static_cast<std::size_t>(chunks_of(table));
  const std::int32_t ranks = ranks_of(table);
  const std::int32_t micro_batches = table.frame.micro_batches;
  std::vector<std::int32_t> groups{1};
  if (chunks > 1) {
    for (const std::int32_t group : {ranks / 2, ranks, 2 * ranks, micro_batches}) {
      if (group > 1 && group <= micro_batches) {
        groups.push_back(group);
      }
    }
  }
  const std::array rules{ReplayRule{.weight_share = 1, .window = 4, .must_fit = true},
                         ReplayRule{.weight_share = 0.5, .window = 4, .must_fit = false},
                         ReplayRule{.weight_share = 0.1, .window = 0, .must_fit = true},
                         ReplayRule{.weight_share = 1, .window = 64, .must_fit = false}};
  std::vector<VirtualTimePattern> patterns;
  for (const std::int32_t group : groups) {
    for (const double odd : {1.0, 1.5, 2.0, 3.0, 4.0}) {
      for (const double even : {1.0, 1.5, 2.0, 3.0}) {
        VirtualTimePattern pattern{.group = group};
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
          pattern.forward_slope.push_back(chunk % 2 == 0 ? odd : even);
          // With one chunk the backward has its own speed; with several the backward leaves the
          // stages in the reverse of the order of the forward.
          pattern.backward_slope.push_back(chunks == 1 ? even : chunk % 2 == 0 ? even : odd);
        }
        for (const ReplayRule& rule : rules) {
          pattern.rule = rule;
          patterns.push_back(pattern);
        }
      }
    }
  }
  return patterns;
}

Backwards any_backwards(const StepTable& table, std::mt19937& engine) {
  const bool whole_matters =
      table.halves_hold_more ||
      std::find(table.whole.begin(), table.whole.end(), true) != table.whole.end();
  if (!whole_matters) {
    return Backwards::kCheaper;
  }
  return std::array{Backwards::kCheaper, Backwards::kSplit, Backwards::kWhole}[engine() % 3];
}

VirtualTimePattern varied(VirtualTimePattern pattern,
                          const StepTable& table,
                          std::mt19937& engine) {
  const auto pick = [&engine](std::size_t below) {
    return static_cast<std::size_t>(engine() % below);
  };
  const auto share = [&engine] { return static_cast<double>(engine() % 1024) / 1024; };
  const std::size_t chunks = pattern.forward_slope.size();
  const std::size_t changes = 1 + pick(3);
  for (std::size_t i = 0; i < changes; ++i) {
    switch (pick(7)) {
      case 0:
      case 1: {
        double& slope = pattern.forward_slope[pick(chunks)];
        slope = std::max(1.0, slope * (0.7 + 0.7 * share()));
        break;
      }
      case 2:
      case 3: {
        double& slope = pattern.backward_slope[pick(chunks)];
        slope = std::max(1.0, slope * (0.7 + 0.7 * share()));
        break;
      }
      case 4:
        pattern.gap = std::max(0.0, pattern.gap + 0.5 * (share() - 0.5));
        break;
      case 5:
        pattern.rule.weight_share = 1.2 * share();
        pattern.rule.window = static_cast<std::int32_t>(std::array{0, 2, 4, 16}[pick(4)]);
        pattern.rule.must_fit = pick(2) == 0;
        pattern.rule.backwards = any_backwards(table, engine);
        break;
      default:
        pattern.period = std::clamp(pattern.period * (0.8 + 0.4 * share()), 0.2, 2.0);
        if (chunks > 1 && pick(3) == 0) {
          const auto most =
              static_cast<std::size_t>(std::min(table.frame.micro_batches, 2 * ranks_of(table)));
          pattern.group = 1 + static_cast<std::int32_t>(pick(most));
        }
        break;
    }
  }
  return pattern;
}

}  // namespace stagewright::synthesis
