#include "sim/memory/micro_batch_pattern.h"

#include <algorithm>
#include <unordered_map>

#include "core/schedule/lifetimes.h"

namespace stagewright {
namespace {

/// Where an instance of a tensor begins and ends, in positions of the micro-batch's own actions.
struct Instance {
  TensorId tensor;
  std::size_t begin = 0;
  std::int32_t begin_op = 0;
  std::size_t last = 0;
  std::int32_t last_op = 0;
  std::optional<std::size_t> sent;
};

/// Nothing if an instance is touched again after it was sent.
std::optional<std::vector<Instance>> instances_of(TouchTable& touches,
                                                  const std::vector<Action>& actions) {
  std::vector<Instance> instances;
  std::unordered_map<TensorId, std::size_t> open;
  for (std::size_t k = 0; k < actions.size(); ++k) {
    for (const Touch& touch : touches.of(actions[k])) {
      const auto [found, is_new] = open.try_emplace(touch.tensor, instances.size());
      if (is_new || touch.fresh) {
        found->second = instances.size();
        instances.push_back({touch.tensor, k, touch.first_op, k, touch.first_op, {}});
      }
      Instance& instance = instances[found->second];
      if (instance.sent) {
        return std::nullopt;
      }
      instance.last = k;
      instance.last_op = touch.last_op;
      if (is_send(actions[k].kind)) {
        instance.sent = k;
      }
    }
  }
  return instances;
}

/// A change of the live bytes at an operation.
struct Change {
  std::int32_t op = 0;
  std::size_t tensor_class = 0;
  Bytes bytes{};
};

struct Changes {
  std::vector<Change> begins;
  std::vector<Change> ends;  ///< behind their operation
};

ActionProfile profile_of(Changes changes) {
  std::ranges::sort(changes.begins, {}, &Change::op);
  std::ranges::sort(changes.ends, {}, &Change::op);
  ActionProfile profile;
  auto ended = changes.ends.begin();
  for (const Change& begin : changes.begins) {
    for (; ended != changes.ends.end() && ended->op < begin.op; ++ended) {
      profile.after[ended->tensor_class] -= ended->bytes;
    }
    Bytes& live = profile.after[begin.tensor_class];
    live += begin.bytes;
    profile.largest[begin.tensor_class] = std::max(profile.largest[begin.tensor_class], live);
    if (total_of(profile.after) > total_of(profile.highest)) {
      profile.highest = profile.after;
    }
  }
  for (; ended != changes.ends.end(); ++ended) {
    profile.after[ended->tensor_class] -= ended->bytes;
  }
  return profile;
}

}  // namespace

std::optional<MicroBatchPattern> micro_batch_pattern(const RankProgram& program,
                                                     TouchTable& touches,
                                                     const std::vector<Action>& actions) {
  const auto instances = instances_of(touches, actions);
  if (!instances) {
    return std::nullopt;
  }
  MicroBatchPattern pattern;
  std::vector<Changes> changes(actions.size());
  for (const Instance& instance : *instances) {
    const TensorSpec& tensor = program.tensors[instance.tensor.index()];
    const auto tensor_class = static_cast<std::size_t>(tensor.tensor_class);
    const Bytes bytes = arena_bytes(tensor);
    changes[instance.begin].begins.push_back({instance.begin_op, tensor_class, bytes});
    if (instance.sent) {
      pattern.sent.push_back({*instance.sent, tensor_class, bytes});
    } else {
      changes[instance.last].ends.push_back({instance.last_op, tensor_class, bytes});
    }
  }
  for (Changes& change : changes) {
    pattern.actions.push_back(profile_of(std::move(change)));
  }
  return pattern;
}

}  // namespace stagewright
