#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/ids.h"
#include "core/schedule/channels.h"
#include "core/schedule/rank_program.h"
#include "sim/engine/event_steps.h"
#include "sim/engine/timing_graph.h"

namespace stagewright {

/// Who has used a tensor that communication has a part in.
struct EventTensor {
  std::optional<NodeIndex> writer;
  std::optional<StreamId> writer_stream;  ///< absent: a message
  bool seen = false;                      ///< the compute stream has waited for the writer
  std::optional<NodeIndex> compute_reader;
  std::vector<NodeIndex> other_readers;
};

/// What the walk over one rank's list carries along.
struct EventWalk {
  /// At the begin of the program's list; the program must outlive this.
  explicit EventWalk(const RankProgram& of);

  RankId rank;
  std::size_t rank_class = 0;
  const RankProgram* program = nullptr;
  EventSteps* steps = nullptr;
  std::int32_t action = 0;  ///< number over all ranks
  struct Stream {
    std::optional<NodeIndex> last;
    std::optional<NodeIndex> gate;  ///< it waited for
  };
  std::vector<Stream> streams;
  std::optional<NodeIndex> open;  ///< computation of this action that more may join
  bool issued = false;            ///< this action has a node
  std::optional<NodeIndex> gate;
  std::map<GroupSlot, std::int32_t> meetings;  ///< so many so far
  std::map<std::pair<PeerSlot, MessageKind>, NodeIndex> last_send;
  std::size_t micro_batches = 1;
  std::vector<std::size_t> first_state;  ///< by tensor
  std::vector<EventTensor> states;

  [[nodiscard]] EventTensor& state(TensorId owner, MicroBatchId micro_batch) {
    const bool persistent = program->tensors[owner.index()].scope == TensorScope::kPersistent;
    return states[first_state[owner.index()] + (persistent ? 0 : micro_batch.index())];
  }
};

}  // namespace stagewright
