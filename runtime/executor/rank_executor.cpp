#include "runtime/executor/rank_executor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "runtime/backend_error.h"
#include "runtime/comm/thread_time.h"
#include "runtime/compute/master_copy.h"
#include "runtime/compute/optimizer_updates.h"
#include "runtime/executor/initialize_parameters.h"
#include "runtime/executor/not_finite.h"
#include "runtime/executor/schedule_world.h"

namespace stagewright {

namespace {

/// How many actions ahead of the computation communication is issued.  Far enough that a receive
/// stands ready while the stage before is still computing; near enough that a step does not begin
/// with the posting of all its messages.
constexpr std::int32_t kActionsAhead = 4;

[[nodiscard]] ElementType element_type(DType type) {
  switch (type) {
    case DType::kFloat32:
    case DType::kTf32:
      return ElementType::kFloat32;
    case DType::kInt32:
      return ElementType::kInt32;
    case DType::kBFloat16:
      return ElementType::kBFloat16;
    case DType::kFloat16:
      return ElementType::kFloat16;
    case DType::kFloat8:
      return ElementType::kByte;
  }
  SW_CHECK(false, "a known element type");
}

[[nodiscard]] std::vector<OperandType> types_of(const RankProgram& program,
                                                std::span<const TensorId> tensors) {
  std::vector<OperandType> types;
  types.reserve(tensors.size());
  for (const TensorId tensor : tensors) {
    const TensorSpec& spec = program.tensors[tensor.index()];
    types.push_back({spec.dtype, spec.elements()});
  }
  return types;
}

}  // namespace

RankExecutor::RankExecutor(const Schedule& schedule,
                           const RankPlan& plan,
                           Endpoint& endpoint,
                           ComputeDevice& device,
                           std::uint64_t seed,
                           std::span<const ParameterGroup> groups)
    : schedule_(schedule),
      binding_(schedule.ranks[plan.rank.index()]),
      plan_(plan),
      endpoint_(endpoint),
      device_(device),
      arena_(plan_.arena.capacity),
      meter_(plan_),
      pointers_(plan_.instructions.size()),
      update_ranges_(update_ranges(schedule_, plan_, groups)),
      earlier_send_(plan_.instructions.size()),
      needs_(plan_.instructions.size()),
      labels_(plan_.instructions.size()),
      events_(plan_.instructions.size(), Event::none()),
      finished_(plan_.instructions.size()),
      lane_logs_(plan_.lanes.size()) {
  for (std::size_t lane = 0; lane < plan_.lanes.size(); ++lane) {
    streams_.push_back(
        LaneId(lane) == kComputeLane ? nullptr : endpoint_.make_stream(plan_.lanes[lane].label));
  }
  find_pointers();
  find_order();
  initialize_parameters(schedule_, plan_, seed, arena_.bytes());
  initialize_masters();
}

/// Masters begin as what the 16-bit weights hold, which is the same on every rank and layout.
void RankExecutor::initialize_masters() {
  for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
    const Operation* update = plan_.instructions[i].operation;
    const auto master =
        update == nullptr ? std::nullopt : master_output(*update, schedule_.optimizer);
    if (!master) {
      continue;
    }
    const Pointers& pointers = pointers_[i];
    Operation copy;
    copy.kind = OpKind::kCopy;
    copy.source = pointers.output_types[0].type;
    copy.shape.cols = pointers.output_types[0].elements;
    device_.execute({.operation = &copy,
                     .inputs = std::span(pointers.outputs).first(1),
                     .outputs = std::span(pointers.outputs).subspan(*master, 1),
                     .input_types = std::span(pointers.output_types).first(1),
                     .output_types = std::span(pointers.output_types).subspan(*master, 1)},
                    {});
  }
}

void RankExecutor::find_pointers() {
  std::byte* base = arena_.bytes().data();
  for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
    const Instruction& instruction = plan_.instructions[i];
    for (const OperandPlace& place : instruction.inputs) {
      pointers_[i].inputs.push_back(base + place.offset);
    }
    for (const OperandPlace& place : instruction.outputs) {
      pointers_[i].outputs.push_back(base + place.offset);
    }
    if (instruction.operation != nullptr) {
      pointers_[i].input_types = types_of(*plan_.program, instruction.operation->inputs);
      pointers_[i].output_types = types_of(*plan_.program, instruction.operation->outputs);
    }
  }
}

