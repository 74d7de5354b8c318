#include "sim/engine/event_walk.h"

#include <algorithm>

namespace stagewright {

EventWalk::EventWalk(const RankProgram& of) : program(&of) {
  for (const Action& each : of.actions) {
    micro_batches = std::max(micro_batches, each.micro_batch.index() + 1);
  }
  std::size_t count = 0;
  for (const TensorSpec& tensor : of.tensors) {
    first_state.push_back(count);
    count += tensor.scope == TensorScope::kPersistent ? 1 : micro_batches;
  }
  states.resize(count);
}

}  // namespace stagewright
