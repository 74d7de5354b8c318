#include "runtime/executor/rank_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "runtime/executor/conflict_tracker.h"

namespace stagewright {

namespace {

[[nodiscard]] InstructionKind kind_of(const Action& action) {
  if (is_send(action.kind)) {
    return InstructionKind::kSend;
  }
  return is_receive(action.kind) ? InstructionKind::kReceive : InstructionKind::kLoad;
}

/// The instance of a tensor that an action means: (tensor, micro-batch), where persistent tensors
/// have none of the latter.
using Instance = std::pair<TensorId, std::optional<MicroBatchId>>;

class PlanBuilder {
 public:
  PlanBuilder(const Schedule& schedule, RankId rank)
      : schedule_(schedule),
        binding_(schedule.ranks[rank.index()]),
        program_(schedule.programs[binding_.program.index()]) {
    plan_.rank = rank;
    plan_.program = &program_;
  }

  [[nodiscard]] Result<RankPlan> build() {
    plan_.lifetimes = lifetimes(program_);
    plan_.arena = plan_arena(plan_.lifetimes);
    for (std::size_t i = 0; i < plan_.lifetimes.size(); ++i) {
      const Lifetime& lifetime = plan_.lifetimes[i];
      instances_[{lifetime.tensor, lifetime.micro_batch}].push_back(i);
    }
    for (const std::string& stream : schedule_.streams) {
      plan_.lanes.push_back({stream, StreamId(plan_.lanes.size())});
    }
    for (std::size_t i = 0; i < program_.actions.size(); ++i) {
      add_action(static_cast<std::int32_t>(i));
    }
    number_updates();
    find_releases();
    find_waits();
    find_totals();
    return std::move(plan_);
  }

 private:
  void add_action(std::int32_t index) {
    const Action& action = program_.actions[static_cast<std::size_t>(index)];
    const ActionOperations operations = operations_of(program_, action);
    for (std::size_t op = 0; op < operations.ops.size(); ++op) {
      if (operations.includes(operations.ops[op])) {
        add_operation(index, static_cast<std::int32_t>(op), operations.ops[op]);
      }
    }
    const std::vector<TensorId> moved = moved_tensors(program_, action);
    if (!moved.empty()) {
      add_transfer(index, action, moved);
    }
  }

  void add_operation(std::int32_t action, std::int32_t op, const Operation& operation) {
    Instruction instruction;
    instruction.action = action;
    instruction.op = op;
    instruction.operation = &operation;
    instruction.lane = LaneId(operation.stream.index());
    if (class_of(operation.kind) == OpClass::kCollective) {
      SW_CHECK(operation.group, "a collective that names its group");
      instruction.kind = InstructionKind::kCollective;
      instruction.group = binding_.groups[operation.group->index()];
    }
    if (operation.slice) {
      const Operation::Slice& slice = *operation.slice;
      const std::int64_t position = slice.group ? binding_.positions[slice.group->index()] : 0;
      instruction.slice_begin = std::min(position * slice.stride, slice.total);
      instruction.slice_end = std::min((position + 1) * slice.stride, slice.total);
    }
    for (const TensorId tensor : operation.inputs) {
      instruction.inputs.push_back(place(tensor, {action, op}));
    }
    for (const TensorId tensor : operation.outputs) {
      instruction.outputs.push_back(place(tensor, {action, op}));
    }
    instruction.bytes = bytes_moved(operation);
    instruction.flops = flops_of(operation);
    plan_.instructions.push_back(std::move(instruction));
  }

  void add_transfer(std::int32_t index, const Action& action, const std::vector<TensorId>& moved) {
    Instruction instruction;
    instruction.kind = kind_of(action);
    instruction.action = index;
    std::vector<OperandPlace>& places =
        instruction.kind == InstructionKind::kSend ? instruction.inputs : instruction.outputs;
    for (const TensorId tensor : moved) {
      places.push_back(place(tensor, {index, 0}));
      instruction.bytes += Bytes(places.back().bytes);
    }
    if (instruction.kind != InstructionKind::kLoad) {
      instruction.peer = binding_.peers[action.peer.index()];
      instruction.lane = lane_of_channel(*instruction.peer, action.kind);
    }
    plan_.instructions.push_back(std::move(instruction));
  }

  [[nodiscard]] LaneId lane_of_channel(RankId peer, ActionKind kind) {
    const auto [entry, is_new] =
        channels_.try_emplace(std::pair(peer, kind), LaneId(plan_.lanes.size()));
    if (is_new) {
      // Traces name the streams of the schedule; transfers that have none of their own stand
      // under the number that follows, the same for every rank.
      const StreamId stream(schedule_.streams.size() + static_cast<std::size_t>(kind) -
                            static_cast<std::size_t>(ActionKind::kSendActivation));
      plan_.lanes.push_back({fmt::format("{} {}", name_of(kind), peer.value()), stream});
    }
    return entry->second;
  }

  /// The memory of `tensor` at a point of the list.
  [[nodiscard]] OperandPlace place(TensorId tensor, ProgramPoint point) const {
    const TensorSpec& spec = program_.tensors[tensor.index()];
    if (spec.view) {
      OperandPlace base = place(spec.view->base, point);
      const std::optional<GroupSlot>& group = spec.view->group;
      const std::int64_t position = group ? binding_.positions[group->index()] : 0;
      base.offset +=
          (spec.view->offset + position * spec.view->stride) * size_of(spec.dtype).count();
      base.bytes = spec.bytes().count();
      return base;
    }
    std::optional<MicroBatchId> micro_batch;
    if (spec.scope == TensorScope::kMicroBatch) {
      micro_batch = program_.actions[static_cast<std::size_t>(point.action)].micro_batch;
    }
    const auto found = instances_.find({tensor, micro_batch});
    SW_CHECK(found != instances_.end(), "every used tensor has a lifetime");
    // The newest one: a sent output may still be alive when it is computed again.
    const auto newest =
        std::find_if(found->second.rbegin(), found->second.rend(), [this, point](std::size_t i) {
          return plan_.lifetimes[i].first <= point;
        });
    SW_CHECK(newest != found->second.rend() && point <= plan_.lifetimes[*newest].last,
             "a tensor is used within its lifetime");
    return {*newest, plan_.arena.offsets[*newest], spec.bytes().count()};
  }

