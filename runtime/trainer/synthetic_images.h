#pragma once

#include <cstdint>
#include <optional>

#include "core/schedule/schedule.h"
#include "runtime/executor/micro_batch_source.h"

namespace stagewright {

/// Images of noise over a pattern of their class, so that classes can be learnt.  An image is a
/// function of (seed, step, g), with g its place in the global batch as SampledBatches counts
/// sequences: every layout with the same global batch trains on the same images.
class SyntheticImages final : public MicroBatchSource {
 public:
  struct Sizes {
    std::int64_t elements = 0;  ///< of an image
    std::int64_t classes = 0;
  };

  SyntheticImages(const Sizes& sizes, const Schedule& schedule, std::uint64_t seed);

  /// Pixels, 0 .. 255, of one image after the other.
  void tokens(const Place& place, std::span<std::int32_t> out) const override;
  /// The class of each image.
  void targets(const Place& place, std::span<std::int32_t> out) const override;

 private:
  [[nodiscard]] std::int64_t first_image(const Place& place) const;
  [[nodiscard]] std::int32_t class_of(std::int64_t step, std::int64_t image) const;

  Sizes sizes_;
  std::int64_t micro_batches_;
  std::int64_t micro_batch_size_;
  std::uint64_t seed_;
};

/// Elements of the images that a schedule trains on; absent where it sees tokens.
[[nodiscard]] std::optional<std::int64_t> image_elements_of(const Schedule& schedule);

}  // namespace stagewright
