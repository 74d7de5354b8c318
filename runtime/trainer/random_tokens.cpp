#include "runtime/trainer/random_tokens.h"

#include "runtime/compute/kernels/random.h"

namespace stagewright {

void RandomTokens::tokens(const Place& place, std::span<std::int32_t> out) const {
  draw(place, 0, out);
}

void RandomTokens::targets(const Place& place, std::span<std::int32_t> out) const {
  draw(place, 1, out);
}

void RandomTokens::draw(const Place& place,
                        std::size_t shift,
                        std::span<std::int32_t> out) const {
  const auto stream = static_cast<std::uint64_t>(place.replica) << 32U |
                      static_cast<std::uint64_t>(place.micro_batch.value());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const kernels::PhiloxWords words = kernels::philox(i + shift, stream, seed_);
    out[i] = static_cast<std::int32_t>(words.word[0] % vocabulary_);
  }
}

}  // namespace stagewright