void RankExecutor::find_order() {
  std::vector<std::optional<std::size_t>> sent(plan_.lanes.size());
  std::vector<std::size_t> lane_needs(plan_.lanes.size());
  for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
    const Instruction& instruction = plan_.instructions[i];
    lane_logs_[instruction.lane.index()].reserve(plan_.instructions.size());
    if (!on_host(instruction)) {
      communication_.push_back(i);
    }
    if (instruction.kind == InstructionKind::kSend) {
      earlier_send_[i] = std::exchange(sent[instruction.lane.index()], i);
    }
    if (on_host(instruction)) {
      needs_[i] = i;
      continue;
    }
    std::size_t& needs = lane_needs[instruction.lane.index()];
    for (const std::int32_t wait : instruction.waits) {
      const auto waited = static_cast<std::size_t>(wait);
      needs = std::max(needs, needs_[waited]);
      if (on_host(plan_.instructions[waited])) {
        labels_[waited] = describe(plan_, plan_.instructions[waited]);
      }
    }
    needs_[i] = needs;
  }
}

std::optional<StepTotals> RankExecutor::step(const UpdateStep& constants,
                                             const MicroBatchSource& source,
                                             StepRecord* record) {
  step_number_ = constants.number;
  begin_step(record);
  try {
    run_list(constants, source);
    end_step(record);
  } catch (const BackendError& failure) {
    const Error error = in_context(failure.error());
    // Before anything that others wait for is given up: the first cause is the one that counts.
    endpoint_.abort(error);
    throw BackendError(error);
  }
  return totals_;
}

void RankExecutor::begin_step(StepRecord* record) {
  record_ = record;
  next_ = 0;
  next_post_ = 0;
  at_ = 0;
  awaited_.reset();
  totals_.reset();
  own_norm_finite_ = true;
  for (std::vector<std::int32_t>& log : lane_logs_) {
    log.clear();
  }
  if (record_ != nullptr) {
    record_->times.resize(plan_.instructions.size());
    record_->memory.clear();
    record_->memory.reserve(2 * plan_.instructions.size() + 1);
    record_->begin = endpoint_.clock().now();
    record_->memory.push_back({record_->begin, meter_.live()});
  }
}

void RankExecutor::run_list(const UpdateStep& constants, const MicroBatchSource& source) {
  for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
    const Instruction& instruction = plan_.instructions[i];
    at_ = i;
    account(instruction, false);
    if (on_host(instruction)) {
      post_before(i);
      post_ahead(i);
      run_on_host(i, constants, source);
    } else {
      post_before(i + 1);
    }
    next_ = i + 1;
    if (plan_.totals_complete == static_cast<std::int32_t>(i)) {
      read_totals();
    }
    account(instruction, true);
  }
}

void RankExecutor::end_step(StepRecord* record) {
  for (const std::size_t i : communication_) {
    wait_for(i);
  }
  if (record != nullptr) {
    for (const std::size_t i : communication_) {
      const CommTimes of = events_[i].times();
      record->times[i] = {of.posted, of.ready, of.started, of.done, of.thread_time};
    }
    record->end = endpoint_.clock().now();
  }
  for (const std::size_t i : communication_) {
    events_[i] = Event::none();
  }
  for (std::unique_ptr<EventSource>& source : finished_) {
    source.reset();
  }
}

void RankExecutor::run_on_host(std::size_t index,
                               const UpdateStep& constants,
                               const MicroBatchSource& source) {
  const Instruction& instruction = plan_.instructions[index];
  const Pointers& pointers = pointers_[index];
  InstructionTimes times;
  if (record_ != nullptr) {
    times.posted = endpoint_.clock().now();
  }
  for (const std::int32_t wait : instruction.waits) {
    wait_for(static_cast<std::size_t>(wait));
  }
  if (record_ != nullptr) {
    times.start = instruction.waits.empty() ? times.posted : endpoint_.clock().now();
    times.ready = times.start;
    times.thread_time = -thread_time();
  }
  if (instruction.kind == InstructionKind::kLoad) {
    const Action& action = plan_.program->actions[static_cast<std::size_t>(instruction.action)];
    load(instruction, {step_number_ - 1, binding_.replica, action.micro_batch}, source, pointers);
  } else {
    compute(index, constants);
  }
  if (record_ != nullptr) {
    times.thread_time += thread_time();
    times.end = endpoint_.clock().now();
    record_->times[index] = times;
  }
  lane_logs_[kComputeLane.index()].push_back(static_cast<std::int32_t>(index));
  if (finished_[index] != nullptr) {
    finished_[index]->complete();
  }
}

