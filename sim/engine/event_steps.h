#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "core/base/units.h"
#include "core/schedule/rank_program.h"
#include "sim/cost/phase_price.h"

namespace stagewright {

/// One operation that others may wait for, or a run of operations on one stream that concern
/// nobody else.
struct EventStep {
  StreamId stream;
  Duration alone{};
  std::optional<GroupSlot> group;    ///< of a collective
  OpKind kind = OpKind::kAllReduce;  ///< of a collective
  Bytes size{};                      ///< of a collective
  bool blocks = false;               ///< the compute stream waits for this collective at once
  struct Use {
    TensorId tensor;  ///< by whoever owns its memory
    bool writes = false;
    friend bool operator==(const Use&, const Use&) = default;
  };
  std::vector<Use> uses;  ///< of tensors that communication has a part in
  friend bool operator==(const EventStep&, const EventStep&) = default;
};

/// The steps of a program's actions, priced for one place; worked out once per kind of action and
/// stage or bucket.
class EventSteps {
 public:
  /// All must outlive this.
  EventSteps(const RankProgram& program, RankPlace place, const CostModel& cost);

  [[nodiscard]] const std::vector<EventStep>& of(const Action& action);
  [[nodiscard]] const RankPlace& place() const { return place_; }

 private:
  void mark(const Operation& op);
  [[nodiscard]] std::vector<EventStep> work_out(const Action& action) const;
  /// If communication has a part in the tensor.
  void add_use(EventStep& step, TensorId tensor, bool writes) const;
  /// Lets the first step wait for a pass's message and the last one make what it sends.
  void keep_whole(const Action& action, std::vector<EventStep>& steps) const;

  const RankProgram& program_;
  RankPlace place_;
  const CostModel& cost_;
  std::vector<bool> communicated_;  ///< by tensor that owns memory
  std::map<std::tuple<ActionKind, StageId, std::int32_t, BucketId>, std::vector<EventStep>> known_;
};

}  // namespace stagewright
