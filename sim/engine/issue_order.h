#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/schedule/rank_program.h"
#include "sim/engine/phase_pieces.h"
#include "sim/engine/timing_graph.h"

namespace stagewright {

/// The order inside one rank: hands out the edges of each node, in issue order, to the nodes before
/// it whose stream it shares or whose tensors it touches (rules 2 and 3 of
/// core/schedule/semantics.h).
class IssueOrder {
 public:
  /// Both must outlive this.
  IssueOrder(const RankProgram& program,
            const std::vector<bool>& tracked,
            TimingGraphBuilder& builder);

  void add_piece(NodeIndex node, const Piece& piece, MicroBatchId micro_batch);
  /// A message out of, or into, the border tensors of `action`.
  void add_send(NodeIndex transfer, const Action& action);
  void add_receive(NodeIndex transfer, const Action& action);

 private:
  /// A node and how long after its end something of it was done.
  struct Reference {
    NodeIndex node = 0;
    Duration lag{};
  };
  struct TensorState {
    std::optional<Reference> writer;
    std::optional<Reference> compute_reader;  ///< the last: those before it were done earlier
    std::vector<Reference> other_readers;
  };
  struct StreamState {
    Reference last;
    bool exposed = false;
  };

  [[nodiscard]] TensorState& state(TensorId owner, MicroBatchId micro_batch);
  void wait_for(const Reference& earlier, NodeIndex node, EdgeKind kind, Duration begin);
  void wait_for_streams(NodeIndex node, const Piece& piece);
  void wait_before_read(NodeIndex node, const TensorState& tensor, Duration begin);
  void wait_before_write(NodeIndex node, const TensorState& tensor, Duration begin);

  const RankProgram& program_;
  TimingGraphBuilder& builder_;
  std::size_t micro_batches_ = 1;
  std::vector<std::size_t> first_state_;  ///< by tensor, of tracked ones
  std::vector<TensorState> states_;
  std::optional<NodeIndex> compute_;
  std::vector<std::optional<StreamState>> streams_;
};

}  // namespace stagewright
