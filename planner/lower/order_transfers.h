#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/schedule/pipeline_order.h"

namespace stagewright {

/// A message between two stages on different pipeline ranks.
struct Transfer {
  bool gradient = false;  ///< else an activation
  StageId from;
  StageId to;
  MicroBatchId micro_batch;
  std::int32_t sender = 0;    ///< pipeline rank
  std::int32_t receiver = 0;  ///< pipeline rank
  std::int32_t producer = 0;  ///< compute action of the sender, into PipelineOrder::ranks
  std::int32_t consumer = 0;  ///< compute action of the receiver
  std::int64_t ready = 0;     ///< predicted end of the producer
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

/// Pass: all messages of a pipeline in ONE order, ascending by the predicted end of their producers
/// in a replay where a forward costs one unit, a whole backward two, its halves and a
/// recomputation one, and messages nothing; ties are broken alike everywhere.  Lists in
/// which every rank's sends and receives stand in this order cannot deadlock, whatever the real
/// times and however few messages a link holds: the first unfinished message of all always has both
/// sides waiting for nothing else.  Fails with kInfeasible when the order itself cannot run.
[[nodiscard]] Result<std::vector<Transfer>> order_transfers(const PipelineOrder& order);

}  // namespace stagewright
