#include "core/schedule/indices.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace stagewright {
namespace {

/// The first thing that is wrong, as a pair of place and complaint.
struct Wrong {
  std::string place;
  std::string message;
};
using Check = std::optional<Wrong>;

template <class Tag, class Table>
bool lies_in(Id<Tag> id, const Table& table) {
  return id.value() >= 0 && id.index() < table.size();
}

Wrong outside(std::string place, std::string_view what, std::int64_t index, std::size_t size) {
  return {std::move(place), fmt::format("{} {} does not exist; there are {}", what, index, size)};
}

/// How many slots of each sort a program needs from its ranks.
struct SlotUse {
  std::size_t groups = 0;
  std::size_t peers = 0;
};

class ProgramCheck {
 public:
  ProgramCheck(const Schedule& schedule, std::size_t index)
      : schedule_(schedule),
        program_(schedule.programs[index]),
        place_(fmt::format("/programs/{}", index)) {}

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
  [[nodiscard]] Check check_tensors() {
    for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
      const TensorSpec& tensor = program_.tensors[i];
      const std::string place = fmt::format("{}/tensors/{}", place_, i);
      std::int64_t elements = 1;
      for (const std::int64_t extent : tensor.shape) {
        const std::int64_t limit = kLargestTensor.count();
        if (extent < 0 || extent > limit || (extent > 0 && elements > limit / extent)) {
          return Wrong{place + "/shape",
                       fmt::format("extent {} is impossible; a tensor has at most {}",
                                   extent,
                                   to_string(kLargestTensor))};
        }
        elements *= extent;
      }
      if (tensor.bytes() > kLargestTensor) {
        return Wrong{
            place + "/shape",
            fmt::format("{} elements are more than {}", elements, to_string(kLargestTensor))};
      }
    }
    for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
      if (Check wrong = check_view(i)) {
        return wrong;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] Check check_view(std::size_t index) const {
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
    const std::int64_t offset = tensor.view->offset;
    if (offset < 0 || offset > kLargestTensor.count() ||
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
    const OpShape& s = op.shape;
    if (std::min({s.rows, s.cols, s.inner, s.batch, s.sequence, s.heads, s.kv_heads, s.head_dim}) <
        0) {
      return Wrong{place + "/shape", "a size is negative"};
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
      if (i > 0 && program_.stages[i - 1].stage >= stage.stage) {
        return Wrong{place_ + list, "stages must stand in ascending order, each once"};
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
                                      std::pair(&stage.recompute, "/recompute")}) {
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
    if (parameter.extent < 0 || parameter.weight_offset < 0 ||
        parameter.weight_offset > program_.tensors[parameter.weight.index()].elements()) {
      return Wrong{place, "extent and weight_offset must lie in the weight's tensor"};
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
    if ((!is_message && action.peer != PeerSlot{}) ||
        (!is_of_bucket && action.bucket != BucketId{}) ||
        (!is_of_stage && (action.stage != StageId{} || action.micro_batch != MicroBatchId{}))) {
      return "a field that this kind does not use is not 0";
    }
    if (is_of_bucket && !lies_in(action.bucket, program_.buckets)) {
      return fmt::format("the rank has {} buckets", program_.buckets.size());
    }
    if (!is_of_stage) {
      return std::nullopt;
    }
    if (!holds(action.stage)) {
      return fmt::format("stage {} is not on this rank", action.stage.value());
    }
    if (action.micro_batch.value() < 0 || action.micro_batch.value() >= schedule_.micro_batches) {
      return fmt::format("there are {} micro-batches", schedule_.micro_batches);
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
  SlotUse slots_;
};

Check check_sizes(const Schedule& schedule) {
  for (const auto& [value, name] : {std::pair(schedule.stages, "/stages"),
                                    std::pair(schedule.micro_batches, "/micro_batches"),
                                    std::pair(schedule.micro_batch_size, "/micro_batch_size"),
                                    std::pair(schedule.sequence, "/sequence"),
                                    std::pair(schedule.replicas, "/replicas")}) {
    if (value < 1) {
      return Wrong{name, fmt::format("is {}; it must be 1 or more", value)};
    }
  }
  if (schedule.streams.empty()) {
    return Wrong{"/streams", "names no stream; the first one computes"};
  }
  if (schedule.ranks.empty()) {
    return Wrong{"/ranks", "holds no rank"};
  }
  return std::nullopt;
}

Check check_groups(const Schedule& schedule) {
  for (std::size_t i = 0; i < schedule.groups.size(); ++i) {
    const std::string place = fmt::format("/groups/{}/members", i);
    std::vector<RankId> members = schedule.groups[i].members;
    std::ranges::sort(members);
    if (members.empty()) {
      return Wrong{place, "a group needs members"};
    }
    if (!lies_in(members.front(), schedule.ranks) || !lies_in(members.back(), schedule.ranks)) {
      const RankId bad = lies_in(members.back(), schedule.ranks) ? members.front() : members.back();
      return outside(place, "rank", bad.value(), schedule.ranks.size());
    }
    if (const auto twice = std::ranges::adjacent_find(members); twice != members.end()) {
      return Wrong{place, fmt::format("rank {} is named twice", twice->value())};
    }
  }
  return std::nullopt;
}

template <class Tag>
bool has_duplicates(std::vector<Id<Tag>> ids) {
  std::ranges::sort(ids);
  return std::ranges::adjacent_find(ids) != ids.end();
}

Check check_memberships(const Schedule& schedule, RankId rank, const std::string& place) {
  const RankBinding& binding = schedule.ranks[rank.index()];
  if (binding.positions.size() != binding.groups.size()) {
    return Wrong{
        place + "/positions",
        fmt::format("{} positions for {} groups", binding.positions.size(), binding.groups.size())};
  }
  for (std::size_t slot = 0; slot < binding.groups.size(); ++slot) {
    if (!lies_in(binding.groups[slot], schedule.groups)) {
      return outside(
          place + "/groups", "group", binding.groups[slot].value(), schedule.groups.size());
    }
    const std::vector<RankId>& members = schedule.groups[binding.groups[slot].index()].members;
    const std::int32_t position = binding.positions[slot];
    if (position < 0 || static_cast<std::size_t>(position) >= members.size() ||
        members[static_cast<std::size_t>(position)] != rank) {
      return Wrong{fmt::format("{}/positions/{}", place, slot),
                   fmt::format("rank {} is not member {} of group {}",
                               rank.value(),
                               position,
                               binding.groups[slot].value())};
    }
  }
  if (has_duplicates(binding.groups)) {
    return Wrong{place + "/groups", "two slots mean the same group"};
  }
  return std::nullopt;
}

Check check_rank(const Schedule& schedule, RankId rank, const std::vector<SlotUse>& slots) {
  const RankBinding& binding = schedule.ranks[rank.index()];
  const std::string place = fmt::format("/ranks/{}", rank.value());
  if (!lies_in(binding.program, schedule.programs)) {
    return outside(
        place + "/program", "program", binding.program.value(), schedule.programs.size());
  }
  if (binding.device.value() < 0) {
    return Wrong{place + "/device", "is negative"};
  }
  if (binding.replica < 0 || binding.replica >= schedule.replicas) {
    return outside(place + "/replica",
                   "replica",
                   binding.replica,
                   static_cast<std::size_t>(schedule.replicas));
  }
  if (Check wrong = check_memberships(schedule, rank, place)) {
    return wrong;
  }
  for (const RankId peer : binding.peers) {
    if (!lies_in(peer, schedule.ranks)) {
      return outside(place + "/peers", "rank", peer.value(), schedule.ranks.size());
    }
  }
  if (has_duplicates(binding.peers)) {
    return Wrong{place + "/peers", "two slots mean the same rank"};
  }
  const SlotUse& needed = slots[binding.program.index()];
  if (binding.groups.size() < needed.groups || binding.peers.size() < needed.peers) {
    return Wrong{place,
                 fmt::format("program {} uses {} group slots and {} peer slots; the rank has {} "
                             "and {}",
                             binding.program.value(),
                             needed.groups,
                             needed.peers,
                             binding.groups.size(),
                             binding.peers.size())};
  }
  return std::nullopt;
}

Check first_wrong(const Schedule& schedule) {
  if (Check wrong = check_sizes(schedule)) {
    return wrong;
  }
  std::vector<SlotUse> slots;
  for (std::size_t i = 0; i < schedule.programs.size(); ++i) {
    ProgramCheck program(schedule, i);
    if (Check wrong = program.run()) {
      return wrong;
    }
    slots.push_back(program.slots());
  }
  if (Check wrong = check_groups(schedule)) {
    return wrong;
  }
  for (std::size_t i = 0; i < schedule.ranks.size(); ++i) {
    if (Check wrong = check_rank(schedule, RankId(i), slots)) {
      return wrong;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<void> check_indices(const Schedule& schedule, std::string_view where) {
  if (auto wrong = first_wrong(schedule)) {
    return fail(ErrorCode::kInvalidInput,
                std::move(wrong->message),
                fmt::format("{}:{}", where, wrong->place));
  }
  return {};
}

}  // namespace stagewright
