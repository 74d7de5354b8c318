#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/schedule/checks.h"
#include "core/schedule/touches.h"

namespace stagewright {
namespace {

/// A row of the parameter table, and the tensor that holds the version in use.
using Use = std::pair<std::size_t, TensorId>;

/// Follows one list and numbers the contents of weights: whatever changes one makes a new number.
class ContentWalk {
 public:
  explicit ContentWalk(const RankProgram& program)
      : program_(program), content_(program.tensors.size()) {
    for (std::size_t i = 0; i < content_.size(); ++i) {
      content_[i] = next_++;
    }
    for (std::size_t i = 0; i < program.parameters.size(); ++i) {
      const ParameterSlice& parameter = program.parameters[i];
      parameter_of_[owner(parameter.weight)] = i;
      for (const TensorId version : parameter.other_versions) {
        parameter_of_[owner(version)] = i;
      }
    }
  }

  /// What is wrong with the action, if anything.
  std::optional<std::string> visit(const Action& action) {
    if (action.kind == ActionKind::kUpdateParameters || action.kind == ActionKind::kOptimizerStep) {
      update(operations_of(program_, action).ops);
      return std::nullopt;
    }
    if (!is_compute(action.kind)) {
      return std::nullopt;
    }
    auto& seen = seen_[{action.stage, action.micro_batch}];
    for (const auto& [parameter, tensor] : uses_of(action)) {
      const std::int64_t content = content_[tensor.index()];
      const auto [found, is_new] = seen.try_emplace(parameter, content);
      if (!is_new && found->second != content) {
        return fmt::format(
            "finds other weights '{}' than {}F{} did; use the version of its forward",
            program_.parameters[parameter].name,
            action.stage.value(),
            action.micro_batch.value());
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] TensorId owner(TensorId tensor) const { return memory_owner(program_, tensor); }

  /// Worked out once per kind, stage and version.
  const std::vector<Use>& uses_of(const Action& action) {
    const auto [found, is_new] = uses_.try_emplace({action.kind, action.stage, action.version});
    if (is_new) {
      for (const Operation& op : operations_of(program_, action).ops) {
        for (const TensorId input : op.inputs) {
          const auto parameter = parameter_of_.find(owner(input));
          if (parameter != parameter_of_.end()) {
            found->second.emplace_back(parameter->second, owner(input));
          }
        }
      }
    }
    return found->second;
  }

  void update(std::span<const Operation> ops) {
    for (const Operation& op : ops) {
      for (const TensorId output : op.outputs) {
        content_[owner(output).index()] =
            op.kind == OpKind::kCopy ? content_[owner(op.inputs.front()).index()] : next_++;
      }
    }
  }

  const RankProgram& program_;
  std::int64_t next_ = 0;
  std::vector<std::int64_t> content_;  ///< by tensor that owns memory
  std::map<TensorId, std::size_t> parameter_of_;
  std::map<std::tuple<ActionKind, StageId, std::int32_t>, std::vector<Use>> uses_;
  std::map<std::pair<StageId, MicroBatchId>, std::map<std::size_t, std::int64_t>> seen_;
};

bool changes_weights_on_the_way(const RankProgram& program) {
  return std::ranges::any_of(program.actions, [](const Action& action) {
    return action.kind == ActionKind::kUpdateParameters;
  });
}

}  // namespace

Result<void> check_weights(const Schedule& schedule) {
  const auto ranks = first_ranks(schedule);
  for (std::size_t p = 0; p < schedule.programs.size(); ++p) {
    const RankProgram& program = schedule.programs[p];
    if (!changes_weights_on_the_way(program)) {
      continue;
    }
    ContentWalk walk(program);
    for (std::size_t i = 0; i < program.actions.size(); ++i) {
      if (auto complaint = walk.visit(program.actions[i])) {
        return fail(ErrorCode::kInvalidInput,
                    std::move(*complaint),
                    action_name(schedule, ranks[p], static_cast<std::int32_t>(i)));
      }
    }
  }
  return {};
}

}  // namespace stagewright
