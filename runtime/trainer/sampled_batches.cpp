#include "runtime/trainer/sampled_batches.h"

#include <fmt/format.h>

#include "core/base/check.h"
#include "runtime/compute/kernels/random.h"
#include "runtime/compute/kernels/token_places.h"

namespace stagewright {

Result<void> SampledBatches::check(const TokenData& data, const Schedule& schedule) {
  if (data.size() <= schedule.sequence) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{} tokens are too few: a sequence of {} and its targets need {}; give "
                            "more data or plan shorter sequences",
                            data.size(),
                            schedule.sequence,
                            schedule.sequence + 1),
                data.name);
  }
  return {};
}

SampledBatches::SampledBatches(const TokenData& data, const Schedule& schedule, std::uint64_t seed)
    : data_(data),
      micro_batches_(schedule.micro_batches),
      micro_batch_size_(schedule.micro_batch_size),
      sequence_(schedule.sequence),
      sequence_parts_(schedule.sequence_parts),
      seed_(seed) {}

std::int64_t SampledBatches::begin_of(std::int64_t step, std::int64_t global_sequence) const {
  const kernels::PhiloxWords words = kernels::philox(
      static_cast<std::uint64_t>(global_sequence), static_cast<std::uint64_t>(step), seed_);
  const std::uint64_t drawn = std::uint64_t{words.word[0]} << 32U | words.word[1];
  return static_cast<std::int64_t>(drawn % static_cast<std::uint64_t>(data_.size() - sequence_));
}

void SampledBatches::copy(const Place& place,
                          std::int64_t shift,
                          std::span<std::int32_t> out) const {
  const kernels::TokenPlaces places{
      .tokens = sequence_ / sequence_parts_, .part = place.sequence_part, .parts = sequence_parts_};
  SW_CHECK(static_cast<std::int64_t>(out.size()) == micro_batch_size_ * places.tokens,
           "room for the rank's part of a micro-batch");
  const std::int64_t first =
      (place.replica * micro_batches_ + place.micro_batch.value()) * micro_batch_size_;
  for (std::int64_t s = 0; s < micro_batch_size_; ++s) {
    const std::int64_t begin = begin_of(place.step, first + s) + shift;
    for (std::int64_t i = 0; i < places.tokens; ++i) {
      out[static_cast<std::size_t>(s * places.tokens + i)] =
          static_cast<std::int32_t>(data_[begin + places.place(i)]);
    }
  }
}

void SampledBatches::tokens(const Place& place, std::span<std::int32_t> out) const {
  copy(place, 0, out);
}

void SampledBatches::targets(const Place& place, std::span<std::int32_t> out) const {
  copy(place, 1, out);
}

}  // namespace stagewright
