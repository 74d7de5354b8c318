#include "sim/analysis/step_attribution.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace stagewright {
namespace {

Duration magnitude(Duration time) {
  return time < Duration{} ? -time : time;
}

/// The measured step, with kinds of work taking their predicted times one after another.
class Substitution {
 public:
  Substitution(const StepWork& predicted, const StepWork& measured) : step_(measured) {
    std::map<Place, std::size_t> predicted_at;
    const std::vector<Place> predicted_places = places_of(predicted);
    for (std::size_t node = 0; node < predicted.pieces.size(); ++node) {
      predicted_at.emplace(predicted_places[node], node);
    }
    const std::vector<Place> measured_places = places_of(measured);
    for (std::size_t node = 0; node < measured.pieces.size(); ++node) {
      const auto found = predicted_at.find(measured_places[node]);
      if (found != predicted_at.end()) {
        changes_[name_of(measured.pieces[node].kind)].push_back(
            {node, predicted.durations[found->second]});
        changes_[kLateStarts].push_back({node, predicted.delays[found->second]});
      }
    }
  }

  /// The kind that changes the step most goes over to predicted times for good.
  StepEffect take_largest() {
    const Duration before = length();
    auto largest = changes_.begin();
    Duration effect{};
    for (auto kind = changes_.begin(); kind != changes_.end(); ++kind) {
      const Duration changed = before - length_with(kind->first, kind->second);
      if (magnitude(changed) > magnitude(effect)) {
        largest = kind;
        effect = changed;
      }
    }
    apply(largest->first, largest->second);
    StepEffect taken{std::string(largest->first), effect};
    changes_.erase(largest);
    return taken;
  }
  [[nodiscard]] bool done() const { return changes_.empty(); }

 private:
  /// Rank, action, kind, and which of the action's pieces of that kind.
  using Place = std::tuple<RankId, std::int32_t, WorkKind, std::int32_t>;
  struct Change {
    std::size_t node = 0;
    Duration predicted{};
  };

  [[nodiscard]] static std::vector<Place> places_of(const StepWork& work) {
    std::vector<Place> places;
    std::map<Place, std::int32_t> pieces;
    for (const WorkPiece& piece : work.pieces) {
      const RankId rank = work.ranks[static_cast<std::size_t>(piece.rank)].rank;
      const std::int32_t before = pieces[{rank, piece.action, piece.kind, 0}]++;
      places.push_back({rank, piece.action, piece.kind, before});
    }
    return places;
  }

  void apply(std::string_view kind, const std::vector<Change>& changes) {
    std::vector<Duration>& times = kind == kLateStarts ? step_.delays : step_.durations;
    for (const Change& change : changes) {
      times[change.node] = change.predicted;
    }
  }
  [[nodiscard]] Duration length() const { return step_.makespan(step_.starts()); }
  [[nodiscard]] Duration length_with(std::string_view kind, const std::vector<Change>& changes) {
    std::vector<Duration>& times = kind == kLateStarts ? step_.delays : step_.durations;
    std::vector<Duration> before = times;
    apply(kind, changes);
    const Duration changed = length();
    times = std::move(before);
    return changed;
  }

  StepWork step_;
  std::map<std::string_view, std::vector<Change>> changes_;  ///< by kind
};

}  // namespace

std::vector<StepEffect> step_effects(const StepWork& predicted,
                                     const StepWork& measured,
                                     Duration difference) {
  std::vector<StepEffect> effects;
  Duration left = difference;
  for (Substitution substitution(predicted, measured); !substitution.done();) {
    StepEffect effect = substitution.take_largest();
    left -= effect.effect;
    if (effect.effect != Duration{}) {
      effects.push_back(std::move(effect));
    }
  }
  if (left != Duration{}) {
    effects.push_back({kUnexplained, left});
  }
  return effects;
}

Explanation explain_difference(const std::vector<StepEffect>& effects,
                               Duration difference,
                               double share) {
  Explanation explanation;
  for (const StepEffect& effect : effects) {
    const bool same_sign = (effect.effect < Duration{}) == (difference < Duration{});
    if (explanation.share < share && same_sign && effect.kind != kUnexplained) {
      explanation.kinds.push_back(effect.kind);
      explanation.share += to_seconds(effect.effect) / to_seconds(difference);
    }
  }
  return explanation;
}

}  // namespace stagewright
