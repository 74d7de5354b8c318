#pragma once

#include <cstdint>
#include <span>

#include "core/base/ids.h"

namespace stagewright {

/// Where training data comes from.  A micro-batch is named by step, replica and number, so that
/// all ranks that load it get the same.  Called by all ranks at once.
class MicroBatchSource {
 public:
  MicroBatchSource() = default;
  MicroBatchSource(const MicroBatchSource&) = delete;
  MicroBatchSource& operator=(const MicroBatchSource&) = delete;
  virtual ~MicroBatchSource() = default;

  struct Place {
    std::int64_t step = 0;  ///< from 0
    std::int32_t replica = 0;
    MicroBatchId micro_batch;
    std::int32_t sequence_part = 0;
  };
  /// Fills the tokens of that part of the micro-batch's sequences, one after the other.
  virtual void tokens(const Place& place, std::span<std::int32_t> out) const = 0;
  /// Fills the token that follows each of them (negative: does not count).
  virtual void targets(const Place& place, std::span<std::int32_t> out) const = 0;
};

}  // namespace stagewright
