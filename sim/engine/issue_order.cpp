#include "sim/engine/issue_order.h"

#include <algorithm>

#include "core/schedule/touches.h"

namespace stagewright {

IssueOrder::IssueOrder(const RankProgram& program,
                     const std::vector<bool>& tracked,
                     TimingGraphBuilder& builder)
    : program_(program), builder_(builder) {
  for (const Action& action : program.actions) {
    micro_batches_ = std::max(micro_batches_, action.micro_batch.index() + 1);
  }
  std::size_t states = 0;
  for (std::size_t i = 0; i < program.tensors.size(); ++i) {
    first_state_.push_back(states);
    if (tracked[i]) {
      states += program.tensors[i].scope == TensorScope::kPersistent ? 1 : micro_batches_;
    }
  }
  states_.resize(states);
}

IssueOrder::TensorState& IssueOrder::state(TensorId owner, MicroBatchId micro_batch) {
  const bool persistent = program_.tensors[owner.index()].scope == TensorScope::kPersistent;
  return states_[first_state_[owner.index()] + (persistent ? 0 : micro_batch.index())];
}

void IssueOrder::wait_for(const Reference& earlier, NodeIndex node, EdgeKind kind, Duration begin) {
  if (earlier.node != node) {
    builder_.add_edge(earlier.node, node, kind, earlier.lag - begin);
  }
}

void IssueOrder::wait_before_read(NodeIndex node, const TensorState& tensor, Duration begin) {
  if (tensor.writer) {
    wait_for(*tensor.writer, node, EdgeKind::kData, begin);
  }
}

void IssueOrder::wait_before_write(NodeIndex node, const TensorState& tensor, Duration begin) {
  wait_before_read(node, tensor, begin);
  if (tensor.compute_reader) {
    wait_for(*tensor.compute_reader, node, EdgeKind::kData, begin);
  }
  for (const Reference& reader : tensor.other_readers) {
    wait_for(reader, node, EdgeKind::kData, begin);
  }
}

void IssueOrder::wait_for_streams(NodeIndex node, const Piece& piece) {
  if (piece.compute_begin) {
    if (compute_) {
      wait_for({*compute_, {}}, node, EdgeKind::kStream, *piece.compute_begin);
    }
    compute_ = node;
  }
  for (const StreamUse& use : piece.streams) {
    if (streams_.size() <= use.stream.index()) {
      streams_.resize(use.stream.index() + 1);
    }
    std::optional<StreamState>& stream = streams_[use.stream.index()];
    // Two uses that lie inside computation follow each other because computation does.
    if (stream && (stream->exposed || use.exposed)) {
      wait_for(stream->last, node, EdgeKind::kStream, use.time.begin);
    }
    stream = StreamState{{node, use.time.end - piece.duration}, use.exposed};
  }
}

void IssueOrder::add_piece(NodeIndex node, const Piece& piece, MicroBatchId micro_batch) {
  wait_for_streams(node, piece);
  for (const TensorUse& use : piece.tensors) {
    TensorState& tensor = state(use.tensor, micro_batch);
    if (use.read) {
      wait_before_read(node, tensor, use.read->begin);
    }
    if (use.written) {
      wait_before_write(node, tensor, use.written->begin);
      tensor = {.writer = Reference{node, use.written->end - piece.duration},
                .compute_reader = {},
                .other_readers = {}};
    }
    if (use.read) {
      const Reference reader{node, use.read->end - piece.duration};
      if (piece.compute_begin) {
        tensor.compute_reader = reader;
      } else {
        tensor.other_readers.push_back(reader);
      }
    }
  }
}

void IssueOrder::add_send(NodeIndex transfer, const Action& action) {
  for (const TensorId moved : moved_tensors(program_, action)) {
    TensorState& tensor = state(memory_owner(program_, moved), action.micro_batch);
    wait_before_read(transfer, tensor, {});
    tensor.other_readers.push_back({transfer, {}});
  }
}

void IssueOrder::add_receive(NodeIndex transfer, const Action& action) {
  for (const TensorId moved : moved_tensors(program_, action)) {
    TensorState& tensor = state(memory_owner(program_, moved), action.micro_batch);
    wait_before_write(transfer, tensor, {});
    tensor = {.writer = Reference{transfer, {}}, .compute_reader = {}, .other_readers = {}};
  }
}

}  // namespace stagewright
