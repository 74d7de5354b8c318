#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/schedule/checks.h"
#include "core/schedule/touches.h"

namespace stagewright {
namespace {

/// Kinds that happened to a (stage, micro-batch) so far, a bit each.
class Seen {
 public:
  [[nodiscard]] bool has(ActionKind kind) const { return (bits_ & bit(kind)) != 0; }
  [[nodiscard]] bool has_input_gradient() const {
    return has(ActionKind::kBackward) || has(ActionKind::kBackwardInput);
  }
  void add(ActionKind kind) { bits_ |= bit(kind); }

 private:
  static std::uint32_t bit(ActionKind kind) { return 1U << static_cast<unsigned>(kind); }
  std::uint32_t bits_ = 0;
};

/// By position of the stage: the buckets with a reduction that its backward adds to.
std::vector<std::vector<std::size_t>> buckets_of_stages(const RankProgram& program) {
  std::vector<std::vector<std::size_t>> buckets(program.stages.size());
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    std::set<TensorId> written;
    for (const Operation& op : program.stages[i].backward) {
      for (const TensorId output : op.outputs) {
        written.insert(memory_owner(program, output));
      }
    }
    for (std::size_t b = 0; b < program.buckets.size(); ++b) {
      if (!program.buckets[b].reduce.empty() &&
          written.contains(memory_owner(program, program.buckets[b].storage))) {
        buckets[i].push_back(b);
      }
    }
  }
  return buckets;
}

/// Walks one list; every complaint is about the action at hand.
class ListCheck {
 public:
  ListCheck(const RankProgram& program, std::int32_t micro_batches)
      : program_(program),
        seen_(program.stages.size(), std::vector<Seen>(static_cast<std::size_t>(micro_batches))),
        buckets_(buckets_of_stages(program)),
        unreduced_(program.buckets.size()) {}

  [[nodiscard]] std::optional<std::string> visit(const Action& action) {
    switch (action.kind) {
      case ActionKind::kReduceGradients:
        unreduced_[action.bucket.index()].reset();
        return std::nullopt;
      case ActionKind::kGatherParameters:
        return std::nullopt;
      case ActionKind::kOptimizerStep:
        return check_step();
      case ActionKind::kUpdateParameters:
        return check_update(action);
      case ActionKind::kLoadMicroBatch:
      case ActionKind::kForward:
      case ActionKind::kBackward:
      case ActionKind::kBackwardInput:
      case ActionKind::kBackwardWeight:
      case ActionKind::kRecompute:
      case ActionKind::kSendActivation:
      case ActionKind::kRecvActivation:
      case ActionKind::kSendGradient:
      case ActionKind::kRecvGradient:
        break;
    }
    const StageProgram& stage = program_.stage(action.stage);
    Seen& seen = *find(action.stage, action.micro_batch);
    if (!is_send(action.kind) && seen.has(action.kind)) {
      return "stands in the list twice";
    }
    auto missing = missing_before(action, stage, seen);
    seen.add(action.kind);
    if (action.kind == ActionKind::kBackward || action.kind == ActionKind::kBackwardWeight) {
      for (const std::size_t b : buckets_[position_of(stage)]) {
        unreduced_[b] = action;
      }
    }
    return missing;
  }

 private:
  [[nodiscard]] std::size_t position_of(const StageProgram& stage) const {
    return static_cast<std::size_t>(&stage - program_.stages.data());
  }

  /// Null where the stage is not on this rank.
  [[nodiscard]] Seen* find(StageId stage, MicroBatchId micro_batch) {
    const auto found = std::ranges::lower_bound(program_.stages, stage, {}, &StageProgram::stage);
    if (found == program_.stages.end() || found->stage != stage) {
      return nullptr;
    }
    return &seen_[static_cast<std::size_t>(found - program_.stages.begin())][micro_batch.index()];
  }

  [[nodiscard]] std::optional<std::string> check_reduced(std::size_t bucket) const {
    if (!unreduced_[bucket]) {
      return std::nullopt;
    }
    return fmt::format("uses gradients of bucket {} that no REDUCE{} completed after {}",
                       bucket,
                       bucket,
                       to_string(*unreduced_[bucket]));
  }

