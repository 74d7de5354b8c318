#include "planner/schedules/synthesis/replay.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

#include "core/base/check.h"

namespace stagewright::synthesis {
namespace {

constexpr std::int64_t kNotYet = -1;
/// How far back along a micro-batch's way a rank looks for what it waits for.
constexpr std::int32_t kLookBack = 6;

/// A forward or backward that a rank has still to do.
struct Queued {
  double time = 0;
  OrderStep step;
};

class Replay {
 public:
  Replay(const StepTable& table, const VirtualTimes& times, const ReplayRule& rule)
      : table_(table),
        rule_(rule),
        ends_(static_cast<std::size_t>(table.slots), kNotYet),
        ranks_(table.caps.size()),
        lists_(table.caps.size()) {
    fill_queues(times);
  }

  std::optional<StepLists> run() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      wake(0, rank);
    }
    while (!events_.empty()) {
      const auto [now, rank] = events_.top();
      events_.pop();
      if (now >= ranks_[rank].clock) {
        decide(rank, now);
      }
    }
    for (const Rank& rank : ranks_) {
      if (rank.begin < rank.queue.size() || rank.weights_begin < rank.weights.size()) {
        return std::nullopt;
      }
    }
    return std::move(lists_);
  }

 private:
  struct Rank {
    std::vector<Queued> queue;       ///< by virtual time
    std::vector<bool> done;          ///< of the queue
    std::size_t begin = 0;           ///< the first not done
    std::vector<OrderStep> weights;  ///< halves in the order in which they became possible
    std::size_t weights_begin = 0;
    std::int64_t clock = 0;
    std::int64_t held = 0;
  };

  void fill_queues(const VirtualTimes& times) {
    const std::int32_t micro_batches = table_.frame.micro_batches;
    std::size_t cell = 0;
    for (std::int32_t stage = 0; stage < table_.frame.stages; ++stage) {
      Rank& rank = ranks_[static_cast<std::size_t>(table_.rank_of(stage))];
      const StepPart backward = backward_part(stage);
      for (std::int32_t m = 0; m < micro_batches; ++m, ++cell) {
        rank.queue.push_back(
            {times.forward[cell], {StepTable::type_of(stage, StepPart::kForward), m}});
        rank.queue.push_back({times.backward[cell], {StepTable::type_of(stage, backward), m}});
      }
    }
    for (Rank& rank : ranks_) {
      std::stable_sort(rank.queue.begin(), rank.queue.end(), [](const Queued& a, const Queued& b) {
        return a.time < b.time;
      });
      rank.done.resize(rank.queue.size());
    }
  }

  [[nodiscard]] StepPart backward_part(std::int32_t stage) const {
    bool whole = false;
    switch (rule_.backwards) {
      case Backwards::kCheaper:
        whole = table_.whole[static_cast<std::size_t>(stage)];
        break;
      case Backwards::kSplit:
        break;
      case Backwards::kWhole:
        whole = true;
        break;
    }
    return whole ? StepPart::kWholeBackward : StepPart::kInputHalf;
  }

  void wake(std::int64_t when, std::size_t rank) { events_.emplace(when, rank); }

  [[nodiscard]] const StepType& type_of(const OrderStep& step) const {
    return table_.types[static_cast<std::size_t>(step.type)];
  }

  /// When a step's data are here: exactly, or at the earliest where what makes them has not begun.
  struct Arrival {
    std::int64_t time = 0;
    bool known = true;
  };
  [[nodiscard]] Arrival arrival(const OrderStep& step, std::int32_t look_back = kLookBack) const {
    const StepType& type = type_of(step);
    Arrival here;
    if (type.own) {
      const std::int64_t end = ends_[static_cast<std::size_t>(*type.own + step.micro_batch)];
      here = {std::max<std::int64_t>(end, 0), end != kNotYet};
    }
    if (!type.dependency) {
      return here;
    }
    const std::int64_t end = ends_[static_cast<std::size_t>(*type.dependency + step.micro_batch)];
    if (end != kNotYet) {
      here.time = std::max(here.time, end + type.delay);
      return here;
    }
    here.known = false;
    if (look_back > 0) {
      const OrderStep maker = maker_of(step);
      const StepType& made_by = type_of(maker);
      const std::int64_t begin =
          std::max(arrival(maker, look_back - 1).time,
                   ranks_[static_cast<std::size_t>(made_by.rank)].clock + made_by.before);
      here.time = std::max(here.time, begin + made_by.duration + type.delay);
    }
    return here;
  }
  /// The neighbouring stage's step that a step depends on.
  [[nodiscard]] OrderStep maker_of(const OrderStep& step) const {
    const bool forward = StepTable::part_of(step.type) == StepPart::kForward;
    return {forward ? step.type - kStepParts : step.type + kStepParts, step.micro_batch};
  }

