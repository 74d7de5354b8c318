#include "planner/search/stage_profile.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace stagewright {
namespace {

using Stage = StageSum;

}  // namespace

std::vector<StageSum> stage_sums(const PointCosts& costs,
                                 const std::vector<std::int32_t>& stage_layers,
                                 const std::vector<std::int32_t>& recomputed) {
  std::vector<Stage> stages(stage_layers.size());
  std::size_t begin = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto again = static_cast<std::size_t>(recomputed.empty() ? 0 : recomputed[s]);
    const std::size_t plain = begin + again;
    const std::size_t end = begin + static_cast<std::size_t>(stage_layers[s]);
    Stage& stage = stages[s];
    if (s > 0 && stage_layers[s] == stage_layers[s - 1] &&
        (recomputed.empty() || recomputed[s] == recomputed[s - 1]) &&
        costs.plain->alike_until[begin - static_cast<std::size_t>(stage_layers[s])] >= end) {
      stage = stages[s - 1];
      begin = end;
      continue;
    }
    stage.sum = costs.plain->before[end];
    stage.sum -= costs.plain->before[plain];
    if (again > 0) {
      stage.sum += costs.again->before[plain];
      stage.sum -= costs.again->before[begin];
    }
    const LayerCost& first = (again > 0 ? costs.again : costs.plain)->layers[begin];
    const LayerCost& last = (plain == end ? costs.again : costs.plain)->layers[end - 1];
    stage.leading = last.leading;
    stage.input_leading = last.input_leading;
    stage.working = last.working;
    stage.input_working = last.input_working;
    stage.trailing = first.trailing;
    begin = end;
  }
  return stages;
}

namespace {

/// On the way from stage 0 to a stage of a copy, and back.
struct Way {
  Duration head{};
  Duration up{};
  Duration up_input{};
  std::int32_t borders = 0;
};

std::vector<Way> ways_of(const std::vector<Stage>& stages, const std::vector<std::int32_t>& ranks) {
  std::vector<Way> ways;
  ways.reserve(stages.size());
  Way way;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    if (s > 0) {
      way.borders += ranks[s] != ranks[s - 1] ? 1 : 0;
    }
    Way own = way;
    own.up = s == 0 ? Duration{} : way.up - stages[s].trailing;
    ways.push_back(own);
    way.head += stages[s].sum.forward;
    way.up +=
        stages[s].sum.backward - stages[s].leading - (s == 0 ? Duration{} : stages[s].trailing);
    // A schedule that splits backwards may leave some whole.
    way.up_input +=
        std::max(Duration{},
                 std::min(stages[s].sum.input - stages[s].input_leading,
                          stages[s].sum.backward - stages[s].leading - stages[s].trailing));
  }
  return ways;
}

void add_stage(RankProfile& rank, const Stage& stage) {
  rank.work += stage.sum.time();
  rank.backward += stage.sum.backward;
  rank.split_work += stage.sum.forward + stage.sum.input + stage.sum.weight;
  rank.forward_input += stage.sum.forward + std::min(stage.sum.input, stage.sum.backward);
  rank.optimizer += stage.sum.optimizer;
  rank.parameters += stage.sum.parameters;
  rank.gradients += stage.sum.gradients;
  rank.optimizer_state += stage.sum.optimizer_state;
  rank.saved += stage.sum.saved;
}

/// Whether a step never waits for `a` where it waits for `b`.
bool outlasts(const RankProfile& b, const RankProfile& a) {
  const auto costs = [](const RankProfile& rank) {
    return std::tie(rank.work,
                    rank.backward,
                    rank.split_work,
                    rank.forward_input,
                    rank.optimizer,
                    rank.parameters,
                    rank.gradients,
                    rank.least_gradients,
                    rank.first_gradients,
                    rank.own_gradients,
                    rank.own_parameters);
  };
  return a.head <= b.head && a.borders <= b.borders && a.up <= b.up && a.up_input <= b.up_input &&
         costs(a) == costs(b);
}

bool hold_alike(const RankProfile& a, const RankProfile& b) {
  const auto bytes = [](const RankProfile& rank) {
    return std::tie(rank.parameters,
                    rank.gradients,
                    rank.optimizer_state,
                    rank.least_gradients,
                    rank.least_parameters,
                    rank.saved,
                    rank.least_saved,
                    rank.most_saved,
                    rank.least_waiting,
                    rank.working,
                    rank.input_working);
  };
  return bytes(a) == bytes(b);
}

