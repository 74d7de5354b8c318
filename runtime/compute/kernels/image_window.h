#pragma once

#include "runtime/compute/kernels/portable.h"

namespace stagewright::kernels {

/// Square windows over images as OpWindow says them.
struct ImageWindow {
  Index height;
  Index width;
  Index channels;
  Index kernel;
  Index stride;
  Index padding;
  Index out_height;
  Index out_width;

  [[nodiscard]] SW_HOST_DEVICE Index in_elements() const { return height * width * channels; }
  [[nodiscard]] SW_HOST_DEVICE Index out_pixels() const { return out_height * out_width; }
  [[nodiscard]] SW_HOST_DEVICE Index patch() const { return kernel * kernel * channels; }
};

/// The part of a window along one side that lies inside the image: rows (or columns) `first` to
/// `end` of the window, the first of which is `at` in the image.
struct WindowPart {
  Index first;
  Index end;
  Index at;
};
[[nodiscard]] SW_HOST_DEVICE WindowPart inside(const ImageWindow& window, Index place, Index size) {
  const Index begin = place * window.stride - window.padding;
  const Index first = begin < 0 ? -begin : 0;
  const Index end = begin + window.kernel > size ? size - begin : window.kernel;
  return {first, end, begin + first};
}

/// What of an output pixel's window lies inside the image: `rows` x `cols` pixels, the first of
/// which is `begin` elements into the image.
struct WindowInside {
  Index begin;
  Index rows;
  Index cols;
};
[[nodiscard]] SW_HOST_DEVICE WindowInside inside(const ImageWindow& window, Index pixel) {
  const WindowPart rows = inside(window, pixel / window.out_width, window.height);
  const WindowPart cols = inside(window, pixel % window.out_width, window.width);
  return {(rows.at * window.width + cols.at) * window.channels,
          rows.end - rows.first,
          cols.end - cols.first};
}

}  // namespace stagewright::kernels
