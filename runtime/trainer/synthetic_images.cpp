#include "runtime/trainer/synthetic_images.h"

#include <algorithm>

#include "core/base/check.h"
#include "runtime/compute/kernels/random.h"

namespace stagewright {

namespace {

// Streams of random words that must not meet those of another kind.
constexpr std::uint64_t kClasses = 0x636c6173;
constexpr std::uint64_t kPatterns = 0x70617474;
constexpr std::uint64_t kNoise = 0x6e6f6973;

constexpr std::int64_t kWords = 4;  ///< of one draw

[[nodiscard]] std::uint64_t stream_of(std::int64_t step, std::int64_t image) {
  return static_cast<std::uint64_t>(step) << 32U ^ static_cast<std::uint64_t>(image);
}

[[nodiscard]] std::int32_t pixel_of(std::uint32_t word) {
  return static_cast<std::int32_t>(word >> 24U);
}

}  // namespace

SyntheticImages::SyntheticImages(const Sizes& sizes, const Schedule& schedule, std::uint64_t seed)
    : sizes_(sizes),
      micro_batches_(schedule.micro_batches),
      micro_batch_size_(schedule.micro_batch_size),
      seed_(seed) {}

std::int64_t SyntheticImages::first_image(const Place& place) const {
  return (place.replica * micro_batches_ + place.micro_batch.value()) * micro_batch_size_;
}

std::int32_t SyntheticImages::class_of(std::int64_t step, std::int64_t image) const {
  const kernels::PhiloxWords words = kernels::philox(0, stream_of(step, image), seed_ ^ kClasses);
  return static_cast<std::int32_t>(words.word[0] % static_cast<std::uint64_t>(sizes_.classes));
}

void SyntheticImages::tokens(const Place& place, std::span<std::int32_t> out) const {
  SW_CHECK(static_cast<std::int64_t>(out.size()) == micro_batch_size_ * sizes_.elements,
           "room for the images of a micro-batch");
  const std::int64_t first = first_image(place);
  for (std::int64_t s = 0; s < micro_batch_size_; ++s) {
    const auto pattern = static_cast<std::uint64_t>(class_of(place.step, first + s));
    const std::uint64_t noise = stream_of(place.step, first + s);
    for (std::int64_t i = 0; i < sizes_.elements; i += kWords) {
      const auto counter = static_cast<std::uint64_t>(i / kWords);
      const kernels::PhiloxWords base = kernels::philox(counter, pattern, seed_ ^ kPatterns);
      const kernels::PhiloxWords added = kernels::philox(counter, noise, seed_ ^ kNoise);
      for (std::int64_t word = 0; word < std::min(kWords, sizes_.elements - i); ++word) {
        out[static_cast<std::size_t>(s * sizes_.elements + i + word)] =
            (pixel_of(base.word[word]) + pixel_of(added.word[word])) / 2;
      }
    }
  }
}

void SyntheticImages::targets(const Place& place, std::span<std::int32_t> out) const {
  const std::int64_t first = first_image(place);
  for (std::size_t s = 0; s < out.size(); ++s) {
    out[s] = class_of(place.step, first + static_cast<std::int64_t>(s));
  }
}

std::optional<std::int64_t> image_elements_of(const Schedule& schedule) {
  for (const RankProgram& program : schedule.programs) {
    for (const StageProgram& stage : program.stages) {
      const auto found = std::ranges::find(stage.forward, OpKind::kImage, &Operation::kind);
      if (found != stage.forward.end()) {
        return found->shape.cols;
      }
    }
  }
  return std::nullopt;
}

}  // namespace stagewright
