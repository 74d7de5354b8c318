#include "core/schedule/program_indices.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/counted.h"
#include "core/schedule/indices.h"

namespace stagewright {
namespace {

using Check = std::optional<Wrong>;

/// Elements of a shape, unless a size is negative or the product exceeds every tensor.
std::optional<std::int64_t> possible_elements(const std::vector<std::int64_t>& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) {
    const std::int64_t limit = kLargestTensor.count();
    if (extent < 0 || extent > limit || (extent > 0 && elements > limit / extent)) {
      return std::nullopt;
    }
    elements *= extent;
  }
  return elements;
}

class ProgramCheck {
 public:
  ProgramCheck(const Schedule& schedule, std::size_t index)
      : schedule_(schedule),
        program_(schedule.programs[index]),
        place_(fmt::format("/programs/{}", index)),
        group_sizes_(largest_groups(schedule, ProgramId(index))) {}

  [[nodiscard]] Check run() {
    for (const auto part : {&ProgramCheck::check_tensors,
                            &ProgramCheck::check_stages,
                            &ProgramCheck::check_buckets,
                            &ProgramCheck::check_parameters,
                            &ProgramCheck::check_step,
                            &ProgramCheck::check_actions}) {
      if (Check wrong = (this->*part)()) {
        return wrong;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] SlotUse slots() const { return slots_; }

 private:
  /// By slot: members of the largest group that some rank with the program has there.
  static std::vector<std::int64_t> largest_groups(const Schedule& schedule, ProgramId program) {
    std::vector<std::int64_t> sizes;
    for (const RankBinding& binding : schedule.ranks) {
      if (binding.program != program) {
        continue;
      }
      sizes.resize(std::max(sizes.size(), binding.groups.size()));
      for (std::size_t slot = 0; slot < binding.groups.size(); ++slot) {
        if (lies_in(binding.groups[slot], schedule.groups)) {
          const Group& group = schedule.groups[binding.groups[slot].index()];
          sizes[slot] = std::max(sizes[slot], static_cast<std::int64_t>(group.members.size()));
        }
      }
    }
    return sizes;
  }

  /// Elements of `stride` for every member of a group but the first.
  [[nodiscard]] std::int64_t reach(GroupSlot slot, std::int64_t stride) const {
    const std::int64_t members = lies_in(slot, group_sizes_) ? group_sizes_[slot.index()] : 1;
    return (std::max<std::int64_t>(members, 1) - 1) * stride;
  }

  [[nodiscard]] Check check_tensors() {
    for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
      const TensorSpec& tensor = program_.tensors[i];
      const auto elements = possible_elements(tensor.shape);
      if (!elements || *elements > kLargestTensor.count() / size_of(tensor.dtype).count()) {
        return Wrong{fmt::format("{}/tensors/{}/shape", place_, i),
                     fmt::format("'{}' is impossible; sizes are 0 or more, and a tensor takes at "
                                 "most {}",
                                 tensor.name,
                                 to_string(kLargestTensor))};
      }
    }
    for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
      if (Check wrong = check_view(i)) {
        return wrong;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] Check check_view(std::size_t index) {
    const TensorSpec& tensor = program_.tensors[index];
    if (!tensor.view) {
      return std::nullopt;
    }
    const std::string place = fmt::format("{}/tensors/{}/view", place_, index);
    if (!lies_in(tensor.view->base, program_.tensors)) {
      return outside(place, "tensor", tensor.view->base.value(), program_.tensors.size());
    }
    const TensorSpec& base = program_.tensors[tensor.view->base.index()];
    if (base.view || base.scope != tensor.scope) {
      return Wrong{place,
                   fmt::format("'{}' must own its memory and live as long as '{}' to hold it",
                               base.name,
                               tensor.name)};
    }
    const std::int64_t stride = tensor.view->stride;
    if (stride < 0 || stride > base.elements()) {
      return Wrong{place, fmt::format("a stride of {} reaches beyond '{}'", stride, base.name)};
    }
    if (Check wrong = check_group(tensor.view->group, place + "/group")) {
      return wrong;
    }
    const std::int64_t first = tensor.view->offset;
    const std::int64_t offset =
        first + (tensor.view->group ? reach(*tensor.view->group, stride) : 0);
    if (first < 0 || first > kLargestTensor.count() || offset > kLargestTensor.count() ||
        offset * size_of(tensor.dtype) + tensor.bytes() > base.bytes()) {
      return Wrong{place,
                   fmt::format("element {} on reaches beyond '{}' ({} elements)",
                               offset,
                               base.name,
                               base.elements())};
    }
    return std::nullopt;
  }

  [[nodiscard]] Check check_tensor(TensorId tensor, std::string place) const {
    if (!lies_in(tensor, program_.tensors)) {
      return outside(std::move(place), "tensor", tensor.value(), program_.tensors.size());
    }
    return std::nullopt;
  }

  [[nodiscard]] Check check_group(const std::optional<GroupSlot>& slot, const std::string& place) {
    if (slot) {
      if (slot->value() < 0) {
        return outside(place, "group slot", slot->value(), 0);
      }
      slots_.groups = std::max(slots_.groups, slot->index() + 1);
    }
    return std::nullopt;
  }

  [[nodiscard]] static bool is_possible(const Operation& op) {
    const OpShape& s = op.shape;
    const auto sizes = {
        s.rows, s.cols, s.inner, s.batch, s.sequence, s.heads, s.kv_heads, s.head_dim};
    const auto limit = static_cast<double>(kLargestTensor.count());
    return s.window.is_possible() && std::min(sizes) >= 0 &&
           std::max(sizes) <= kLargestTensor.count() &&
           elements_moved(op.kind, op.variant, op.shape) <= limit * 1024;
  }

  [[nodiscard]] Check check_operation(const Operation& op, const std::string& place) {
    for (const TensorId tensor : op.inputs) {
      if (Check wrong = check_tensor(tensor, place + "/inputs")) {
        return wrong;
      }
    }
    for (const TensorId tensor : op.outputs) {
      if (Check wrong = check_tensor(tensor, place + "/outputs")) {
        return wrong;
      }
    }
    if (!lies_in(op.stream, schedule_.streams)) {
      return outside(place + "/stream", "stream", op.stream.value(), schedule_.streams.size());
    }
    if (class_of(op.kind) == OpClass::kCollective && !op.group) {
      return Wrong{place, fmt::format("{} needs a group", name_of(op.kind))};
    }
    if (!is_possible(op)) {
      return Wrong{place + "/shape", "a size is negative or beyond every tensor's"};
    }
    if (!std::isfinite(op.scalar)) {
      return Wrong{place + "/scalar", "is not a finite number"};
    }
    if (Check wrong = check_group(op.group, place + "/group")) {
      return wrong;
    }
    return op.slice ? check_group(op.slice->group, place + "/slice") : std::nullopt;
  }

  [[nodiscard]] Check check_operations(const std::vector<Operation>& ops, const std::string& list) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (Check wrong = check_operation(ops[i], fmt::format("{}{}/{}", place_, list, i))) {
        return wrong;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] Check check_stages() {
    for (std::size_t i = 0; i < program_.stages.size(); ++i) {
      const StageProgram& stage = program_.stages[i];
      const std::string list = fmt::format("/stages/{}", i);
      if (stage.stage.value() < 0 || stage.stage.value() >= schedule_.stages) {
        return outside(place_ + list,
                       "stage",
                       stage.stage.value(),
                       static_cast<std::size_t>(schedule_.stages));
      }
      const bool is_new = i == 0 || program_.stages[i - 1].stage < stage.stage;
      if (stage.version != (is_new ? 0 : program_.stages[i - 1].version + 1) ||
          (!is_new && program_.stages[i - 1].stage != stage.stage)) {
        return Wrong{place_ + list,
                     "stages must stand in ascending order, each once for every version from 0 on"};
      }
      for (const auto& border : {stage.input,
                                 stage.output,
                                 stage.output_gradient,
                                 stage.input_gradient,
                                 stage.tokens,
                                 stage.targets}) {
        if (border && !lies_in(*border, program_.tensors)) {
          return outside(place_ + list, "tensor", border->value(), program_.tensors.size());
        }
      }
      for (const auto& [ops, name] : {std::pair(&stage.forward, "/forward"),
                                      std::pair(&stage.backward, "/backward"),
                                      std::pair(&stage.recompute, "/recompute"),
                                      std::pair(&stage.update, "/update")}) {
        if (Check wrong = check_operations(*ops, list + name)) {
          return wrong;
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] bool holds(StageId stage) const {
    return std::ranges::binary_search(program_.stages, stage, {}, &StageProgram::stage);
  }

  [[nodiscard]] Check check_buckets() {
    for (std::size_t i = 0; i < program_.buckets.size(); ++i) {
      const GradientBucket& bucket = program_.buckets[i];
      const std::string list = fmt::format("/buckets/{}", i);
      if (!holds(bucket.stage)) {
        return Wrong{place_ + list,
                     fmt::format("stage {} is not on this rank", bucket.stage.value())};
      }
      if (Check wrong = check_tensor(bucket.storage, place_ + list + "/storage")) {
        return wrong;
      }
      if (Check wrong = check_operations(bucket.reduce, list + "/reduce")) {
        return wrong;
      }
      if (Check wrong = check_operations(bucket.gather, list + "/gather")) {
        return wrong;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] Check check_parameters() {
    for (std::size_t i = 0; i < program_.parameters.size(); ++i) {
      const ParameterSlice& parameter = program_.parameters[i];
      const std::string place = fmt::format("{}/parameters/{}", place_, i);
      if (Check wrong = check_tensor(parameter.weight, place + "/weight")) {
        return wrong;
      }
      if (Check wrong = check_tensor(parameter.gradient, place + "/gradient")) {
        return wrong;
      }
      if (Check wrong = check_shard(parameter, place)) {
        return wrong;
      }
      if (parameter.bucket && !lies_in(*parameter.bucket, program_.buckets)) {
        return outside(
            place + "/bucket", "bucket", parameter.bucket->value(), program_.buckets.size());
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] Check check_shard(const ParameterSlice& parameter, const std::string& place) {
    if (parameter.shard_axis.has_value() != parameter.shard_group.has_value()) {
      return Wrong{place, "shard_axis and shard_group must both be there or both be absent"};
    }
    if (parameter.shard_axis &&
        (*parameter.shard_axis < 0 ||
         static_cast<std::size_t>(*parameter.shard_axis) >= parameter.global_shape.size())) {
      return outside(
          place + "/shard_axis", "axis", *parameter.shard_axis, parameter.global_shape.size());
    }
    std::vector<std::int64_t> shape = parameter.global_shape;
    if (parameter.shard_axis) {
      shape[static_cast<std::size_t>(*parameter.shard_axis)] = parameter.extent;
    }
    const auto elements = possible_elements(shape);
    std::int64_t room = program_.tensors[parameter.weight.index()].elements();
    if (parameter.flat_shard) {
      const std::int64_t stride = parameter.flat_shard->stride;
      if (stride < 0 || stride > room) {
        return Wrong{place + "/flat_shard", "the stride reaches beyond the weight's tensor"};
      }
      if (Check wrong = check_group(parameter.flat_shard->group, place + "/flat_shard")) {
        return wrong;
      }
      room = stride + reach(parameter.flat_shard->group, stride);
    } else {
      room = std::min(room, program_.tensors[parameter.gradient.index()].elements());
    }
    if (!elements || parameter.weight_offset < 0 || parameter.weight_offset > room ||
        *elements > room - parameter.weight_offset) {
      return Wrong{place,
                   fmt::format("'{}' does not lie inside its weight's and gradient's tensors",
                               parameter.name)};
    }
    if (!std::isfinite(parameter.deviation) || !std::isfinite(parameter.copies) ||
        parameter.copies < 1) {
      return Wrong{place, "copies must be 1 or more, deviation a finite number"};
    }
    for (const TensorId version : parameter.other_versions) {
      if (Check wrong = check_tensor(version, place + "/other_versions")) {
        return wrong;
      }
      if (program_.tensors[version.index()].bytes() !=
          program_.tensors[parameter.weight.index()].bytes()) {
        return Wrong{place + "/other_versions", "must have the size of the weight's tensor"};
      }
    }
    return check_group(parameter.shard_group, place + "/shard_group");
  }

  [[nodiscard]] Check check_step() {
    if (program_.totals && !lies_in(*program_.totals, program_.tensors)) {
      return outside(
          place_ + "/totals", "tensor", program_.totals->value(), program_.tensors.size());
    }
    return check_operations(program_.optimizer_step, "/optimizer_step");
  }

  [[nodiscard]] Check check_actions() {
    for (std::size_t i = 0; i < program_.actions.size(); ++i) {
      if (auto complaint = complaint_about(program_.actions[i])) {
        return Wrong{fmt::format("{}/actions/{}", place_, i),
                     fmt::format("{}: {}", to_string(program_.actions[i]), *complaint)};
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<std::string> complaint_about(const Action& action) {
    const bool is_message = is_send(action.kind) || is_receive(action.kind);
    const bool is_of_bucket =
        action.kind == ActionKind::kReduceGradients || action.kind == ActionKind::kGatherParameters;
    const bool is_of_stage = !is_of_bucket && action.kind != ActionKind::kOptimizerStep;
    const bool has_micro_batch = is_of_stage || is_of_bucket;
    if ((!is_message && action.peer != PeerSlot{}) ||
        (!is_of_bucket && action.bucket != BucketId{}) ||
        (!is_of_stage && action.stage != StageId{}) ||
        (!has_micro_batch && action.micro_batch != MicroBatchId{}) ||
        (!has_version(action.kind) && action.version != 0)) {
      return "a field that this kind does not use is not 0";
    }
    if (is_of_bucket && !lies_in(action.bucket, program_.buckets)) {
      return fmt::format("the rank has {} buckets", program_.buckets.size());
    }
    if (has_micro_batch &&
        (action.micro_batch.value() < 0 || action.micro_batch.value() >= schedule_.micro_batches)) {
      return fmt::format("there {} {}",
                         schedule_.micro_batches == 1 ? "is" : "are",
                         counted(schedule_.micro_batches, "micro-batch"));
    }
    if (!is_of_stage) {
      return std::nullopt;
    }
    if (!holds(action.stage)) {
      return fmt::format("stage {} is not on this rank", action.stage.value());
    }
    if (program_.versions_of(action.stage) <= action.version) {
      return fmt::format("the stage has {} versions", program_.versions_of(action.stage));
    }
    if (is_message) {
      if (action.peer.value() < 0) {
        return "the peer slot is negative";
      }
      slots_.peers = std::max(slots_.peers, action.peer.index() + 1);
    }
    if ((is_message || action.kind == ActionKind::kLoadMicroBatch) &&
        moved_tensors(program_, action).empty()) {
      return "the stage has no such border tensor";
    }
    return std::nullopt;
  }

  const Schedule& schedule_;
  const RankProgram& program_;
  std::string place_;
  std::vector<std::int64_t> group_sizes_;  ///< by slot
  SlotUse slots_;
};

}  // namespace

Wrong outside(std::string place, std::string_view what, std::int64_t index, std::size_t size) {
  return {std::move(place), fmt::format("{} {} does not exist; there are {}", what, index, size)};
}

std::optional<Wrong> check_program_indices(const Schedule& schedule,
                                           ProgramId program,
                                           SlotUse& slots) {
  ProgramCheck check(schedule, program.index());
  auto wrong = check.run();
  slots = check.slots();
  return wrong;
}

}  // namespace stagewright
