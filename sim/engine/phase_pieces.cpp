#include "sim/engine/phase_pieces.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/schedule/touches.h"
#include "sim/cost/operation_run.h"

namespace stagewright {
namespace {

bool overlap(const std::vector<TensorId>& a, const std::vector<TensorId>& b) {
  return std::ranges::find_first_of(a, b) != a.end();
}

/// The tensors of an operation by whoever owns their memory.
struct Operands {
  std::vector<TensorId> read;
  std::vector<TensorId> written;
};

Operands operands_of(const RankProgram& program, const Operation& op) {
  Operands operands;
  for (const TensorId tensor : op.inputs) {
    operands.read.push_back(memory_owner(program, tensor));
  }
  for (const TensorId tensor : op.outputs) {
    operands.written.push_back(memory_owner(program, tensor));
  }
  return operands;
}

void widen(std::optional<Stretch>& stretch, const Stretch& by) {
  if (!stretch) {
    stretch = by;
  } else {
    stretch->begin = std::min(stretch->begin, by.begin);
    stretch->end = std::max(stretch->end, by.end);
  }
}

class Cutter {
 public:
  Cutter(const RankProgram& program,
         const ActionOperations& selection,
         const PieceCuts& cuts,
         const RankPlace& place)
      : program_(program), selection_(selection), cuts_(cuts), place_(place) {
    for (const TensorId tensor : cuts.arriving) {
      arriving_.push_back(memory_owner(program, tensor));
    }
  }

  [[nodiscard]] PhasePieces run(const PricedOperations& priced) && {
    for (const PricedOperation& op : priced.ops) {
      result_.by_source[op.source] += op.duration;
      place(op);
    }
    close();
    keep_whole();
    return std::move(result_);
  }

 private:
  /// A collective that was cut out, with nobody waiting for it yet.
  struct Pending {
    const Operation* op = nullptr;
    Operands operands;
  };

  [[nodiscard]] const Operation& operation(const PricedOperation& priced) const {
    return selection_.ops[static_cast<std::size_t>(priced.op)];
  }

  void place(const PricedOperation& priced) {
    const Operation& op = operation(priced);
    const Operands operands = operands_of(program_, op);
    const bool arrives = forget_arriving(operands);
    if (cut_out(op)) {
      // It follows the open piece, which operations still to come may join, as long as they do not
      // wait for it.
      pending_.push_back({&op, operands});
      cut_out_.push_back(priced);
      if (priced.blocks) {
        close();
      }
      return;
    }
    if (forget_pending(op, operands) || arrives) {
      close();
    }
    open_.push_back(priced);
  }

  [[nodiscard]] bool cut_out(const Operation& op) const {
    return is_collective(op) &&
           (cuts_.every_collective || (op.group && cuts_.meets[op.group->index()]));
  }

  /// Whether the operation waits for a pending collective; those are not pending any more.
  bool forget_pending(const Operation& op, const Operands& operands) {
    const auto conflicts = [&](const Pending& pending) {
      return pending.op->stream == op.stream || overlap(operands.read, pending.operands.written) ||
             overlap(operands.written, pending.operands.written) ||
             overlap(operands.written, pending.operands.read);
    };
    return std::erase_if(pending_, conflicts) > 0;
  }

  bool forget_arriving(const Operands& operands) {
    const auto used = [&](TensorId tensor) {
      return std::ranges::find(operands.read, tensor) != operands.read.end();
    };
    return std::erase_if(arriving_, used) > 0;
  }

  /// Ends the open piece; the collectives that were cut out since it began follow it.
  void close() {
    if (!open_.empty()) {
      result_.pieces.push_back(make_piece(std::exchange(open_, {})));
    }
    for (const PricedOperation& priced : std::exchange(cut_out_, {})) {
      Piece piece = make_piece({priced});
      const std::optional<GroupSlot>& group = operation(priced).group;
      if (group && cuts_.meets[group->index()]) {
        piece.meeting = group;
      }
      result_.pieces.push_back(std::move(piece));
    }
  }

  /// Widens the uses by the ends of the pass.
  void keep_whole() {
    if (result_.pieces.empty()) {
      return;
    }
    if (cuts_.whole.awaited) {
      widen(use_of(result_.pieces.front(), *cuts_.whole.awaited).read, {});
    }
    if (cuts_.whole.sent) {
      Piece& last = result_.pieces.back();
      widen(use_of(last, *cuts_.whole.sent).written, {last.duration, last.duration});
    }
  }

