#include "core/schedule/wait_list.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "core/schedule/channels.h"
#include "core/schedule/touches.h"

namespace stagewright {
namespace {

bool is_item(const Operation& op) {
  return op.stream != kComputeStream || class_of(op.kind) == OpClass::kCollective;
}

/// An operation as far as its waits go.
struct Step {
  std::int32_t op = 0;
  const Operation* operation = nullptr;  ///< null for messages
  std::vector<TensorId> reads;           ///< owners that some item touches
  std::vector<TensorId> writes;
};

/// The last operations that touched one instance of a tensor.
struct Touched {
  std::optional<std::int32_t> writer;  ///< item, unless the compute stream wrote last
  std::vector<std::int32_t> readers;   ///< items since the last write
  std::int32_t compute_write = 0;      ///< waits of the compute stream before its last write ...
  std::int32_t compute_touch = 0;      ///< ... and before its last touch
};

class Builder {
 public:
  Builder(const RankProgram& program, std::size_t streams)
      : program_(program), streams_(streams), shared_(shared_tensors()) {
    persistent_.resize(program.tensors.size());
    last_action_.assign(micro_batches(), 0);
    instances_.resize(last_action_.size());
    for (std::size_t i = 0; i < program.actions.size(); ++i) {
      last_action_[program.actions[i].micro_batch.index()] = i;
    }
  }

  WaitList build() && {
    for (std::size_t i = 0; i < program_.actions.size(); ++i) {
      const Action& action = program_.actions[i];
      for (const Step& step : steps_of(action)) {
        if (step.operation != nullptr && !is_item(*step.operation)) {
          compute(step, action);
        } else {
          add_item(static_cast<std::int32_t>(i), step, action);
        }
      }
      if (last_action_[action.micro_batch.index()] == i) {
        instances_[action.micro_batch.index()].clear();
      }
    }
    return std::move(list_);
  }

 private:
  [[nodiscard]] std::size_t micro_batches() const {
    std::size_t count = 0;
    for (const Action& action : program_.actions) {
      count = std::max(count, action.micro_batch.index() + 1);
    }
    return count;
  }

  /// Whether an item touches a tensor, by tensor.
  [[nodiscard]] std::vector<bool> shared_tensors() const {
    std::vector<bool> shared(program_.tensors.size());
    const auto mark = [&](TensorId tensor) {
      shared[memory_owner(program_, tensor).index()] = true;
    };
    const auto mark_operations = [&](const std::vector<Operation>& ops) {
      for (const Operation& op : ops) {
        if (is_item(op)) {
          std::ranges::for_each(op.inputs, mark);
          std::ranges::for_each(op.outputs, mark);
        }
      }
    };
    for (const StageProgram& stage : program_.stages) {
      for (const auto& border :
           {stage.input, stage.output, stage.output_gradient, stage.input_gradient}) {
        if (border) {
          mark(*border);
        }
      }
      mark_operations(stage.forward);
      mark_operations(stage.backward);
      mark_operations(stage.recompute);
    }
    for (const GradientBucket& bucket : program_.buckets) {
      mark_operations(bucket.reduce);
      mark_operations(bucket.gather);
    }
    mark_operations(program_.optimizer_step);
    return shared;
  }

  [[nodiscard]] std::vector<TensorId> shared_among(const std::vector<TensorId>& tensors) const {
    std::vector<TensorId> found;
    for (const TensorId tensor : tensors) {
      const TensorId owner = memory_owner(program_, tensor);
      if (shared_[owner.index()] && std::ranges::find(found, owner) == found.end()) {
        found.push_back(owner);
      }
    }
    return found;
  }

  /// Worked out once per kind and stage or bucket.
  const std::vector<Step>& steps_of(const Action& action) {
    const auto [found, is_new] =
        steps_.try_emplace({action.kind, action.stage.value() + action.bucket.value()});
    if (is_new) {
      found->second = work_out(action);
    }
    return found->second;
  }

  [[nodiscard]] std::vector<Step> work_out(const Action& action) const {
    std::vector<Step> steps;
    if (is_send(action.kind) || is_receive(action.kind)) {
      Step step;
      auto& tensors = is_send(action.kind) ? step.reads : step.writes;
      tensors = shared_among(moved_tensors(program_, action));
      steps.push_back(std::move(step));
    }
    const ActionOperations run = operations_of(program_, action);
    for (std::size_t i = 0; i < run.ops.size(); ++i) {
      if (run.includes(run.ops[i])) {
        Step step{static_cast<std::int32_t>(i),
                  &run.ops[i],
                  shared_among(run.ops[i].inputs),
                  shared_among(run.ops[i].outputs)};
        if (is_item(run.ops[i]) || !step.reads.empty() || !step.writes.empty()) {
          steps.push_back(std::move(step));
        }
      }
    }
    return steps;
  }

