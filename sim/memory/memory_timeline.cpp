#include "sim/memory/memory_timeline.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "core/schedule/semantics.h"
#include "sim/memory/micro_batch_pattern.h"

namespace stagewright {
namespace {

std::size_t class_index(const RankProgram& program, TensorId tensor) {
  return static_cast<std::size_t>(program.tensors[tensor.index()].tensor_class);
}

/// Sweeps over all lifetimes in issue order; they end behind their last point.
class LifetimeSweep {
 public:
  explicit LifetimeSweep(const RankProgram& program)
      : program_(program), lifetimes_(lifetimes(program)), by_last_(lifetimes_.size()) {
    std::iota(by_last_.begin(), by_last_.end(), std::size_t{0});
    std::ranges::sort(by_last_, {}, [&](std::size_t i) { return lifetimes_[i].last; });
    result_.by_action.reserve(program.actions.size());
  }

  [[nodiscard]] MemoryTimeline run() && {
    std::size_t next = 0;
    for (std::size_t action = 0; action < program_.actions.size(); ++action) {
      const auto at = static_cast<std::int32_t>(action);
      drop_before({at, 0});
      LiveBytes highest = live_;
      for (; next < lifetimes_.size() && lifetimes_[next].first.action == at; ++next) {
        drop_before(lifetimes_[next].first);
        add(lifetimes_[next]);
        if (total_of(live_) > total_of(highest)) {
          highest = live_;
        }
      }
      result_.by_action.push_back(highest);
    }
    result_.peaks = memory_peaks(program_, lifetimes_);
    return std::move(result_);
  }

 private:
  void drop_before(ProgramPoint point) {
    for (; ended_ < by_last_.size() && lifetimes_[by_last_[ended_]].last < point; ++ended_) {
      const Lifetime& over = lifetimes_[by_last_[ended_]];
      live_[class_index(program_, over.tensor)] -= over.bytes;
    }
  }

  void add(const Lifetime& lifetime) {
    live_[class_index(program_, lifetime.tensor)] += lifetime.bytes;
  }

  const RankProgram& program_;
  std::vector<Lifetime> lifetimes_;
  std::vector<std::size_t> by_last_;
  std::size_t ended_ = 0;
  LiveBytes live_{};
  MemoryTimeline result_;
};

/// Sweeps over the actions with a pattern for each micro-batch.
class PatternSweep {
 public:
  explicit PatternSweep(const RankProgram& program) : program_(program) {}

  /// Nothing if some micro-batch has no pattern.
  [[nodiscard]] std::optional<MemoryTimeline> run() && {
    if (!find_patterns()) {
      return std::nullopt;
    }
    for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
      const TensorSpec& tensor = program_.tensors[i];
      if (tensor.scope == TensorScope::kPersistent && !tensor.view) {
        live_[class_index(program_, TensorId(i))] += arena_bytes(tensor);
      }
    }
    result_.peaks = {live_, total_of(live_)};
    place_ends_of_sent();
    std::vector<std::size_t> position(pattern_of_.size(), 0);
    for (std::size_t i = 0; i < program_.actions.size(); ++i) {
      const std::size_t m = program_.actions[i].micro_batch.index();
      step(i, patterns_[pattern_of_[m]].actions[position[m]++]);
    }
    return std::move(result_);
  }

 private:
  bool find_patterns() {
    std::vector<std::vector<Action>> by_micro_batch;
    for (const Action& action : program_.actions) {
      if (by_micro_batch.size() <= action.micro_batch.index()) {
        by_micro_batch.resize(action.micro_batch.index() + 1);
      }
      by_micro_batch[action.micro_batch.index()].push_back(action);
    }
    TouchTable touches(program_);
    std::map<std::vector<std::tuple<ActionKind, StageId, BucketId>>, std::size_t> known;
    for (const std::vector<Action>& actions : by_micro_batch) {
      std::vector<std::tuple<ActionKind, StageId, BucketId>> key;
      key.reserve(actions.size());
      for (const Action& action : actions) {
        key.emplace_back(action.kind, action.stage, action.bucket);
      }
      const auto [found, is_new] = known.try_emplace(std::move(key), patterns_.size());
      if (is_new) {
        auto pattern = micro_batch_pattern(program_, touches, actions);
        if (!pattern) {
          return false;
        }
        patterns_.push_back(*std::move(pattern));
      }
      pattern_of_.push_back(found->second);
    }
    return true;
  }

  /// What a message carries away goes when the next send on its channel has been issued.
  void place_ends_of_sent() {
    const auto next_send = next_send_on_channel(program_.actions);
    std::vector<std::size_t> position(pattern_of_.size(), 0);
    for (std::size_t i = 0; i < program_.actions.size(); ++i) {
      const std::size_t m = program_.actions[i].micro_batch.index();
      const std::size_t k = position[m]++;
      if (!next_send[i]) {
        continue;
      }
      for (const SentTensor& sent : patterns_[pattern_of_[m]].sent) {
        if (sent.send == k) {
          ends_[static_cast<std::size_t>(*next_send[i])][sent.tensor_class] += sent.bytes;
        }
      }
    }
  }

  void step(std::size_t i, const ActionProfile& profile) {
    LiveBytes highest = live_;
    highest += profile.highest;
    for (std::size_t c = 0; c < live_.size(); ++c) {
      result_.peaks.by_class[c] =
          std::max(result_.peaks.by_class[c], live_[c] + profile.largest[c]);
    }
    result_.peaks.total = std::max(result_.peaks.total, total_of(highest));
    result_.by_action.push_back(highest);
    live_ += profile.after;
    if (const auto ended = ends_.find(i); ended != ends_.end()) {
      for (std::size_t c = 0; c < live_.size(); ++c) {
        live_[c] -= ended->second[c];
      }
    }
  }

  const RankProgram& program_;
  std::vector<MicroBatchPattern> patterns_;
  std::vector<std::size_t> pattern_of_;    ///< by micro-batch
  std::map<std::size_t, LiveBytes> ends_;  ///< of sent tensors, behind the action
  LiveBytes live_{};
  MemoryTimeline result_;
};

}  // namespace

MemoryTimeline memory_timeline(const RankProgram& program) {
  auto timeline = PatternSweep(program).run();
  return timeline ? *std::move(timeline) : memory_timeline_of_lifetimes(program);
}

MemoryTimeline memory_timeline_of_lifetimes(const RankProgram& program) {
  return LifetimeSweep(program).run();
}

Bytes device_memory(const MemoryPeaks& peaks, const DeviceType& device) {
  return peaks.total + device.context;
}

bool fits(const MemoryPeaks& peaks, const DeviceType& device) {
  return device_memory(peaks, device) <= device.memory;
}

}  // namespace stagewright