void group_ranks(StageProfile& profile) {
  for (std::size_t r = 0; r < profile.ranks.size(); ++r) {
    const RankProfile& rank = profile.ranks[r];
    const auto number = static_cast<std::int32_t>(r);
    const auto of = [&](std::int32_t other) -> const RankProfile& {
      return profile.ranks[static_cast<std::size_t>(other)];
    };
    if (profile.latest.empty() || !outlasts(of(profile.latest.back()), rank)) {
      if (!profile.latest.empty() && outlasts(rank, of(profile.latest.back()))) {
        profile.latest.pop_back();
      }
      profile.latest.push_back(number);
    }
    if (r == 0 || !hold_alike(profile.ranks[r - 1], rank)) {
      profile.first_alike.push_back(number);
    }
  }
}

}  // namespace

StageProfile stage_profile(const PointCosts& costs,
                           const std::vector<std::int32_t>& stage_layers,
                           const std::vector<std::int32_t>& recomputed,
                           const std::vector<std::vector<std::int32_t>>& placement,
                           std::int32_t ranks) {
  const std::vector<Stage> stages = stage_sums(costs, stage_layers, recomputed);
  StageProfile profile;
  profile.copies = static_cast<std::int32_t>(placement.size());
  profile.ranks.resize(static_cast<std::size_t>(ranks));
  std::vector<bool> met(profile.ranks.size(), false);
  for (const std::vector<std::int32_t>& copy : placement) {
    const std::vector<Way> ways = ways_of(stages, copy);
    std::vector<bool> begun(profile.ranks.size(), false);
    for (std::size_t s = 0; s < stages.size(); ++s) {
      const auto r = static_cast<std::size_t>(copy[s]);
      RankProfile& rank = profile.ranks[r];
      add_stage(rank, stages[s]);
      const Bytes gradients = stages[s].sum.gradients;
      rank.least_gradients = met[r] ? std::min(rank.least_gradients, gradients) : gradients;
      const Bytes parameters = stages[s].sum.parameters;
      rank.least_parameters = met[r] ? std::min(rank.least_parameters, parameters) : parameters;
      const Bytes saved = stages[s].sum.saved;
      rank.least_saved = met[r] ? std::min(rank.least_saved, saved) : saved;
      rank.most_saved = std::max(rank.most_saved, saved);
      const Bytes waiting = stages[s].sum.saved_for_weight + stages[s].sum.pending;
      rank.least_waiting = met[r] ? std::min(rank.least_waiting, waiting) : waiting;
      // The last of its stages is the first to go backward; of two copies either may be.
      const bool either = placement.size() > 1 && met[r];
      rank.working = either ? std::min(rank.working, stages[s].working) : stages[s].working;
      rank.input_working =
          either ? std::min(rank.input_working, stages[s].input_working) : stages[s].input_working;
      if (begun[r]) {
        continue;
      }
      begun[r] = true;
      const Way& way = ways[s];
      rank.head = met[r] ? std::min(rank.head, way.head) : way.head;
      rank.up = met[r] ? std::min(rank.up, way.up) : way.up;
      rank.up_input = met[r] ? std::min(rank.up_input, way.up_input) : way.up_input;
      rank.borders = met[r] ? std::min(rank.borders, way.borders) : way.borders;
      rank.first_forward = stages[s].sum.forward;
      rank.first_gradients = met[r] ? std::min(rank.first_gradients, gradients) : gradients;
      met[r] = true;
    }
  }
  // Tied weights are one tensor on a rank that holds both ends of the model, in whichever copy.
  for (std::size_t r = 0; r < profile.ranks.size(); ++r) {
    const auto here = [&](std::int32_t rank) { return static_cast<std::size_t>(rank) == r; };
    const bool first =
        std::ranges::any_of(placement, [&](const auto& copy) { return here(copy.front()); });
    const bool last =
        std::ranges::any_of(placement, [&](const auto& copy) { return here(copy.back()); });
    RankProfile& rank = profile.ranks[r];
    const LayerCost& tied = costs.plain->tied;
    if (first && last) {
      rank.parameters -= tied.parameters;
      rank.gradients -= tied.gradients;
      rank.optimizer_state -= tied.optimizer_state;
      rank.optimizer -= tied.optimizer;
      // The tied bucket is no part of what is gathered or scattered stage by stage; of two copies
      // each may begin to be summed before the other is done.
      if (tied.parameters > Bytes{} || profile.copies > 1) {
        rank.least_gradients = Bytes{};
        rank.least_parameters = Bytes{};
      }
      rank.first_gradients -= std::min(rank.first_gradients, tied.gradients);
    }
    const bool shared = (first || last) && stages.size() > 1;
    rank.own_gradients = rank.gradients - (shared ? tied.gradients : Bytes{});
    rank.own_parameters = rank.parameters - (shared ? tied.parameters : Bytes{});
  }
  group_ranks(profile);
  return profile;
}

}  // namespace stagewright
