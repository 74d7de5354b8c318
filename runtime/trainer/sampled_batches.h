#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "core/schedule/schedule.h"
#include "runtime/executor/micro_batch_source.h"
#include "runtime/trainer/token_data.h"

namespace stagewright {

/// Draws the sequences of a step from random places of the data.  Sequence g of the global batch
/// begins at a place that depends on (seed, step, g) alone, and g = (replica * micro_batches +
/// micro_batch) * micro_batch_size + position: every layout with the same global batch trains on
/// the same sequences.
class SampledBatches final : public MicroBatchSource {
 public:
  /// kInvalidInput if the data is too short for one sequence and its targets.
  [[nodiscard]] static Result<void> check(const TokenData& data, const Schedule& schedule);

  /// REQUIRES: check().  `data` must outlive it.
  SampledBatches(const TokenData& data, const Schedule& schedule, std::uint64_t seed);

  void tokens(const Place& place, std::span<std::int32_t> out) const override;
  void targets(const Place& place, std::span<std::int32_t> out) const override;

 private:
  void copy(const Place& place, std::int64_t shift, std::span<std::int32_t> out) const;
  [[nodiscard]] std::int64_t begin_of(std::int64_t step, std::int64_t global_sequence) const;

  const TokenData& data_;
  std::int64_t micro_batches_;
  std::int64_t micro_batch_size_;
  std::int64_t sequence_;
  std::int32_t sequence_parts_;
  std::uint64_t seed_;
};

}  // namespace stagewright
