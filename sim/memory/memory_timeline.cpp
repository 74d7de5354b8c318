#include "sim/memory/memory_timeline.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace stagewright {
namespace {

std::size_t class_index(const RankProgram& program, const Lifetime& lifetime) {
  return static_cast<std::size_t>(program.tensors[lifetime.tensor.index()].tensor_class);
}

/// Sweeps over the issue order; lifetimes end behind their last point.
class Sweep {
 public:
  explicit Sweep(const RankProgram& program)
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
      result_.peaks.total = std::max(result_.peaks.total, total_of(highest));
    }
    return std::move(result_);
  }

 private:
  void drop_before(ProgramPoint point) {
    for (; ended_ < by_last_.size() && lifetimes_[by_last_[ended_]].last < point; ++ended_) {
      const Lifetime& over = lifetimes_[by_last_[ended_]];
      live_[class_index(program_, over)] -= over.bytes;
    }
  }

  void add(const Lifetime& lifetime) {
    const std::size_t tag = class_index(program_, lifetime);
    live_[tag] += lifetime.bytes;
    result_.peaks.by_class[tag] = std::max(result_.peaks.by_class[tag], live_[tag]);
  }

  const RankProgram& program_;
  std::vector<Lifetime> lifetimes_;
  std::vector<std::size_t> by_last_;
  std::size_t ended_ = 0;
  LiveBytes live_{};
  MemoryTimeline result_;
};

}  // namespace

Bytes total_of(const LiveBytes& live) {
  return std::accumulate(live.begin(), live.end(), Bytes{});
}

MemoryTimeline memory_timeline(const RankProgram& program) {
  return Sweep(program).run();
}

Bytes device_memory(const MemoryPeaks& peaks, const DeviceType& device) {
  return peaks.total + device.context;
}

bool fits(const MemoryPeaks& peaks, const DeviceType& device) {
  return device_memory(peaks, device) <= device.memory;
}

}  // namespace stagewright