void RankExecutor::compute(std::size_t index, const UpdateStep& constants) {
  const Instruction& instruction = plan_.instructions[index];
  const Pointers& pointers = pointers_[index];
  UpdateStep of_update = constants;
  of_update.number = (constants.number - 1) * instruction.updates + instruction.update + 1;
  const BoundOperation bound{.operation = instruction.operation,
                             .inputs = pointers.inputs,
                             .outputs = pointers.outputs,
                             .input_types = pointers.input_types,
                             .output_types = pointers.output_types,
                             .slice_begin = instruction.slice_begin,
                             .slice_end = instruction.slice_end,
                             .first_token = first_token_of(instruction),
                             .ranges = update_ranges_[index]};
  if (is_hopeless(instruction)) {
    return;
  }
  device_.execute(bound, of_update);
  if (instruction.operation->kind == OpKind::kSquaredSum) {
    const auto* totals = static_cast<const float*>(pointers.outputs[0]);
    own_norm_finite_ = own_norm_finite_ && std::isfinite(totals[instruction.operation->index]);
  }
  if (constants.inspect) {
    if (const auto output = first_not_finite(*plan_.program, bound)) {
      const TensorId tensor = instruction.operation->outputs[*output];
      throw BackendError(
          {ErrorCode::kBackendFailed,
           fmt::format("'{}' holds NaN or infinity", plan_.program->tensors[tensor.index()].name),
           {}});
    }
  }
}

std::int64_t RankExecutor::first_token_of(const Instruction& instruction) const {
  const Action& action = plan_.program->actions[static_cast<std::size_t>(instruction.action)];
  const std::int64_t micro_batch =
      std::int64_t{binding_.replica} * schedule_.micro_batches + action.micro_batch.value();
  return micro_batch * schedule_.micro_batch_size * schedule_.sequence;
}

bool RankExecutor::is_hopeless(const Instruction& instruction) const {
  return !own_norm_finite_ && is_update(*instruction.operation) &&
         instruction.operation->inputs.size() == 1;
}

void RankExecutor::load(const Instruction& instruction,
                        const MicroBatchSource::Place& place,
                        const MicroBatchSource& source,
                        const Pointers& pointers) const {
  const Action& action = plan_.program->actions[static_cast<std::size_t>(instruction.action)];
  const StageProgram& stage = plan_.program->stage(action.stage);
  const auto rows = [&](std::size_t i) {
    return std::span(static_cast<std::int32_t*>(pointers.outputs[i]),
                     static_cast<std::size_t>(instruction.outputs[i].bytes) / sizeof(std::int32_t));
  };
  if (stage.tokens) {
    source.tokens(place, rows(0));
  }
  if (stage.targets) {
    source.targets(place, rows(stage.tokens ? 1 : 0));
  }
}

void RankExecutor::account(const Instruction& instruction, bool after) {
  const bool changed = after ? meter_.release(instruction) : meter_.take(instruction);
  if (changed && record_ != nullptr) {
    record_->memory.push_back({endpoint_.clock().now(), meter_.live()});
  }
}

void RankExecutor::post_before(std::size_t index) {
  while (next_post_ < communication_.size() && communication_[next_post_] < index) {
    if (const auto& earlier = earlier_send_[communication_[next_post_]]) {
      await(*earlier);
    }
    post_next();
  }
}

void RankExecutor::post_ahead(std::size_t index) {
  const std::int32_t horizon = plan_.instructions[index].action + kActionsAhead;
  while (next_post_ < communication_.size()) {
    const std::size_t next = communication_[next_post_];
    const auto& earlier = earlier_send_[next];
    if (plan_.instructions[next].action > horizon || (earlier && !events_[*earlier].ready())) {
      return;
    }
    post_next();
  }
}

bool RankExecutor::may_post_while_waiting() const {
  if (next_post_ == communication_.size()) {
    return false;
  }
  // A send that rule 4 holds up is held up for certain as long as the one before it needs
  // computation that is still to come.  If that one only needs its peer, the peer may be about to
  // take it, and what stands after the held-up send may be what this rank is waiting for.
  const auto& earlier = earlier_send_[communication_[next_post_]];
  return !earlier || events_[*earlier].ready() || needs_[*earlier] < next_;
}

void RankExecutor::post_next() {
  const std::size_t index = communication_[next_post_];
  ++next_post_;
  events_[index] = post(index);
  lane_logs_[plan_.instructions[index].lane.index()].push_back(static_cast<std::int32_t>(index));
}

