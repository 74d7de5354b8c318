#pragma once

#include <cstdint>

#include "runtime/compute/kernels/image_window.h"

/// Row kernels of images, one image a row, and what makes images of their pixels.  Images lie as
/// OpKind::kConvolution says.
namespace stagewright::kernels {

/// y = the largest element of each window and channel; one that is no number stays.
template <class T>
struct MaximumPool {
  const T* x;
  T* y;
  ImageWindow window;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const Index line = window.width * window.channels;
    for (Index pixel = 0; pixel < window.out_pixels(); ++pixel) {
      const WindowInside part = inside(window, pixel);
      const T* in = x + row * window.in_elements() + part.begin;
      T* out = y + (row * window.out_pixels() + pixel) * window.channels;
      team.each(window.channels, [=, *this](Index c) {
        auto largest = static_cast<float>(in[c]);
        for (Index r = 0; r < part.rows; ++r) {
          for (Index s = 0; s < part.cols; ++s) {
            const auto value = static_cast<float>(in[r * line + s * window.channels + c]);
            largest = value > largest || value != value ? value : largest;
          }
        }
        out[c] = static_cast<T>(largest);
      });
    }
  }
};

/// dx: the sum of what the windows give of which the element is the first of the largest.
template <class T>
struct MaximumPoolGradient {
  const T* dy;
  const T* x;
  T* dx;
  ImageWindow window;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const Index line = window.width * window.channels;
    const Index image = row * window.in_elements();
    T* all = dx + image;
    team.each(window.in_elements(), [=](Index i) { all[i] = static_cast<T>(0.0F); });
    team.sync();
    for (Index pixel = 0; pixel < window.out_pixels(); ++pixel) {
      const WindowInside part = inside(window, pixel);
      const Index begin = image + part.begin;
      const T* in = x + begin;
      T* out = dx + begin;
      const T* gradient = dy + (row * window.out_pixels() + pixel) * window.channels;
      // A member of the team has the same channels at every pixel.
      team.each(window.channels, [=, *this](Index c) {
        auto largest = static_cast<float>(in[c]);
        Index at = c;
        for (Index r = 0; r < part.rows; ++r) {
          for (Index s = 0; s < part.cols; ++s) {
            const Index place = r * line + s * window.channels + c;
            const auto value = static_cast<float>(in[place]);
            const bool better = value > largest;
            largest = better ? value : largest;
            at = better ? place : at;
          }
        }
        out[at] = static_cast<T>(static_cast<float>(out[at]) + static_cast<float>(gradient[c]));
      });
    }
  }
};

/// y = the sum over each window divided by kernel^2.
template <class T>
struct AveragePool {
  const T* x;
  T* y;
  ImageWindow window;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const Index line = window.width * window.channels;
    const float share = 1.0F / static_cast<float>(window.kernel * window.kernel);
    for (Index pixel = 0; pixel < window.out_pixels(); ++pixel) {
      const WindowInside part = inside(window, pixel);
      const T* in = x + row * window.in_elements() + part.begin;
      T* out = y + (row * window.out_pixels() + pixel) * window.channels;
      team.each(window.channels, [=, *this](Index c) {
        float sum = 0.0F;
        for (Index r = 0; r < part.rows; ++r) {
          for (Index s = 0; s < part.cols; ++s) {
            sum += static_cast<float>(in[r * line + s * window.channels + c]);
          }
        }
        out[c] = static_cast<T>(sum * share);
      });
    }
  }
};

template <class T>
struct AveragePoolGradient {
  const T* dy;
  T* dx;
  ImageWindow window;
  template <class Team>
  SW_HOST_DEVICE void operator()(const Team& team, Index row) const {
    const Index line = window.width * window.channels;
    const float share = 1.0F / static_cast<float>(window.kernel * window.kernel);
    T* all = dx + row * window.in_elements();
    team.each(window.in_elements(), [=](Index i) { all[i] = static_cast<T>(0.0F); });
    team.sync();
    for (Index pixel = 0; pixel < window.out_pixels(); ++pixel) {
      const WindowInside part = inside(window, pixel);
      T* out = all + part.begin;
      const T* gradient = dy + (row * window.out_pixels() + pixel) * window.channels;
      team.each(window.channels, [=, *this](Index c) {
        const float given = static_cast<float>(gradient[c]) * share;
        for (Index r = 0; r < part.rows; ++r) {
          for (Index s = 0; s < part.cols; ++s) {
            const Index place = r * line + s * window.channels + c;
            out[place] = static_cast<T>(static_cast<float>(out[place]) + given);
          }
        }
      });
    }
  }
};

/// y[i] = pixel[i] / 127.5 - 1: 0 .. 255 become -1 .. 1.
template <class T>
struct ScalePixels {
  const std::int32_t* pixels;
  T* y;
  SW_HOST_DEVICE void operator()(Index i) const {
    y[i] = static_cast<T>(static_cast<float>(pixels[i]) * (1.0F / 127.5F) - 1.0F);
  }
};

void maximum_pool(const MaximumPool<float>& kernel, Index images);
void maximum_pool_gradient(const MaximumPoolGradient<float>& kernel, Index images);
void average_pool(const AveragePool<float>& kernel, Index images);
void average_pool_gradient(const AveragePoolGradient<float>& kernel, Index images);
void scale_pixels(const ScalePixels<float>& kernel, Index count);

}  // namespace stagewright::kernels
