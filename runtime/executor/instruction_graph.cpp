#include "runtime/executor/instruction_graph.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "runtime/executor/schedule_world.h"

namespace stagewright {

InstructionGraph::InstructionGraph(std::vector<const RankPlan*> plans) : plans_(std::move(plans)) {
  std::map<Meeting, Node> met;
  for (std::size_t rank = 0; rank < plans_.size(); ++rank) {
    add_rank(rank, met);
  }
  sort_nodes();
}

InstructionGraph::Node InstructionGraph::add_node() {
  needs_.emplace_back();
  return needs_.size() - 1;
}

InstructionGraph::Meeting InstructionGraph::meeting_of(const RankPlan& plan,
                                                       const Instruction& instruction) {
  Meeting meeting;
  if (instruction.kind == InstructionKind::kCollective) {
    meeting.group = instruction.group->value();
    return meeting;
  }
  const Action& action = plan.program->actions[static_cast<std::size_t>(instruction.action)];
  meeting.source = plan.rank.value();
  meeting.destination = instruction.peer->value();
  meeting.channel = static_cast<std::int32_t>(channel_of(action.kind).value());
  if (instruction.kind == InstructionKind::kReceive) {
    std::swap(meeting.source, meeting.destination);
  }
  return meeting;
}

void InstructionGraph::add_rank(std::size_t rank, std::map<Meeting, Node>& met) {
  const RankPlan& plan = *plans_[rank];
  std::vector<Side>& sides = sides_.emplace_back();
  std::vector<std::optional<Node>> last_of_lane(plan.lanes.size());
  std::map<Meeting, std::int32_t> numbers;
  std::optional<Node> gate;
  for (const Instruction& instruction : plan.instructions) {
    std::optional<Node>& before = last_of_lane[instruction.lane.index()];
    if (instruction.kind == InstructionKind::kSend && before) {
      const Node next_gate = add_node();
      needs_[next_gate].push_back(*before);
      if (gate) {
        needs_[next_gate].push_back(*gate);
      }
      gate = next_gate;
    }
    Side& side = sides.emplace_back();
    side.gate = gate;
    if (on_host(instruction)) {
      side.node = add_node();
    } else {
      Meeting meeting = meeting_of(plan, instruction);
      meeting.number = numbers[meeting]++;
      const auto found = met.find(meeting);
      side.node =
          found != met.end() ? found->second : met.emplace(meeting, add_node()).first->second;
    }
    if (before) {
      side.needs.push_back(*before);
    }
    for (const std::int32_t wait : instruction.waits) {
      side.needs.push_back(sides[static_cast<std::size_t>(wait)].node);
    }
    before = side.node;
    std::vector<Node>& needs = needs_[side.node];
    needs.insert(needs.end(), side.needs.begin(), side.needs.end());
    if (gate) {
      needs.push_back(*gate);
    }
  }
}

void InstructionGraph::sort_nodes() {
  std::vector<std::vector<Node>> dependents(needs_.size());
  std::vector<std::size_t> missing(needs_.size());
  for (Node node = 0; node < needs_.size(); ++node) {
    missing[node] = needs_[node].size();
    for (const Node needed : needs_[node]) {
      dependents[needed].push_back(node);
    }
    if (missing[node] == 0) {
      order_.push_back(node);
    }
  }
  for (std::size_t done = 0; done < order_.size(); ++done) {
    for (const Node dependent : dependents[order_[done]]) {
      if (--missing[dependent] == 0) {
        order_.push_back(dependent);
      }
    }
  }
  SW_CHECK(order_.size() == needs_.size(), "the lists of a valid schedule end");
}

std::vector<Duration> InstructionGraph::ends_of(const std::vector<Duration>& durations) const {
  std::vector<Duration> ends(needs_.size());
  for (const Node node : order_) {
    Duration start{};
    for (const Node needed : needs_[node]) {
      start = std::max(start, ends[needed]);
    }
    ends[node] = start + durations[node];
  }
  return ends;
}

InstructionGraph::Times InstructionGraph::retimed(const Times& measured) const {
  std::vector<Duration> durations(needs_.size());
  for (std::size_t rank = 0; rank < sides_.size(); ++rank) {
    for (std::size_t i = 0; i < sides_[rank].size(); ++i) {
      Duration& duration = durations[sides_[rank][i].node];
      duration = std::max(duration, measured[rank][i].thread_time);
    }
  }
  const std::vector<Duration> ends = ends_of(durations);
  Times times(sides_.size());
  for (std::size_t rank = 0; rank < sides_.size(); ++rank) {
    Duration thread_free{};
    for (std::size_t i = 0; i < sides_[rank].size(); ++i) {
      const Side& side = sides_[rank][i];
      const bool hosted = on_host(plans_[rank]->instructions[i]);
      const Duration end = ends[side.node];
      const Duration start = end - durations[side.node];
      const Duration issued = side.gate ? ends[*side.gate] : Duration{};
      // The rank's thread comes to its own instructions one after the other.
      const Duration posted = hosted ? std::max(issued, thread_free) : issued;
      Duration ready = hosted ? start : posted;
      if (hosted) {
        thread_free = end;
      } else {
        for (const Node needed : side.needs) {
          ready = std::max(ready, ends[needed]);
        }
      }
      times[rank].push_back({TimePoint(posted),
                             TimePoint(ready),
                             TimePoint(start),
                             TimePoint(end),
                             durations[side.node]});
    }
  }
  return times;
}

}  // namespace stagewright
