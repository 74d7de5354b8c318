#include "gui/models/compared_steps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

namespace stagewright::gui {
namespace {

using Key = std::tuple<ActionKind, std::int32_t, std::int32_t>;

Key key_of(const ActionStore& store, ActionIndex action) {
  return {store.kind[action], store.stage[action], store.micro_batch[action]};
}

/// Lays the lanes of both stores out rank by rank.
class Beside {
 public:
  Beside(const ActionStore& first, const ActionStore& second, std::int64_t shift)
      : first_(first), second_(second), shift_(shift) {}

  ComparedSteps run() && {
    result_.actions.ranks = std::max(first_.ranks, second_.ranks);
    for (std::int32_t rank = 0; rank < result_.actions.ranks; ++rank) {
      add_rank(RankId(rank));
    }
    finish_kinds();
    std::ranges::stable_sort(result_.matches, [](const ActionMatch& a, const ActionMatch& b) {
      return std::abs(a.own.count()) > std::abs(b.own.count());
    });
    return std::move(result_);
  }

 private:
  /// An action of a rank: its first part, and how long all of them take.
  struct Added {
    ActionIndex action = 0;
    Duration length{};
  };

  void add_rank(RankId rank) {
    std::map<Key, Added> by_key;
    add_lanes(first_, rank, LaneUse::kCompute, 0);
    for (const Added& added : added_) {
      by_key.emplace(key_of(result_.actions, added.action), added);
    }
    result_.only_first += static_cast<std::int64_t>(added_.size());
    add_lanes(second_, rank, LaneUse::kCompared, shift_);
    std::vector<ActionMatch> matches;
    for (const Added& added : added_) {
      const auto found = by_key.find(key_of(result_.actions, added.action));
      if (found == by_key.end()) {
        ++result_.only_second;
        continue;
      }
      --result_.only_first;
      matches.push_back(match(found->second, added));
      by_key.erase(found);
    }
    add_strip(rank, matches);
    add_communication(rank);
    result_.matches.insert(result_.matches.end(), matches.begin(), matches.end());
  }

  /// Messages and collectives count among the kinds, but have no lanes of their own.
  void add_communication(RankId rank) {
    std::map<std::tuple<Key, std::int32_t>, Duration> lengths;
    std::map<Key, std::int32_t> before;  // reductions of several buckets are alike but for that
    for_communication(first_, rank, [&](ActionIndex i) {
      const Key key = key_of(first_, i);
      lengths.emplace(std::tuple(key, before[key]++), first_.duration(i));
    });
    before.clear();
    for_communication(second_, rank, [&](ActionIndex i) {
      const Key key = key_of(second_, i);
      const auto found = lengths.find(std::tuple(key, before[key]++));
      if (found != lengths.end()) {
        add_to_kind(second_.kind[i], found->second, second_.duration(i));
      }
    });
  }

  template <class Visit>
  static void for_communication(const ActionStore& store, RankId rank, const Visit& visit) {
    for (const Lane& lane : store.lanes_of(rank)) {
      for (ActionIndex i = lane.begin; i < lane.end && lane.use != LaneUse::kCompute; ++i) {
        visit(i);
      }
    }
  }

  void add_to_kind(ActionKind of, Duration first, Duration second) {
    KindMatch& kind = kinds_[static_cast<std::size_t>(of)];
    ++kind.count;
    kind.first += first;
    kind.second += second;
    kind.mean_error += std::abs(share_of(second - first, first));
  }

  [[nodiscard]] static double share_of(Duration part, Duration whole) {
    return whole > Duration{} ? to_seconds(part) / to_seconds(whole) : 0;
  }

  void add_lanes(const ActionStore& from, RankId rank, LaneUse use, std::int64_t shift) {
    added_.clear();
    for (const Lane& lane : from.lanes_of(rank)) {
      if (lane.use != LaneUse::kCompute) {
        continue;
      }
      Lane copy{.rank = rank, .use = use, .number = lane.number, .begin = result_.actions.size()};
      for (ActionIndex i = lane.begin; i < lane.end; ++i) {
        if (!goes_on(from, lane, i)) {
          added_.push_back({.action = result_.actions.size()});
        }
        added_.back().length += from.duration(i);
        push(from, i, shift, 0);
      }
      copy.end = result_.actions.size();
      result_.actions.lanes.push_back(copy);
    }
  }

  void push(const ActionStore& from, ActionIndex i, std::int64_t shift, float error) {
    ActionStore& to = result_.actions;
    to.start.push_back(from.start[i] + shift);
    to.end.push_back(from.end[i] + shift);
    to.micro_batch.push_back(from.micro_batch[i]);
    to.stage.push_back(from.stage[i]);
    to.place.push_back(from.place[i]);
    to.kind.push_back(from.kind[i]);
    to.chunk.push_back(from.chunk[i]);
    to.error.push_back(error);
    to.length = std::max(to.length, to.end.back());
  }

  [[nodiscard]] ActionMatch match(const Added& first, const Added& second) {
    const ActionStore& store = result_.actions;
    const ActionMatch match{
        .first = first.action,
        .second = second.action,
        .first_time = first.length,
        .own = second.length - first.length,
        .inherited = Duration(store.start[second.action] - store.start[first.action])};
    add_to_kind(store.kind[first.action], first.length, second.length);
    return match;
  }

  [[nodiscard]] static double error_of(const ActionMatch& match) {
    return share_of(match.own, match.first_time);
  }

  void add_strip(RankId rank, std::vector<ActionMatch> matches) {
    std::ranges::sort(matches, {}, &ActionMatch::second);
    Lane lane{.rank = rank, .use = LaneUse::kError, .begin = result_.actions.size()};
    std::int64_t free = result_.actions.start.empty() ? 0 : INT64_MIN;
    for (const ActionMatch& each : matches) {
      // Of actions that overlap the first alone has a place in the strip.
      if (result_.actions.start[each.second] >= free) {
        const Lane& of_second = result_.actions.lanes[result_.actions.lane_of(each.second)];
        for (ActionIndex i = each.second;
             i == each.second || (i < of_second.end && goes_on(result_.actions, of_second, i));
             ++i) {
          free = result_.actions.end[i];
          push(result_.actions, i, 0, static_cast<float>(error_of(each)));
        }
      }
    }
    lane.end = result_.actions.size();
    if (lane.end > lane.begin) {
      result_.actions.lanes.push_back(lane);
    }
  }

  void finish_kinds() {
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i].count > 0) {
        kinds_[i].kind = static_cast<ActionKind>(i);
        kinds_[i].mean_error /= static_cast<double>(kinds_[i].count);
        result_.kinds.push_back(kinds_[i]);
      }
    }
    std::ranges::stable_sort(result_.kinds, std::ranges::greater{}, &KindMatch::second);
  }

  const ActionStore& first_;
  const ActionStore& second_;
  std::int64_t shift_;
  ComparedSteps result_;
  std::vector<Added> added_;
  std::array<KindMatch, kActionKindCount> kinds_{};
};

}  // namespace

ComparedSteps compare_steps(const ActionStore& first,
                            const ActionStore& second,
                            Alignment alignment) {
  const std::int64_t shift =
      alignment == Alignment::kEnd ? first.length - second.length : std::int64_t{0};
  ComparedSteps compared = Beside(first, second, shift).run();
  compared.first_length = Duration(first.length);
  compared.second_length = Duration(second.length);
  return compared;
}

}  // namespace stagewright::gui
