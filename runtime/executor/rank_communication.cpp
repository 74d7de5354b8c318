#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "runtime/executor/post_collective.h"
#include "runtime/executor/rank_executor.h"
#include "runtime/executor/schedule_world.h"

/// How a rank posts its communication, and waits for it.
namespace stagewright {

namespace {

/// How many actions ahead of the computation communication is issued.  Far enough that a receive
/// stands ready while the stage before is still computing; near enough that a step does not begin
/// with the posting of all its messages.
constexpr std::int32_t kActionsAhead = 4;

}  // namespace

void RankExecutor::post_before(std::size_t index) {
  while (next_post_ < communication_.size() && communication_[next_post_] < index) {
    // A device keeps the sends of a channel in order by itself.
    if (const auto& earlier = earlier_send_[communication_[next_post_]]; earlier && !on_queue()) {
      await(*earlier);
    }
    post_next();
  }
}

void RankExecutor::post_ahead(std::size_t index) {
  if (on_queue()) {  // the host is ahead of the device anyway
    return;
  }
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
  const Pointers& pointers = pointers_[index];
  if (instruction.kind != InstructionKind::kCollective) {
    return post_transfer(instruction, pointers, stream, after);
  }
  Communicator* group = endpoint_.group(*instruction.group);
  SW_CHECK(group != nullptr, "a collective over a group that the rank belongs to");
  // Where the host cannot read the counts, whole parts go.
  const bool counted = pointers.inputs.size() > 1 && !device_.queues();
  return post_collective(
      *instruction.operation,
      *group,
      {.in = pointers.inputs[0],
       .elements = pointers.input_types[0].elements,
       .counts = counted ? static_cast<const std::int32_t*>(pointers.inputs[1]) : nullptr,
       .out = pointers.outputs[0]},
      stream,
      after);
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

Event RankExecutor::event_of(std::size_t index) {
  const Instruction& instruction = plan_.instructions[index];
  if (!on_host(instruction)) {
    return events_[index];
  }
  if (index < next_) {
    return events_[index];  // none where the host computes
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

void RankExecutor::begin_after(std::size_t index) {
  Stream& compute = *streams_[kComputeLane.index()];
  while (!compute.begin_after(events_[index])) {
    // A message to this rank itself, whose other side comes later in the list.
    if (next_post_ == communication_.size()) {
      return await(index);
    }
    post_next();
  }
}

void RankExecutor::await(std::size_t index) {
  if (events_[index].state() != nullptr) {
    awaited_ = index;
    events_[index].wait();
    awaited_.reset();
  }
}

}  // namespace stagewright
