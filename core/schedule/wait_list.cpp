#include "core/schedule/wait_list.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/schedule/channels.h"
#include "core/schedule/memory_reuse.h"
#include "core/schedule/wait_steps.h"

namespace stagewright {
namespace {

/// The last operations that touched one lifetime of a tensor.
struct Touched {
  std::optional<std::int32_t> writer;  ///< item, unless the compute stream wrote last
  std::vector<std::int32_t> readers;   ///< items since the last write
  std::int32_t compute_write = 0;      ///< waits of the compute stream before its last write ...
  std::int32_t compute_touch = 0;      ///< ... and before its last touch
};

class Builder {
 public:
  Builder(const RankProgram& program, std::size_t streams, MemoryWaits memory)
      : program_(program),
        streams_(streams),
        steps_(program, memory == MemoryWaits::kExact ? WaitTensors::kAll : WaitTensors::kShared) {
    if (memory == MemoryWaits::kExact) {
      reuse_.emplace(program);
      by_lifetime_.resize(reuse_->lifetimes());
    }
    persistent_.resize(program.tensors.size());
    for (std::size_t i = 0; i < program.actions.size(); ++i) {
      const std::size_t m = program.actions[i].micro_batch.index();
      last_action_.resize(std::max(last_action_.size(), m + 1));
      last_action_[m] = i;
    }
    instances_.resize(last_action_.size());
  }

  WaitList build() && {
    for (std::size_t i = 0; i < program_.actions.size(); ++i) {
      const Action& action = program_.actions[i];
      for (const WaitStep& step : steps_.of(action)) {
        const auto index = static_cast<std::int32_t>(i);
        const auto from = reuse_ ? reuse_->begin({index, step.op}) : std::vector<std::size_t>();
        if (step.is_item) {
          add_item(index, step, action, from);
        } else {
          compute(step, action, from);
        }
      }
      if (last_action_[action.micro_batch.index()] == i) {
        for (const auto& [tensor, touched] : instances_[action.micro_batch.index()]) {
          note_end(touched);
        }
        instances_[action.micro_batch.index()].clear();
      }
    }
    return std::move(list_);
  }

 private:
  Touched& instance(TensorId tensor, const Action& action) {
    if (reuse_) {
      return by_lifetime_[reuse_->current(tensor, action.micro_batch)];
    }
    if (program_.tensors[tensor.index()].scope == TensorScope::kPersistent) {
      return persistent_[tensor.index()];
    }
    return instances_[action.micro_batch.index()][tensor];
  }

  /// What a lifetime leaves behind when its memory may go on: the compute stream must have seen its
  /// items done.  Sends are done by rule 4.
  void note_end(const Touched& touched) {
    const auto is_unseen = [&](std::int32_t item) {
      const auto i = static_cast<std::size_t>(item);
      return !seen_by_compute_[i] && list_.items[i].kind != WaitItem::Kind::kSend;
    };
    if ((touched.writer && is_unseen(*touched.writer)) ||
        std::ranges::any_of(touched.readers, is_unseen)) {
      list_.covers_memory = false;
    }
  }

  /// A write that does not read may begin another lifetime, the old one having ended before.
  void note_rewrite(TensorId tensor, const WaitStep& step, const Touched& touched) {
    if (program_.tensors[tensor.index()].scope == TensorScope::kMicroBatch &&
        std::ranges::find(step.reads, tensor) == step.reads.end()) {
      note_end(touched);
    }
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

  void compute_overwrites(const Touched& touched) {
    if (touched.writer) {
      compute_waits_for(*touched.writer);
    }
    std::ranges::for_each(touched.readers, [&](std::int32_t item) { compute_waits_for(item); });
  }

  void compute(const WaitStep& step, const Action& action, const std::vector<std::size_t>& from) {
    for (const std::size_t lifetime : from) {
      compute_overwrites(by_lifetime_[lifetime]);
    }
    for (const TensorId tensor : step.reads) {
      Touched& touched = instance(tensor, action);
      if (touched.writer) {
        compute_waits_for(*touched.writer);
      }
    }
    for (const TensorId tensor : step.writes) {
      Touched& touched = instance(tensor, action);
      note_rewrite(tensor, step, touched);
      compute_overwrites(touched);
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

  /// Makes an item wait for all that touched what it is about to overwrite.
  static void item_overwrites(WaitItem& item, std::int32_t number, const Touched& touched) {
    if (touched.writer) {
      item.after.push_back(*touched.writer);
    }
    for (const std::int32_t reader : touched.readers) {
      if (reader != number) {
        item.after.push_back(reader);
      }
    }
    item.compute_waits = std::max(item.compute_waits, touched.compute_touch);
  }

  void add_item(std::int32_t index,
                const WaitStep& step,
                const Action& action,
                const std::vector<std::size_t>& from) {
    WaitItem item;
    item.action = index;
    item.op = step.op;
    place(item, step, action);
    const auto number = static_cast<std::int32_t>(list_.items.size());
    for (const std::size_t lifetime : from) {
      item_overwrites(item, number, by_lifetime_[lifetime]);
    }
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
      note_rewrite(tensor, step, touched);
      item_overwrites(item, number, touched);
      touched.writer = number;
      touched.readers.clear();
    }
    const bool on_compute_stream =
        step.operation != nullptr && step.operation->stream == kComputeStream;
    if (on_compute_stream || (!reuse_ && !step.writes.empty())) {
      item.compute_waits = waits_so_far();
    }
    list_.items.push_back(std::move(item));
    seen_by_compute_.push_back(false);
    if (on_compute_stream) {
      compute_waits_for(number);
    }
  }

  /// Fills in what the item is and its queue.
  void place(WaitItem& item, const WaitStep& step, const Action& action) {
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
  WaitStepTable steps_;
  std::optional<MemoryReuse> reuse_;                    ///< for exact lists, which then have ...
  std::vector<Touched> by_lifetime_;                    ///< ... this; cautious ones have these:
  std::vector<Touched> persistent_;                     ///< by tensor
  std::vector<std::map<TensorId, Touched>> instances_;  ///< by micro-batch, while in use
  std::vector<std::size_t> last_action_;                ///< by micro-batch
  std::vector<bool> seen_by_compute_;                   ///< by item
  WaitList list_;
};

}  // namespace

std::int32_t message_queue(std::size_t streams, const Action& action) {
  const auto kind = static_cast<std::int32_t>(message_kind(action.kind));
  const std::int32_t direction = is_send(action.kind) ? 0 : 1;
  return static_cast<std::int32_t>(streams) + (action.peer.value() * kMessageKindCount + kind) * 2 +
         direction;
}

WaitList wait_list(const RankProgram& program, std::size_t streams, MemoryWaits memory) {
  return Builder(program, streams, memory).build();
}

}  // namespace stagewright