  Touched& instance(TensorId tensor, const Action& action) {
    if (program_.tensors[tensor.index()].scope == TensorScope::kPersistent) {
      return persistent_[tensor.index()];
    }
    return instances_[action.micro_batch.index()][tensor];
  }

  void compute_waits_for(std::int32_t item) {
    if (!seen_by_compute_[static_cast<std::size_t>(item)]) {
      seen_by_compute_[static_cast<std::size_t>(item)] = true;
      list_.compute_waits.push_back(item);
    }
  }

  [[nodiscard]] std::int32_t waits_so_far() const {
    return static_cast<std::int32_t>(list_.compute_waits.size());
  }

  void compute(const Step& step, const Action& action) {
    for (const TensorId tensor : step.reads) {
      Touched& touched = instance(tensor, action);
      if (touched.writer) {
        compute_waits_for(*touched.writer);
      }
    }
    for (const TensorId tensor : step.writes) {
      Touched& touched = instance(tensor, action);
      if (touched.writer) {
        compute_waits_for(*touched.writer);
      }
      std::ranges::for_each(touched.readers, [&](std::int32_t item) { compute_waits_for(item); });
      touched.writer.reset();
      touched.readers.clear();
    }
    for (const TensorId tensor : step.reads) {
      instance(tensor, action).compute_touch = waits_so_far();
    }
    for (const TensorId tensor : step.writes) {
      Touched& touched = instance(tensor, action);
      touched.compute_touch = touched.compute_write = waits_so_far();
    }
  }

  void add_item(std::int32_t index, const Step& step, const Action& action) {
    WaitItem item;
    item.action = index;
    item.op = step.op;
    place(item, step, action);
    const auto number = static_cast<std::int32_t>(list_.items.size());
    for (const TensorId tensor : step.reads) {
      Touched& touched = instance(tensor, action);
      if (touched.writer) {
        item.after.push_back(*touched.writer);
      }
      item.compute_waits = std::max(item.compute_waits, touched.compute_write);
      touched.readers.push_back(number);
    }
    for (const TensorId tensor : step.writes) {
      Touched& touched = instance(tensor, action);
      if (touched.writer) {
        item.after.push_back(*touched.writer);
      }
      for (const std::int32_t reader : touched.readers) {
        if (reader != number) {
          item.after.push_back(reader);
        }
      }
      item.compute_waits = std::max(item.compute_waits, touched.compute_touch);
      touched.writer = number;
      touched.readers.clear();
    }
    list_.items.push_back(std::move(item));
    seen_by_compute_.push_back(false);
    if (step.operation != nullptr && step.operation->stream == kComputeStream) {
      list_.items.back().compute_waits = waits_so_far();
      compute_waits_for(number);
    }
  }

  /// Fills in what the item is and its queue.
  void place(WaitItem& item, const Step& step, const Action& action) {
    const auto number = static_cast<std::int32_t>(list_.items.size());
    if (step.operation == nullptr) {
      item.kind = is_send(action.kind) ? WaitItem::Kind::kSend : WaitItem::Kind::kReceive;
      item.slot = action.peer.value();
      item.queue = message_queue(streams_, action);
    } else {
      item.queue = step.operation->stream.value();
      if (class_of(step.operation->kind) == OpClass::kCollective) {
        item.kind = WaitItem::Kind::kCollective;
        item.slot = step.operation->group->value();
        auto& calls = at(list_.collectives, item.slot);
        item.ordinal = static_cast<std::int32_t>(calls.size());
        calls.push_back(number);
      }
    }
    auto& queue = at(list_.queues, item.queue);
    item.in_queue = static_cast<std::int32_t>(queue.size());
    queue.push_back(number);
  }

  static std::vector<std::int32_t>& at(std::vector<std::vector<std::int32_t>>& table,
                                       std::int32_t index) {
    const auto i = static_cast<std::size_t>(index);
    if (table.size() <= i) {
      table.resize(i + 1);
    }
    return table[i];
  }

  const RankProgram& program_;
  std::size_t streams_;
  std::vector<bool> shared_;
  std::map<std::pair<ActionKind, std::int32_t>, std::vector<Step>> steps_;
  std::vector<Touched> persistent_;                     ///< by tensor
  std::vector<std::map<TensorId, Touched>> instances_;  ///< by micro-batch, while in use
  std::vector<std::size_t> last_action_;                ///< by micro-batch
  std::vector<bool> seen_by_compute_;                   ///< by item
  WaitList list_;
};

}  // namespace

std::int32_t message_queue(std::size_t streams, const Action& action) {
  const std::int32_t kind = static_cast<std::int32_t>(message_kind(action.kind));
  const std::int32_t direction = is_send(action.kind) ? 0 : 1;
  return static_cast<std::int32_t>(streams) + (action.peer.value() * kMessageKindCount + kind) * 2 +
         direction;
}

WaitList wait_list(const RankProgram& program, std::size_t streams) {
  return Builder(program, streams).build();
}

}  // namespace stagewright
