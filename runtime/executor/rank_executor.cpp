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
#include "runtime/executor/static_runs.h"

namespace stagewright {

namespace {

/// Whether it is an update that does not wait for the step's totals.
[[nodiscard]] bool can_be_hopeless(const Operation& operation) {
  return is_update(operation) && operation.inputs.size() == 1;
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
      arena_(device_.allocate(plan_.arena.capacity)),
      meter_(plan_),
      ranges_(plan_),
      pointers_(plan_.instructions.size()),
      update_ranges_(update_ranges(schedule_, plan_, groups)),
      earlier_send_(plan_.instructions.size()),
      needs_(plan_.instructions.size()),
      labels_(plan_.instructions.size()),
      loaded_(plan_.instructions.size()),
      events_(plan_.instructions.size(), Event::none()),
      begun_(plan_.instructions.size(), Event::none()),
      finished_(plan_.instructions.size()),
      lane_logs_(plan_.lanes.size()) {
  for (std::size_t lane = 0; lane < plan_.lanes.size(); ++lane) {
    const bool on_host = LaneId(lane) == kComputeLane && !device_.queues();
    streams_.push_back(on_host ? nullptr : endpoint_.make_stream(plan_.lanes[lane].label));
  }
  if (on_queue()) {
    device_.use_queue(streams_[kComputeLane.index()]->device_queue());
  }
  find_pointers();
  find_order();
  initialize_parameters(
      schedule_, plan_, seed, [this](std::int64_t offset, std::span<const std::byte> values) {
        device_.upload(arena_->data() + offset, values);
        device_.synchronize();
      });
  initialize_masters();
  device_.synchronize();  // communication may read weights first of all
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
  std::byte* base = arena_->data();
  for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
    const Instruction& instruction = plan_.instructions[i];
    for (const OperandPlace& place : instruction.inputs) {
      pointers_[i].inputs.push_back(base + place.offset);
    }
    for (const OperandPlace& place : instruction.outputs) {
      pointers_[i].outputs.push_back(base + place.offset);
    }
    if (instruction.operation != nullptr) {
      hopeless_updates_ = hopeless_updates_ || can_be_hopeless(*instruction.operation);
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
  if (device_.replays()) {
    std::vector<bool> awaited;
    for (const std::string& label : labels_) {
      awaited.push_back(!label.empty());
    }
    static_runs_ = static_runs(
        plan_, [this](const Operation& op) { return device_.reads_back(op); }, awaited);
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
  ranges_.leave();  // of a step that failed
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
  for (Run run; run.first < plan_.instructions.size(); run.first = run.end) {
    const Instruction& instruction = plan_.instructions[run.first];
    run.end = end_of_run(run.first, constants);
    at_ = run.first;
    account(instruction, false);
    if (on_host(instruction)) {
      ranges_.enter(instruction.action);
      post_before(run.first);
      post_ahead(run.first);
      on_queue() ? run_on_queue(run, constants, source) : run_on_host(run, constants, source);
    } else {
      post_before(run.end);
    }
    next_ = run.end;
    if (plan_.totals_complete == static_cast<std::int32_t>(run.last())) {
      read_totals();
    }
    account(instruction, true);
    for (std::size_t i = run.first + 1; i < run.end; ++i) {
      account(plan_.instructions[i], false);
      account(plan_.instructions[i], true);
    }
  }
  ranges_.leave();
}

std::size_t RankExecutor::end_of_run(std::size_t index, const UpdateStep& constants) const {
  return is_static_run(index, constants) ? static_runs_[index] : index + 1;
}

/// Where times of instructions or all results are looked at, each is run by itself.
bool RankExecutor::is_static_run(std::size_t index, const UpdateStep& constants) const {
  return !static_runs_.empty() && record_ == nullptr && !constants.inspect &&
         static_runs_[index] != 0;
}

void RankExecutor::end_step(StepRecord* record) {
  for (const std::size_t i : communication_) {
    wait_for(i);
  }
  wait_for_device();
  device_.end_step();
  read_device_times();
  if (record != nullptr) {
    for (const std::size_t i : communication_) {
      const CommTimes of = events_[i].times();
      record->times[i] = {of.posted, of.ready, of.started, of.done, of.thread_time};
    }
    record->end = endpoint_.clock().now();
  }
  std::ranges::fill(events_, Event::none());
  for (std::unique_ptr<EventSource>& source : finished_) {
    source.reset();
  }
}

void RankExecutor::run_on_host(Run run,
                               const UpdateStep& constants,
                               const MicroBatchSource& source) {
  const Instruction& instruction = plan_.instructions[run.first];
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
  load_or_compute(run, constants, source);
  if (!labels_[run.last()].empty() || record_ != nullptr) {
    device_.synchronize();
  }
  if (record_ != nullptr) {
    times.thread_time += thread_time();
    times.end = endpoint_.clock().now();
    record_->times[run.first] = times;
  }
  if (finished_[run.last()] != nullptr) {
    finished_[run.last()]->complete();
  }
}

void RankExecutor::run_on_queue(Run run,
                                const UpdateStep& constants,
                                const MicroBatchSource& source) {
  Stream& queue = *streams_[kComputeLane.index()];
  for (const std::int32_t wait : plan_.instructions[run.first].waits) {
    begin_after(static_cast<std::size_t>(wait));
  }
  if (record_ != nullptr) {
    begun_[run.first] = queue.record(Event::none());
  }
  load_or_compute(run, constants, source);
  const std::size_t index = run.last();
  const bool awaited = !labels_[index].empty() || finished_[index] != nullptr;
  if (awaited || record_ != nullptr) {
    events_[index] = queue.record(Event::none());
  }
  if (finished_[index] != nullptr) {
    // Posted before the device knew of this: the one event that the host has to wait for.
    wait_for(index);
    finished_[index]->complete();
  }
}

/// The device's own way of waiting knows no limit and hears of no failure of another rank.
void RankExecutor::wait_for_device() {
  if (on_queue()) {
    streams_[kComputeLane.index()]->synchronize();
  } else {
    device_.synchronize();
  }
}

void RankExecutor::read_device_times() {
  if (record_ == nullptr || !on_queue()) {
    return;
  }
  TimePoint last = record_->begin;
  for (std::size_t i = 0; i < plan_.instructions.size(); ++i) {
    if (on_host(plan_.instructions[i])) {
      const TimePoint start = std::max(last, begun_[i].times().done);
      const TimePoint end = std::max(start, events_[i].times().done);
      record_->times[i] = {.posted = last, .ready = start, .start = start, .end = end};
      last = end;
      begun_[i] = Event::none();
    }
  }
}

void RankExecutor::load_or_compute(Run run,
                                   const UpdateStep& constants,
                                   const MicroBatchSource& source) {
  const auto compute_all = [&] {
    for (std::size_t i = run.first; i < run.end; ++i) {
      at_ = i;
      compute(i, constants);
    }
  };
  if (plan_.instructions[run.first].kind == InstructionKind::kLoad) {
    load(run.first, source);
  } else if (is_static_run(run.first, constants)) {
    device_.run_static(run.first, compute_all);
  } else {
    compute_all();
  }
  for (std::size_t i = run.first; i < run.end; ++i) {
    lane_logs_[kComputeLane.index()].push_back(static_cast<std::int32_t>(i));
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
                             .sequence_part = binding_.sequence_part,
                             .sequence_parts = schedule_.sequence_parts,
                             .ranges = update_ranges_[index]};
  if (is_hopeless(instruction)) {
    return;
  }
  if (device_.reads_back(*instruction.operation)) {
    wait_for_device();
  }
  device_.execute(bound, of_update);
  if (instruction.operation->kind == OpKind::kSquaredSum && hopeless_updates_) {
    const auto* totals = static_cast<const float*>(pointers.outputs[0]);
    float squares = 0;
    wait_for_device();
    device_.download(std::as_writable_bytes(std::span(&squares, 1)),
                     totals + instruction.operation->index);
    own_norm_finite_ = own_norm_finite_ && std::isfinite(squares);
  }
  if (constants.inspect) {
    wait_for_device();
    if (const auto output = first_not_finite(*plan_.program, bound, device_)) {
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
  return !own_norm_finite_ && can_be_hopeless(*instruction.operation);
}

void RankExecutor::load(std::size_t index, const MicroBatchSource& source) {
  const Instruction& instruction = plan_.instructions[index];
  const Action& action = plan_.program->actions[static_cast<std::size_t>(instruction.action)];
  const StageProgram& stage = plan_.program->stage(action.stage);
  const MicroBatchSource::Place place{
      step_number_ - 1, binding_.replica, action.micro_batch, binding_.sequence_part};
  std::vector<std::vector<std::int32_t>>& rows = loaded_[index];
  rows.resize(instruction.outputs.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].resize(static_cast<std::size_t>(instruction.outputs[i].bytes) / sizeof(std::int32_t));
  }
  if (stage.tokens) {
    source.tokens(place, rows[0]);
  }
  if (stage.targets) {
    source.targets(place, rows[stage.tokens ? 1 : 0]);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    device_.upload(pointers_[index].outputs[i], std::as_bytes(std::span(rows[i])));
  }
}

void RankExecutor::account(const Instruction& instruction, bool after) {
  const bool changed = after ? meter_.release(instruction) : meter_.take(instruction);
  if (changed && record_ != nullptr) {
    record_->memory.push_back({endpoint_.clock().now(), meter_.live()});
  }
}

void RankExecutor::read_totals() {
  const auto complete = static_cast<std::size_t>(*plan_.totals_complete);
  if (!on_host(plan_.instructions[complete])) {
    wait_for(complete);
  }
  float values[2] = {};
  wait_for_device();
  device_.download(std::as_writable_bytes(std::span(values)),
                   arena_->data() + plan_.totals->offset);
  totals_ = StepTotals{values[0], values[1]};
}

std::span<float> RankExecutor::persistent(TensorId tensor) {
  const OperandPlace place = persistent_place(plan_, tensor);
  return {reinterpret_cast<float*>(arena_->data() + place.offset),
          static_cast<std::size_t>(place.bytes) / sizeof(float)};
}

void RankExecutor::read_persistent(TensorId tensor, std::int64_t first, std::span<std::byte> to) {
  const OperandPlace place = persistent_place(plan_, tensor);
  const Bytes element = size_of(plan_.program->tensors[tensor.index()].dtype);
  device_.download(to, arena_->data() + place.offset + (first * element).count());
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