Event RankExecutor::post(std::size_t index) {
  const Instruction& instruction = plan_.instructions[index];
  Stream& stream = *streams_[instruction.lane.index()];
  Event after = Event::none();
  for (const std::int32_t wait : instruction.waits) {
    const Event event = event_of(static_cast<std::size_t>(wait));
    if (event.state() != nullptr) {
      if (after.state() != nullptr) {
        stream.record(after);
      }
      after = event;
    }
  }
  return instruction.kind == InstructionKind::kCollective
             ? post_collective(instruction, pointers_[index], stream, after)
             : post_transfer(instruction, pointers_[index], stream, after);
}

Event RankExecutor::post_transfer(const Instruction& instruction,
                                  const Pointers& pointers,
                                  Stream& stream,
                                  const Event& after) {
  const Action& action = plan_.program->actions[static_cast<std::size_t>(instruction.action)];
  const ChannelId channel = channel_of(action.kind);
  const int peer = instruction.peer->value();
  const auto bytes = static_cast<std::size_t>(instruction.bytes.count());
  if (instruction.kind == InstructionKind::kSend) {
    return endpoint_.world().send(
        {pointers.inputs[0], bytes, ElementType::kByte}, peer, channel, stream, after);
  }
  return endpoint_.world().recv(
      {pointers.outputs[0], bytes, ElementType::kByte}, peer, channel, stream, after);
}

Event RankExecutor::post_collective(const Instruction& instruction,
                                    const Pointers& pointers,
                                    Stream& stream,
                                    const Event& after) {
  const Operation& operation = *instruction.operation;
  Communicator* group = endpoint_.group(*instruction.group);
  SW_CHECK(group != nullptr, "a collective over a group that the rank belongs to");
  const ElementType type = element_type(operation.dtype);
  const auto whole = static_cast<std::size_t>(operation.shape.cols);
  const std::size_t part = whole / static_cast<std::size_t>(group->size());
  const void* in = pointers.inputs[0];
  void* out = pointers.outputs[0];
  if (operation.kind == OpKind::kAllReduce) {
    const bool maximum = operation.variant == OpVariant::kMaximum;
    return group->all_reduce({in, whole, type},
                             {out, whole, type},
                             maximum ? Reduction::kMax : Reduction::kSum,
                             stream,
                             after);
  }
  if (operation.kind == OpKind::kAllGather) {
    return group->all_gather({in, part, type}, {out, whole, type}, stream, after);
  }
  if (operation.kind == OpKind::kReduceScatter) {
    return group->reduce_scatter(
        {in, whole, type}, {out, part, type}, Reduction::kSum, stream, after);
  }
  SW_CHECK(operation.kind == OpKind::kBroadcast, "a collective that plan_rank let through");
  return group->broadcast({out, whole, type}, static_cast<int>(operation.index), stream, after);
}

Event RankExecutor::event_of(std::size_t index) {
  const Instruction& instruction = plan_.instructions[index];
  if (!on_host(instruction)) {
    return events_[index];
  }
  if (index < next_) {
    return Event::none();
  }
  if (finished_[index] == nullptr) {
    finished_[index] = endpoint_.make_event(labels_[index]);
  }
  return finished_[index]->event();
}

void RankExecutor::wait_for(std::size_t index) {
  // Whatever the rank waits for may itself wait for something that this rank has not issued yet.
  while (!events_[index].ready() && may_post_while_waiting()) {
    post_next();
  }
  await(index);
}

void RankExecutor::await(std::size_t index) {
  if (events_[index].state() != nullptr) {
    awaited_ = index;
    events_[index].wait();
    awaited_.reset();
  }
}

void RankExecutor::read_totals() {
  const auto complete = static_cast<std::size_t>(*plan_.totals_complete);
  if (!on_host(plan_.instructions[complete])) {
    wait_for(complete);
  }
  const auto* values = reinterpret_cast<const float*>(arena_.bytes().data() + plan_.totals->offset);
  totals_ = StepTotals{values[0], values[1]};
}

std::span<float> RankExecutor::persistent(TensorId tensor) {
  const OperandPlace place = persistent_place(plan_, tensor);
  return {reinterpret_cast<float*>(arena_.bytes().data() + place.offset),
          static_cast<std::size_t>(place.bytes) / sizeof(float)};
}

Error RankExecutor::in_context(const Error& error) const {
  std::string where = fmt::format("rank {}, step {}, ", plan_.rank.value(), step_number_);
  where += describe(plan_, plan_.instructions[at_]);
  if (awaited_ && *awaited_ != at_) {
    where += fmt::format(", waiting for {}", describe(plan_, plan_.instructions[*awaited_]));
  }
  return {error.code, error.to_string(), where};
}

}  // namespace stagewright