  [[nodiscard]] TensorUse& use_of(Piece& piece, TensorId tensor) const {
    const TensorId owner = memory_owner(program_, tensor);
    const auto found = std::ranges::find(piece.tensors, owner, &TensorUse::tensor);
    return found != piece.tensors.end() ? *found
                                        : piece.tensors.emplace_back(TensorUse{owner, {}, {}});
  }

  [[nodiscard]] Piece make_piece(std::vector<PricedOperation> ops) const {
    Piece piece;
    std::vector<const Operation*> operations;
    std::vector<Duration> durations;
    std::vector<bool> blocks;
    for (const PricedOperation& priced : ops) {
      operations.push_back(&operation(priced));
      durations.push_back(priced.duration);
      blocks.push_back(priced.blocks);
    }
    const OperationRun run = run_operations(program_, operations, durations, blocks);
    piece.duration = run.computes ? run.compute_end : run.end;
    if (run.computes) {
      piece.compute_begin = run.compute_begin;
    }
    for (std::size_t i = 0; i < ops.size(); ++i) {
      ops[i].start = run.start[i];
    }
    for (const OperationRun::Wait& wait : run.waits) {
      if (const auto group = operations[wait.collective]->group) {
        CollectiveWait named{place_.group_kinds[group->index()], wait.time};
        if (wait.op == wait.collective || run.start[wait.op] > run.compute_begin) {
          piece.waits.push_back(std::move(named));
        } else {
          piece.leading = std::move(named);
        }
      }
    }
    piece.ops = std::move(ops);
    add_uses(operations, piece);
    return piece;
  }

  void add_uses(const std::vector<const Operation*>& operations, Piece& piece) const {
    std::map<TensorId, TensorUse> uses;
    std::map<StreamId, std::optional<Stretch>> streams;
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const Stretch time{piece.ops[i].start, piece.ops[i].start + piece.ops[i].duration};
      const Operands operands = operands_of(program_, *operations[i]);
      for (const TensorId tensor : operands.read) {
        widen(uses[tensor].read, time);
      }
      for (const TensorId tensor : operands.written) {
        widen(uses[tensor].written, time);
      }
      if (operations[i]->stream != kComputeStream) {
        widen(streams[operations[i]->stream], time);
      }
    }
    for (auto& [tensor, use] : uses) {
      use.tensor = tensor;
      piece.tensors.push_back(use);
    }
    for (const auto& [stream, time] : streams) {
      const bool exposed =
          !piece.compute_begin || time->begin < *piece.compute_begin || time->end > piece.duration;
      piece.streams.push_back({stream, *time, exposed});
    }
  }

  const RankProgram& program_;
  const ActionOperations& selection_;
  const PieceCuts& cuts_;
  const RankPlace& place_;
  std::vector<TensorId> arriving_;
  std::vector<Pending> pending_;
  std::vector<PricedOperation> open_;
  std::vector<PricedOperation> cut_out_;  ///< since the open piece began
  PhasePieces result_;
};

/// Whether an operation runs while the piece does not compute, or beside no computation at all.
bool exposed(const Piece& piece, const PricedOperation& op) {
  return !piece.compute_begin || op.start < *piece.compute_begin ||
         op.start + op.duration > piece.duration;
}

}  // namespace

PhasePieces cut_into_pieces(const RankProgram& program,
                            const ActionOperations& selection,
                            const PricedOperations& priced,
                            const PieceCuts& cuts,
                            const RankPlace& place) {
  return Cutter(program, selection, cuts, place).run(priced);
}

void mark_exposed_tensors(const RankProgram& program,
                          const ActionOperations& selection,
                          const Piece& piece,
                          std::vector<bool>& marked) {
  for (const PricedOperation& priced : piece.ops) {
    const Operation& op = selection.ops[static_cast<std::size_t>(priced.op)];
    if (op.stream == kComputeStream || !exposed(piece, priced)) {
      continue;
    }
    const Operands operands = operands_of(program, op);
    for (const TensorId tensor : operands.read) {
      marked[tensor.index()] = true;
    }
    for (const TensorId tensor : operands.written) {
      marked[tensor.index()] = true;
    }
  }
}

void keep_marked(Piece& piece, const std::vector<bool>& marked) {
  std::erase_if(piece.tensors, [&](const TensorUse& use) { return !marked[use.tensor.index()]; });
}

}  // namespace stagewright