  [[nodiscard]] bool fits(std::size_t rank, const OrderStep& step) const {
    return ranks_[rank].held + type_of(step).take <= table_.caps[rank];
  }

  /// The place in the queue of the step that the rank means to do next: its first, or, where memory
  /// does not let it, the first that memory lets.
  [[nodiscard]] std::optional<std::size_t> next_allowed(std::size_t rank) const {
    const Rank& state = ranks_[rank];
    for (std::size_t i = state.begin; i < state.queue.size(); ++i) {
      if (!state.done[i] && fits(rank, state.queue[i].step)) {
        return i;
      }
    }
    return std::nullopt;
  }

  /// A step behind `next` that is here and may go before it.
  [[nodiscard]] std::optional<std::size_t> overtaking(std::size_t rank,
                                                      std::size_t next,
                                                      std::int64_t now,
                                                      std::int64_t until) const {
    const Rank& state = ranks_[rank];
    std::int32_t left = rule_.window;
    for (std::size_t i = next + 1; i < state.queue.size() && left > 0; ++i) {
      if (state.done[i]) {
        continue;
      }
      --left;
      const OrderStep& step = state.queue[i].step;
      const StepType& type = type_of(step);
      const Arrival here = arrival(step, 0);
      if (here.known && here.time <= now && fits(rank, step) &&
          (!rule_.must_fit || now + type.before + type.duration <= until)) {
        return i;
      }
    }
    return std::nullopt;
  }

  void decide(std::size_t rank, std::int64_t now) {
    Rank& state = ranks_[rank];
    while (state.begin < state.queue.size() && state.done[state.begin]) {
      ++state.begin;
    }
    const bool pending = state.weights_begin < state.weights.size();
    if (state.begin == state.queue.size()) {
      if (pending) {
        run_weight(rank, now);
      }
      return;
    }
    if (pending && !fits(rank, state.queue[state.begin].step)) {
      run_weight(rank, now);
      return;
    }
    const std::optional<std::size_t> next = next_allowed(rank);
    if (!next) {
      if (pending) {
        run_weight(rank, now);
      }
      return;
    }
    const OrderStep& step = state.queue[*next].step;
    const Arrival here = arrival(step);
    if (here.known && here.time <= now + type_of(step).before) {
      run_queued(rank, *next, now);
      return;
    }
    use_wait(rank, *next, now, here);
  }

  void use_wait(std::size_t rank, std::size_t next, std::int64_t now, const Arrival& here) {
    Rank& state = ranks_[rank];
    if (const auto other = overtaking(rank, next, now, here.time)) {
      run_queued(rank, *other, now);
      return;
    }
    if (state.weights_begin < state.weights.size()) {
      const auto length = static_cast<double>(type_of(state.weights[state.weights_begin]).duration);
      if (static_cast<double>(here.time - now) >= rule_.weight_share * length) {
        run_weight(rank, now);
        return;
      }
    }
    if (here.known) {
      wake(here.time - type_of(state.queue[next].step).before, rank);
    }
  }

  void run_queued(std::size_t rank, std::size_t place, std::int64_t now) {
    Rank& state = ranks_[rank];
    state.done[place] = true;
    const OrderStep step = state.queue[place].step;
    const StepPart part = StepTable::part_of(step.type);
    run(rank, step, now);
    if (part == StepPart::kInputHalf) {
      state.weights.push_back(
          {StepTable::type_of(StepTable::stage_of(step.type), StepPart::kWeightHalf),
           step.micro_batch});
    }
  }

  void run_weight(std::size_t rank, std::int64_t now) {
    Rank& state = ranks_[rank];
    run(rank, state.weights[state.weights_begin++], now);
  }

  void run(std::size_t rank, const OrderStep& step, std::int64_t now) {
    Rank& state = ranks_[rank];
    const StepType& type = type_of(step);
    state.held += type.take - type.give;
    state.clock = std::max(now + type.before, arrival(step, 0).time) + type.duration;
    ends_[static_cast<std::size_t>(type.slot + step.micro_batch)] = state.clock;
    lists_[rank].push_back(step);
    wake(state.clock, rank);
    if (type.consumer) {
      // It may plan its wait as soon as it knows when the data will be there.
      wake(std::max(now, ranks_[static_cast<std::size_t>(*type.consumer)].clock),
           static_cast<std::size_t>(*type.consumer));
    }
  }

  using Event = std::pair<std::int64_t, std::size_t>;

  const StepTable& table_;
  const ReplayRule& rule_;
  std::vector<std::int64_t> ends_;  ///< by slot
  std::vector<Rank> ranks_;
  StepLists lists_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

std::optional<StepLists> replay(const StepTable& table,
                                const VirtualTimes& times,
                                const ReplayRule& rule) {
  SW_CHECK(times.forward.size() == times.backward.size(), "times for all steps");
  return Replay(table, times, rule).run();
}

}  // namespace stagewright::synthesis
