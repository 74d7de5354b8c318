#include "sim/cost/operation_run.h"

#include <algorithm>
#include <optional>

#include "core/base/check.h"
#include "core/schedule/touches.h"

namespace stagewright {
namespace {

/// When somebody is done with something, and who it is.
struct Done {
  Duration at{};
  std::optional<std::size_t> op;  ///< absent: nobody in this run
};

void raise(Done& latest, const Done& other) {
  if (other.op && (!latest.op || other.at > latest.at)) {
    latest = other;
  }
}

struct TensorState {
  Done written;
  Done read;  ///< the last of the reads since it was written
};

class Runner {
 public:
  Runner(const RankProgram& program,
         std::span<const Operation* const> ops,
         std::span<const Duration> durations,
         const std::vector<bool>& blocks)
      : program_(program),
        ops_(ops),
        durations_(durations),
        blocks_(blocks),
        tensors_(program.tensors.size()) {}

  [[nodiscard]] OperationRun run() && {
    result_.start.reserve(ops_.size());
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      step(i);
    }
    return std::move(result_);
  }

 private:
  [[nodiscard]] TensorState& state(TensorId tensor) {
    return tensors_[memory_owner(program_, tensor).index()];
  }

  [[nodiscard]] Duration& stream_free(StreamId stream) {
    if (stream_free_.size() <= stream.index()) {
      stream_free_.resize(stream.index() + 1);
    }
    return stream_free_[stream.index()];
  }

  [[nodiscard]] Done latest_need(const Operation& op) {
    Done latest;
    for (const TensorId tensor : op.inputs) {
      raise(latest, state(tensor).written);
    }
    for (const TensorId tensor : op.outputs) {
      raise(latest, state(tensor).written);
      raise(latest, state(tensor).read);
    }
    return latest;
  }

  void step(std::size_t i) {
    const Operation& op = *ops_[i];
    if (!blocks_.empty() && blocks_[i] && op.stream != kComputeStream) {
      block(i);
      return;
    }
    Duration& free = stream_free(op.stream);
    const Done need = latest_need(op);
    const Duration start = std::max(free, need.at);
    const Duration end = start + durations_[i];
    if (op.stream == kComputeStream) {
      if (start > free && ops_[*need.op]->stream != kComputeStream) {
        result_.waits.push_back({i, *need.op, start - free});
      }
      if (!result_.computes) {
        result_.computes = true;
        result_.compute_begin = start;
      }
      result_.compute_end = end;
    }
    free = end;
    result_.start.push_back(start);
    result_.end = std::max(result_.end, end);
    note(op, {end, i});
  }

  /// A collective on its own stream and the compute stream at once.
  void block(std::size_t i) {
    const Operation& op = *ops_[i];
    const Duration computed = stream_free(kComputeStream);
    const Duration start = std::max({stream_free(op.stream), computed, latest_need(op).at});
    const Duration end = start + durations_[i];
    if (!result_.computes) {
      result_.computes = true;
      result_.compute_begin = start;
    }
    result_.waits.push_back({i, i, end - std::max(computed, result_.compute_begin)});
    result_.compute_end = end;
    stream_free(op.stream) = end;
    stream_free(kComputeStream) = end;
    result_.start.push_back(start);
    result_.end = std::max(result_.end, end);
    note(op, {end, i});
  }

  void note(const Operation& op, const Done& done) {
    for (const TensorId tensor : op.inputs) {
      raise(state(tensor).read, done);
    }
    for (const TensorId tensor : op.outputs) {
      state(tensor) = {.written = done, .read = {}};
    }
  }

  const RankProgram& program_;
  std::span<const Operation* const> ops_;
  std::span<const Duration> durations_;
  const std::vector<bool>& blocks_;
  std::vector<TensorState> tensors_;
  std::vector<Duration> stream_free_;
  OperationRun result_;
};

}  // namespace

OperationRun run_operations(const RankProgram& program,
                            std::span<const Operation* const> ops,
                            std::span<const Duration> durations,
                            const std::vector<bool>& blocks) {
  SW_CHECK(ops.size() == durations.size(), "one duration per operation");
  return Runner(program, ops, durations, blocks).run();
}

}  // namespace stagewright