  /// The last instruction at or before a point.
  [[nodiscard]] std::size_t instruction_at(ProgramPoint point) const {
    const auto after =
        std::upper_bound(plan_.instructions.begin(),
                         plan_.instructions.end(),
                         point,
                         [](const ProgramPoint& wanted, const Instruction& instruction) {
                           return wanted < ProgramPoint{instruction.action, instruction.op};
                         });
    SW_CHECK(after != plan_.instructions.begin(), "a lifetime ends after the first operation");
    return static_cast<std::size_t>(after - plan_.instructions.begin()) - 1;
  }

  void number_updates() {
    std::map<StageId, std::int32_t> updates;
    std::vector<std::int32_t> number(program_.actions.size());
    for (std::size_t i = 0; i < program_.actions.size(); ++i) {
      if (program_.actions[i].kind == ActionKind::kUpdateParameters) {
        number[i] = updates[program_.actions[i].stage]++;
      }
    }
    for (Instruction& instruction : plan_.instructions) {
      const auto index = static_cast<std::size_t>(instruction.action);
      if (program_.actions[index].kind == ActionKind::kUpdateParameters) {
        instruction.update = number[index];
        instruction.updates = updates[program_.actions[index].stage];
      }
    }
  }

  void find_releases() {
    for (std::size_t i = 0; i < plan_.lifetimes.size(); ++i) {
      if (plan_.lifetimes[i].micro_batch) {
        const std::size_t last = instruction_at(plan_.lifetimes[i].last);
        plan_.instructions[last].released.push_back(i);
      }
    }
  }

  void find_waits() {
    std::vector<OperandPlace> operands;
    for (const Instruction& instruction : plan_.instructions) {
      operands.insert(operands.end(), instruction.inputs.begin(), instruction.inputs.end());
      operands.insert(operands.end(), instruction.outputs.begin(), instruction.outputs.end());
    }
    ConflictTracker tracker(operands, plan_.lanes.size());
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
      Instruction& instruction = plan_.instructions[i];
      instruction.waits = tracker.add(
          static_cast<std::int32_t>(i), instruction.lane, instruction.inputs, instruction.outputs);
    }
  }

  void find_totals() {
    if (!program_.totals) {
      return;
    }
    plan_.totals = persistent_place(plan_, *program_.totals);
    const auto touches = [this](const std::vector<OperandPlace>& places) {
      return std::any_of(places.begin(), places.end(), [this](const OperandPlace& other) {
        return other.lifetime == plan_.totals->lifetime;
      });
    };
    for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
      const Instruction& instruction = plan_.instructions[i];
      const bool clears =
          instruction.operation != nullptr && instruction.operation->kind == OpKind::kFill;
      if (!clears && (touches(instruction.inputs) || touches(instruction.outputs))) {
        plan_.totals_complete = static_cast<std::int32_t>(i);
      }
    }
  }

  const Schedule& schedule_;
  const RankBinding& binding_;
  const RankProgram& program_;
  RankPlan plan_;
  std::map<Instance, std::vector<std::size_t>> instances_;
  std::map<std::pair<RankId, ActionKind>, LaneId> channels_;
};

}  // namespace

Result<RankPlan> plan_rank(const Schedule& schedule, RankId rank) {
  return PlanBuilder(schedule, rank).build();
}

OperandPlace persistent_place(const RankPlan& plan, TensorId tensor) {
  const TensorSpec& spec = plan.program->tensors[tensor.index()];
  if (spec.view) {
    SW_CHECK(!spec.view->group, "a window in the same place on all ranks");
    OperandPlace base = persistent_place(plan, spec.view->base);
    base.offset += spec.view->offset * size_of(spec.dtype).count();
    base.bytes = spec.bytes().count();
    return base;
  }
  const auto found =
      std::find_if(plan.lifetimes.begin(), plan.lifetimes.end(), [&](const Lifetime& lifetime) {
        return lifetime.tensor == tensor && !lifetime.micro_batch;
      });
  SW_CHECK(found != plan.lifetimes.end(), "a persistent tensor");
  const auto index = static_cast<std::size_t>(found - plan.lifetimes.begin());
  return {index, plan.arena.offsets[index], spec.bytes().count()};
}

bool on_host(const Instruction& instruction) {
  return instruction.kind == InstructionKind::kCompute ||
         instruction.kind == InstructionKind::kLoad;
}

std::string describe(const RankPlan& plan, const Instruction& instruction) {
  const Action& action = plan.program->actions[static_cast<std::size_t>(instruction.action)];
  std::string text = fmt::format("action {} ({})", instruction.action, to_string(action));
  if (instruction.operation != nullptr) {
    text +=
        fmt::format(", operation {} ({})", instruction.op, name_of(instruction.operation->kind));
  }
  if (instruction.peer) {
    text += fmt::format(" {} rank {}",
                        instruction.kind == InstructionKind::kSend ? "to" : "from",
                        instruction.peer->value());
  }
  if (instruction.group) {
    text += fmt::format(" in group {}", instruction.group->value());
  }
  return text;
}

}  // namespace stagewright
