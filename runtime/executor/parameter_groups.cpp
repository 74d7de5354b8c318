#include "runtime/executor/parameter_groups.h"

#include <fnmatch.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "runtime/compute/optimizer_updates.h"
#include "runtime/executor/local_parameter.h"

namespace stagewright {

namespace {

[[nodiscard]] bool belongs(const ParameterSlice& parameter, const ParameterGroup& group) {
  return fnmatch(group.names.c_str(), parameter.name.c_str(), 0) == 0;
}

[[nodiscard]] bool is_size(double value) {
  return std::isfinite(value) && value >= 0;
}

/// Bytes of the arena that hold weights of a group.
struct GroupedBytes {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  const ParameterGroup* group = nullptr;
};

[[nodiscard]] std::vector<GroupedBytes> grouped_bytes(const Schedule& schedule,
                                                      const RankPlan& plan,
                                                      std::span<const ParameterGroup> groups) {
  const RankBinding& binding = schedule.ranks[plan.rank.index()];
  std::vector<GroupedBytes> grouped;
  for (const ParameterSlice& parameter : plan.program->parameters) {
    const auto group = std::ranges::find_if(
        groups, [&](const ParameterGroup& each) { return belongs(parameter, each); });
    if (group == groups.end()) {
      continue;
    }
    const LocalRange range = local_range(parameter, binding, local_matrix(parameter, binding));
    std::vector<TensorId> versions = parameter.other_versions;
    versions.push_back(parameter.weight);
    for (const TensorId version : versions) {
      const std::int64_t size = size_of(plan.program->tensors[version.index()].dtype).count();
      const std::int64_t begin = persistent_place(plan, version).offset + range.to * size;
      grouped.push_back({begin, begin + range.count * size, &*group});
    }
  }
  std::ranges::sort(grouped, {}, &GroupedBytes::begin);
  return grouped;
}

}  // namespace

Result<void> check(std::span<const ParameterGroup> groups, const Schedule& schedule) {
  for (const ParameterGroup& group : groups) {
    if (!is_size(group.rate) || !is_size(group.weight_decay.value_or(0))) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("rate {} and weight decay {}; use numbers of 0 or more",
                              group.rate,
                              group.weight_decay.value_or(0)),
                  group.names);
    }
    const bool used = std::ranges::any_of(schedule.programs, [&](const RankProgram& program) {
      return std::ranges::any_of(program.parameters, [&](const ParameterSlice& parameter) {
        return belongs(parameter, group);
      });
    });
    if (!used) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("no parameter of '{}' has such a name; '{}' is one",
                              schedule.model_name,
                              schedule.programs.front().parameters.front().name),
                  group.names);
    }
  }
  return {};
}

std::vector<std::vector<UpdateRange>> update_ranges(const Schedule& schedule,
                                                    const RankPlan& plan,
                                                    std::span<const ParameterGroup> groups) {
  std::vector<std::vector<UpdateRange>> ranges(plan.instructions.size());
  const std::vector<GroupedBytes> grouped = grouped_bytes(schedule, plan, groups);
  for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
    const Instruction& instruction = plan.instructions[i];
    if (instruction.operation == nullptr || !is_update(*instruction.operation)) {
      continue;
    }
    const OperandPlace& weights = instruction.outputs.front();
    const TensorId tensor = instruction.operation->outputs.front();
    const std::int64_t size = size_of(plan.program->tensors[tensor.index()].dtype).count();
    for (const GroupedBytes& part : grouped) {
      const std::int64_t begin = std::max(part.begin, weights.offset);
      const std::int64_t end = std::min(part.end, weights.offset + weights.bytes);
      if (begin < end) {
        ranges[i].push_back({.begin = (begin - weights.offset) / size,
                             .end = (end - weights.offset) / size,
                             .rate = part.group->rate,
                             .weight_decay = part.group->weight_decay});
      }
    }
  }
  return ranges;
}

}  // namespace stagewright
