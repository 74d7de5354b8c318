#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/schedule/schedule.h"

namespace stagewright {

/// Sizes of a toy schedule.
struct ToyOptions {
  std::int32_t replicas = 1;  ///< copies of the whole pipeline; reductions run between them
  std::int64_t rows = 4;      ///< tokens of a micro-batch
  std::int64_t width = 8;     ///< of every activation
};

/// A schedule from one line of action tokens per pipeline rank, as to_string(Action) writes them:
///
///   toy_schedule({"0F0 0SEND_F0 0RECV_B0 0B0",
///                 "1RECV_F0 1F0 1B0 1SEND_B0"});
///
/// A stage is one matrix: forward y = x w; backward dx = dy w^T (input half) and dw += x^T dy
/// (weight half), on the compute stream, with Operation::layer = stage.  Stage 0 reads a persistent
/// x, the last stage a persistent dy, so that nothing needs to be loaded; "0LOAD0" and "0R0" work.
/// Neighbouring stages on one rank share a tensor.  The b-th stage of a rank has bucket b
/// ("REDUCE0" on stream 1 over the replicas); "STEP" is SGD.  Peers follow from who runs what; a
/// message that nobody else takes part in goes to the rank itself.  Stages and micro-batches are
/// counted from the tokens.  Equal ranks of replicas share a program.  Nothing is validated.
/// REQUIRES: known tokens.
[[nodiscard]] Schedule toy_schedule(const std::vector<std::string>& ranks,
                                    const ToyOptions& options = {});

/// The lists of a schedule of `stages` ranks with `micro_batches` each: 1F1B with blocking sends
/// and receives around each action.
[[nodiscard]] std::vector<std::string> toy_1f1b(std::int32_t stages, std::int32_t micro_batches);

}  // namespace stagewright
