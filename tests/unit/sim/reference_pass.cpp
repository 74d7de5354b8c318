#include "reference_pass.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/base/check.h"
#include "core/schedule/channels.h"
#include "core/schedule/touches.h"

namespace stagewright::test {
namespace {

struct Item {
  Place place;
  std::string queue;                                     ///< stream or channel
  std::vector<std::pair<TensorId, std::int32_t>> reads;  ///< owner, micro-batch or -1
  std::vector<std::pair<TensorId, std::int32_t>> writes;
  Duration duration{};
  bool send = false;
  std::vector<std::size_t> together;  ///< items (over all ranks) that begin at the same moment
  Duration able{};
  Duration start{};
};

class Reference {
 public:
  Reference(const Schedule& schedule, const DeviceType& device, const CostModel& cost)
      : schedule_(schedule), device_(device), cost_(cost) {
    for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
      first_.push_back(items_.size());
      add_rank(rank);
    }
    first_.push_back(items_.size());
    join(collectives_);
    join(messages_);
  }

  [[nodiscard]] ReferenceTimes run() {
    for (std::size_t round = 0; sweep(); ++round) {
      SW_CHECK(round <= items_.size(), "a schedule that comes to an end");
    }
    ReferenceTimes times;
    for (const Item& item : items_) {
      times[item.place] = {item.start, item.start + item.duration};
    }
    return times;
  }

 private:
  using Joint = std::map<std::tuple<std::string, std::int64_t>, std::vector<std::size_t>>;

  [[nodiscard]] const RankProgram& program(std::size_t rank) const {
    return schedule_.programs[schedule_.ranks[rank].program.index()];
  }

  [[nodiscard]] std::pair<TensorId, std::int32_t> instance(std::size_t rank,
                                                           TensorId tensor,
                                                           const Action& action) const {
    const TensorId owner = memory_owner(program(rank), tensor);
    const bool persistent = program(rank).tensors[owner.index()].scope == TensorScope::kPersistent;
    return {owner, persistent ? -1 : action.micro_batch.value()};
  }

  void add_rank(std::size_t rank) {
    std::map<std::string, std::int64_t> counts;
    for (std::size_t i = 0; i < program(rank).actions.size(); ++i) {
      const Action& action = program(rank).actions[i];
      const auto index = static_cast<std::int32_t>(i);
      if (is_send(action.kind) || is_receive(action.kind)) {
        add_message(rank, index, action, counts);
      }
      const ActionOperations run = operations_of(program(rank), action);
      for (std::size_t op = 0; op < run.ops.size(); ++op) {
        if (run.includes(run.ops[op])) {
          add_operation(rank, index, static_cast<std::int32_t>(op), action, run.ops[op], counts);
        }
      }
    }
  }

  void add_message(std::size_t rank,
                   std::int32_t index,
                   const Action& action,
                   std::map<std::string, std::int64_t>& counts) {
    const std::int32_t peer = schedule_.ranks[rank].peers[action.peer.index()].value();
    const auto own = static_cast<std::int32_t>(rank);
    const bool send = is_send(action.kind);
    const std::string channel = std::to_string(send ? own : peer) + ">" +
                                std::to_string(send ? peer : own) + " " +
                                std::to_string(static_cast<int>(message_kind(action.kind)));
    Item item;
    item.place = {own, index, 0};
    item.queue = channel;
    item.send = send;
    for (const TensorId tensor : moved_tensors(program(rank), action)) {
      (send ? item.reads : item.writes).push_back(instance(rank, tensor, action));
    }
    GroupGeometry ends;
    ends.members = ends.members_per_node = 2;
    ends.intra_node = device_.intra_node;
    item.duration = cost_.transfer(message_bytes(program(rank), action), ends).time;
    messages_[{channel, counts[channel]++}].push_back(items_.size());
    items_.push_back(std::move(item));
  }

  void add_operation(std::size_t rank,
                     std::int32_t index,
                     std::int32_t op_index,
                     const Action& action,
                     const Operation& op,
                     std::map<std::string, std::int64_t>& counts) {
    Item item;
    item.place = {static_cast<std::int32_t>(rank), index, op_index};
    item.queue = std::to_string(op.stream.value());
    for (const TensorId tensor : op.inputs) {
      item.reads.push_back(instance(rank, tensor, action));
    }
    for (const TensorId tensor : op.outputs) {
      item.writes.push_back(instance(rank, tensor, action));
    }
    if (class_of(op.kind) == OpClass::kCollective) {
      const GroupId group = schedule_.ranks[rank].groups[op.group->index()];
      GroupGeometry geometry;
      geometry.members = geometry.members_per_node =
          static_cast<std::int32_t>(schedule_.groups[group.index()].members.size());
      geometry.intra_node = device_.intra_node;
      item.duration = cost_.collective(op, geometry).time;
      const std::string name = "group " + std::to_string(group.value());
      collectives_[{name, counts[name]++}].push_back(items_.size());
    } else {
      item.duration = cost_.operation(op, device_).time;
    }
    items_.push_back(std::move(item));
  }

  void join(const Joint& joints) {
    for (const auto& [key, together] : joints) {
      for (const std::size_t item : together) {
        items_[item].together = together;
      }
    }
  }

  /// One walk over all ranks with what is known so far; whether anything moved.
  bool sweep() {
    bool moved = false;
    for (std::size_t rank = 0; rank + 1 < first_.size(); ++rank) {
      std::map<std::string, Duration> free;
      std::map<std::pair<TensorId, std::int32_t>, Duration> written;
      std::map<std::pair<TensorId, std::int32_t>, Duration> read;
      Duration issue{};
      for (std::size_t i = first_[rank]; i < first_[rank + 1]; ++i) {
        moved |= step(items_[i], issue, free, written, read);
      }
    }
    return moved;
  }

  template <class Ends>
  bool step(Item& item,
            Duration& issue,
            std::map<std::string, Duration>& free,
            Ends& written,
            Ends& read) {
    if (item.send) {
      issue = std::max(issue, free[item.queue]);
    }
    item.able = std::max(issue, free[item.queue]);
    for (const auto& tensor : item.reads) {
      item.able = std::max(item.able, written[tensor]);
    }
    for (const auto& tensor : item.writes) {
      item.able = std::max({item.able, written[tensor], read[tensor]});
    }
    Duration start = item.able;
    for (const std::size_t other : item.together) {
      start = std::max(start, items_[other].able);
    }
    const bool moved = start != item.start;
    item.start = start;
    const Duration end = start + item.duration;
    free[item.queue] = end;
    for (const auto& tensor : item.reads) {
      read[tensor] = std::max(read[tensor], end);
    }
    for (const auto& tensor : item.writes) {
      written[tensor] = end;
      read[tensor] = {};
    }
    return moved;
  }

  const Schedule& schedule_;
  const DeviceType& device_;
  const CostModel& cost_;
  std::vector<Item> items_;
  std::vector<std::size_t> first_;  ///< item of each rank, and the end
  Joint collectives_;
  Joint messages_;
};

}  // namespace

ReferenceTimes reference_times(const Schedule& schedule,
                               const DeviceType& device,
                               const CostModel& cost) {
  return Reference(schedule, device, cost).run();
}

}  // namespace stagewright::test
