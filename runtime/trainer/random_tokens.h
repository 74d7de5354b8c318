#pragma once

#include <cstdint>
#include <span>

#include "runtime/executor/micro_batch_source.h"

namespace stagewright {

/// Tokens drawn at random, the same for a replica's micro-batch in every step: for measurements,
/// where what is timed does not depend on them.
class RandomTokens final : public MicroBatchSource {
 public:
  RandomTokens(std::int64_t vocabulary, std::uint64_t seed)
      : vocabulary_(static_cast<std::uint32_t>(vocabulary)), seed_(seed) {}

  void tokens(const Place& place, std::span<std::int32_t> out) const override;
  void targets(const Place& place, std::span<std::int32_t> out) const override;

 private:
  void draw(const Place& place, std::size_t shift, std::span<std::int32_t> out) const;

  std::uint32_t vocabulary_;
  std::uint64_t seed_;
};

}  // namespace stagewright
