#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/schedule/lifetimes.h"
#include "core/schedule/schedule.h"

namespace stagewright {

/// An ordered queue of instructions of one rank.  Lane 0 computes; then one lane for each other
/// stream of the schedule, then one for each channel (peer, kind of transfer).
using LaneId = Id<struct LaneTag>;
inline constexpr LaneId kComputeLane{0};

struct Lane {
  std::string label;
  StreamId stream;  ///< under which its instructions stand in a trace
  friend bool operator==(const Lane&, const Lane&) = default;
};

/// Where an operand lies.
struct OperandPlace {
  std::size_t lifetime = 0;  ///< into RankPlan::lifetimes: whose memory it is
  std::int64_t offset = 0;   ///< bytes from the start of the arena
  std::int64_t bytes = 0;
  friend bool operator==(const OperandPlace&, const OperandPlace&) = default;
};

enum class InstructionKind : std::uint8_t {
  kCompute,
  kLoad,  ///< on the compute lane: the host writes tokens and targets
  kCollective,
  kSend,
  kReceive,
};

/// One operation, transfer or load, with everything looked up that does not change from step to
/// step.
struct Instruction {
  InstructionKind kind = InstructionKind::kCompute;
  std::int32_t action = 0;               ///< into RankProgram::actions
  std::int32_t op = 0;                   ///< into operations_of(program, action).ops
  const Operation* operation = nullptr;  ///< of kCompute and kCollective
  std::vector<OperandPlace> inputs;      ///< what is sent, for kSend
  std::vector<OperandPlace> outputs;     ///< what is received or loaded
  LaneId lane;                           ///< runs here, after the lane's instruction before
  std::vector<std::int32_t> waits;       ///< and after these, at most one of each other lane
  std::vector<std::size_t> released;     ///< lifetimes that end here
  std::optional<RankId> peer;            ///< of kSend and kReceive
  std::optional<GroupId> group;          ///< of kCollective
  std::int64_t slice_begin = 0;          ///< vocabulary entries of Operation::slice that
  std::int64_t slice_end = 0;            ///< this rank holds
  std::int32_t update = 0;               ///< of kUpdateParameters: which of its stage's in a
  std::int32_t updates = 1;              ///< step, of how many
  Bytes bytes{};                         ///< moved: message, or operands
  Flops flops{};
};

/// Run by the rank's own thread; everything else is posted, and goes on beside it.
[[nodiscard]] bool on_host(const Instruction& instruction);

/// A rank's action list made flat, ready to be run any number of times: the operations in issue
/// order, each with its place in memory and with what it has to wait for.  Instructions of
/// different lanes wait for each other exactly where they touch the same bytes and at least one of
/// them writes: that covers both the data dependences of core/schedule/semantics.h and memory that
/// the arena gives to one tensor after another.
struct RankPlan {
  RankId rank;
  const RankProgram* program = nullptr;
  std::vector<Instruction> instructions;
  std::vector<Lane> lanes;
  std::vector<Lifetime> lifetimes;
  ArenaPlan arena;
  /// After this instruction the totals of the step are complete and not yet cleared.
  std::optional<std::int32_t> totals_complete;
  std::optional<OperandPlace> totals;
};

/// The plan of one rank.  It refers to `schedule`, which must outlive it.
/// REQUIRES: validate(schedule).
[[nodiscard]] Result<RankPlan> plan_rank(const Schedule& schedule, RankId rank);

/// Where a tensor that lives through the whole run lies.  REQUIRES: it is persistent.
[[nodiscard]] OperandPlace persistent_place(const RankPlan& plan, TensorId tensor);

/// "action 12 (0SEND_F3) to rank 2", "action 4 (1F0), operation 7 (gemm)": for messages.
[[nodiscard]] std::string describe(const RankPlan& plan, const Instruction& instruction);

}  // namespace stagewright