  [[nodiscard]] std::optional<std::string> check_step() const {
    for (std::size_t b = 0; b < unreduced_.size(); ++b) {
      if (auto complaint = check_reduced(b)) {
        return complaint;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::string> check_update(const Action& action) {
    const StageProgram& stage = program_.stage(action.stage);
    for (const std::size_t b : buckets_[position_of(stage)]) {
      if (auto complaint = check_reduced(b)) {
        return complaint;
      }
    }
    const Seen& seen = *find(action.stage, action.micro_batch);
    if (seen.has(ActionKind::kBackward) || seen.has(ActionKind::kBackwardWeight)) {
      return std::nullopt;
    }
    return fmt::format(
        "needs {0}B{1} or {0}W{1} before it", action.stage.value(), action.micro_batch.value());
  }

  [[nodiscard]] std::optional<std::string> missing_before(const Action& action,
                                                          const StageProgram& stage,
                                                          const Seen& seen) {
    const auto need = [&](ActionKind kind) -> std::optional<std::string> {
      if (seen.has(kind)) {
        return std::nullopt;
      }
      Action needed = action;
      needed.kind = kind;
      return fmt::format("needs {} before it", to_string(needed));
    };
    switch (action.kind) {
      case ActionKind::kForward:
        if ((stage.tokens || stage.targets) && !seen.has(ActionKind::kLoadMicroBatch)) {
          return need(ActionKind::kLoadMicroBatch);
        }
        return stage.input ? need_input(action, seen) : std::nullopt;
      case ActionKind::kBackward:
      case ActionKind::kBackwardInput:
        if (auto missing = need(ActionKind::kForward)) {
          return missing;
        }
        return stage.output_gradient ? need_gradient(action, seen) : std::nullopt;
      case ActionKind::kBackwardWeight:
        return need(ActionKind::kBackwardInput);
      case ActionKind::kRecompute:
        if (seen.has_input_gradient()) {
          return "comes after the backward that it is for";
        }
        return need(ActionKind::kForward);
      case ActionKind::kSendActivation:
        return need(ActionKind::kForward);
      case ActionKind::kSendGradient:
        if (seen.has_input_gradient()) {
          return std::nullopt;
        }
        return fmt::format(
            "needs {0}B{1} or {0}I{1} before it", action.stage.value(), action.micro_batch.value());
      case ActionKind::kLoadMicroBatch:
      case ActionKind::kRecvActivation:
      case ActionKind::kRecvGradient:
      case ActionKind::kReduceGradients:
      case ActionKind::kGatherParameters:
      case ActionKind::kOptimizerStep:
      case ActionKind::kUpdateParameters:
        return std::nullopt;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::string> need_input(const Action& action, const Seen& seen) {
    const StageId before(action.stage.value() - 1);
    const Seen* here = find(before, action.micro_batch);
    if (seen.has(ActionKind::kRecvActivation) ||
        (here != nullptr && here->has(ActionKind::kForward))) {
      return std::nullopt;
    }
    return fmt::format("needs its input before it: {}RECV_F{}, or {}F{} on this rank",
                       action.stage.value(),
                       action.micro_batch.value(),
                       before.value(),
                       action.micro_batch.value());
  }

  [[nodiscard]] std::optional<std::string> need_gradient(const Action& action, const Seen& seen) {
    const StageId after(action.stage.value() + 1);
    const Seen* here = find(after, action.micro_batch);
    if (seen.has(ActionKind::kRecvGradient) || (here != nullptr && here->has_input_gradient())) {
      return std::nullopt;
    }
    return fmt::format(
        "needs its gradient before it: {}RECV_B{}, or the backward of stage {} on "
        "this rank",
        action.stage.value(),
        action.micro_batch.value(),
        after.value());
  }

  const RankProgram& program_;
  std::vector<std::vector<Seen>> seen_;            ///< by position of the stage, by micro-batch
  std::vector<std::vector<std::size_t>> buckets_;  ///< by position of the stage
  std::vector<std::optional<Action>> unreduced_;   ///< by bucket: last backward since its reduction
};

/// An action and what is wrong with it.
using Complaint = std::pair<std::int32_t, std::string>;

std::optional<Complaint> order_complaint(const RankProgram& program, std::int32_t micro_batches) {
  ListCheck list(program, micro_batches);
  for (std::size_t i = 0; i < program.actions.size(); ++i) {
    if (auto complaint = list.visit(program.actions[i])) {
      return Complaint(static_cast<std::int32_t>(i), std::move(*complaint));
    }
  }
  return std::nullopt;
}

/// Action indices of one micro-batch, in order.
using MicroBatchList = std::vector<std::int32_t>;

/// What happens to the tensors of a micro-batch depends on the kinds and stages of its actions
/// alone.
std::vector<std::pair<ActionKind, std::int32_t>> pattern_of(const RankProgram& program,
                                                            const MicroBatchList& list) {
  std::vector<std::pair<ActionKind, std::int32_t>> pattern;
  pattern.reserve(list.size());
  for (const std::int32_t i : list) {
    const Action& action = program.actions[static_cast<std::size_t>(i)];
    pattern.emplace_back(action.kind, action.stage.value() + action.bucket.value());
  }
  return pattern;
}

/// The first read of what nothing wrote.
std::optional<Complaint> unwritten_read(const RankProgram& program,
                                        const MicroBatchList& list,
                                        TouchTable& table) {
  std::vector<bool> written(program.tensors.size());
  for (const std::int32_t i : list) {
    for (const Touch& touch : table.of(program.actions[static_cast<std::size_t>(i)])) {
      if (touch.reads && !written[touch.tensor.index()]) {
        return Complaint(i,
                         fmt::format("operation {} reads '{}', which nothing wrote before",
                                     touch.first_op,
                                     program.tensors[touch.tensor.index()].name));
      }
      written[touch.tensor.index()] = true;
    }
  }
  return std::nullopt;
}

/// Micro-batches of equal patterns are checked once.
std::optional<Complaint> content_complaint(const RankProgram& program, std::int32_t micro_batches) {
  std::vector<MicroBatchList> lists(static_cast<std::size_t>(micro_batches));
  for (std::size_t i = 0; i < program.actions.size(); ++i) {
    lists[program.actions[i].micro_batch.index()].push_back(static_cast<std::int32_t>(i));
  }
  TouchTable table(program);
  std::set<std::vector<std::pair<ActionKind, std::int32_t>>> known;
  for (const MicroBatchList& list : lists) {
    if (known.insert(pattern_of(program, list)).second) {
      if (auto complaint = unwritten_read(program, list, table)) {
        return complaint;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Result<void> check_order(const Schedule& schedule) {
  const auto ranks = first_ranks(schedule);
  for (std::size_t i = 0; i < schedule.programs.size(); ++i) {
    auto complaint = order_complaint(schedule.programs[i], schedule.micro_batches);
    if (!complaint) {
      complaint = content_complaint(schedule.programs[i], schedule.micro_batches);
    }
    if (complaint) {
      return fail(ErrorCode::kInvalidInput,
                  std::move(complaint->second),
                  action_name(schedule, ranks[i], complaint->first));
    }
  }
  return {};
}

}  // namespace stagewright
