#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/units.h"
#include "runtime/executor/rank_plan.h"
#include "runtime/executor/step_record.h"

namespace stagewright {

/// What waits for what when all ranks of a schedule run their lists, by the rules of
/// core/schedule/semantics.h: an instruction for the one before it on its lane and for those that
/// it names, the sides of a message and the members of a collective for each other, and whatever is
/// issued from a send on for the send before it on its channel.
class InstructionGraph {
 public:
  /// REQUIRES: the plans of all ranks of one valid schedule, in order.  They must outlive it.
  explicit InstructionGraph(std::vector<const RankPlan*> plans);

  /// Of one step: by rank and instruction.
  using Times = std::vector<std::vector<InstructionTimes>>;

  /// The step in which every instruction takes its `thread_time` of `measured` and begins as early
  /// as it can, counted from zero; a message or collective takes the longest of its members'.
  /// REQUIRES: an entry for every instruction.
  [[nodiscard]] Times retimed(const Times& measured) const;

 private:
  using Node = std::size_t;

  /// One rank's part in a node.
  struct Side {
    Node node = 0;
    std::optional<Node> gate;  ///< is done before it is issued
    std::vector<Node> needs;   ///< are done before it can begin, but for the gate
  };
  /// Which message or collective: its group, or both ranks and the channel; then its number there.
  struct Meeting {
    std::int32_t group = -1;
    std::int32_t source = -1;
    std::int32_t destination = -1;
    std::int32_t channel = -1;
    std::int32_t number = 0;
    friend auto operator<=>(const Meeting&, const Meeting&) = default;
  };

  Node add_node();
  void add_rank(std::size_t rank, std::map<Meeting, Node>& met);
  void sort_nodes();
  /// All but the number.
  [[nodiscard]] static Meeting meeting_of(const RankPlan& plan, const Instruction& instruction);
  [[nodiscard]] std::vector<Duration> ends_of(const std::vector<Duration>& durations) const;

  std::vector<const RankPlan*> plans_;
  std::vector<std::vector<Side>> sides_;  ///< by rank and instruction
  std::vector<std::vector<Node>> needs_;  ///< by node
  std::vector<Node> order_;               ///< all nodes, each after those it needs
};

}  // namespace stagewright
