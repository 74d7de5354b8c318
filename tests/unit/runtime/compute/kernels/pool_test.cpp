#include "runtime/compute/kernels/pool.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "gradient_check.h"

namespace stagewright::kernels {
namespace {

constexpr Index kImages = 2;

ImageWindow window_of(Index height, Index width, Index kernel, Index stride, Index padding) {
  const auto places = [&](Index size) { return (size + 2 * padding - kernel) / stride + 1; };
  return {.height = height,
          .width = width,
          .channels = 5,
          .kernel = kernel,
          .stride = stride,
          .padding = padding,
          .out_height = places(height),
          .out_width = places(width)};
}

// Side by side, overlapping, with a rest and with padding.
const std::vector<ImageWindow> kWindows = {window_of(6, 4, 2, 2, 0),
                                           window_of(7, 6, 3, 2, 0),
                                           window_of(5, 8, 3, 2, 1),
                                           window_of(4, 4, 4, 4, 0),
                                           window_of(5, 5, 2, 3, 1)};

/// By output pixel and channel: the elements of its window inside the image.
template <class Visit>
void for_each_window(const ImageWindow& w, const Visit& visit) {
  for (Index n = 0; n < kImages; ++n) {
    for (Index pixel = 0; pixel < w.out_pixels(); ++pixel) {
      for (Index c = 0; c < w.channels; ++c) {
        std::vector<std::size_t> elements;
        for (Index tap = 0; tap < w.kernel * w.kernel; ++tap) {
          const Index row = pixel / w.out_width * w.stride - w.padding + tap / w.kernel;
          const Index col = pixel % w.out_width * w.stride - w.padding + tap % w.kernel;
          if (row >= 0 && row < w.height && col >= 0 && col < w.width) {
            elements.push_back(
                static_cast<std::size_t>(((n * w.height + row) * w.width + col) * w.channels + c));
          }
        }
        visit(static_cast<std::size_t>((n * w.out_pixels() + pixel) * w.channels + c), elements);
      }
    }
  }
}

Doubles averages(const ImageWindow& w, const Doubles& x) {
  Doubles y(static_cast<std::size_t>(kImages * w.out_pixels() * w.channels));
  for_each_window(w, [&](std::size_t out, const std::vector<std::size_t>& elements) {
    for (const std::size_t element : elements) {
      y[out] += x[element] / static_cast<double>(w.kernel * w.kernel);
    }
  });
  return y;
}

Doubles maxima(const ImageWindow& w, const Doubles& x) {
  Doubles y(static_cast<std::size_t>(kImages * w.out_pixels() * w.channels),
            -std::numeric_limits<double>::infinity());
  for_each_window(w, [&](std::size_t out, const std::vector<std::size_t>& elements) {
    for (const std::size_t element : elements) {
      y[out] = std::max(y[out], x[element]);
    }
  });
  return y;
}

/// Numbers so far apart that no step of a difference changes which one is the largest.
Floats far_apart(Index count, RandomInputs& random) {
  Floats x = random.normal(count, 1e-3F);
  const std::vector<std::int32_t> places = random.integers(count, 0, 1'000'000);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] += static_cast<float>(places[i] % 1009) + static_cast<float>(i % 7) / 8;
  }
  return x;
}

TEST(Pool, AverageDividesByTheWholeWindow) {
  for (const ImageWindow& window : kWindows) {
    RandomInputs random(5);
    const Floats x = random.normal(kImages * window.in_elements());
    Floats y(averages(window, to_double(x)).size());
    average_pool({.x = x.data(), .y = y.data(), .window = window}, kImages);
    expect_near(y, averages(window, to_double(x)), 1e-6);
    const Floats dy = random.normal(static_cast<std::int64_t>(y.size()));
    Floats dx(x.size(), 9.0F);
    average_pool_gradient({.dy = dy.data(), .dx = dx.data(), .window = window}, kImages);
    const auto kernel = [&](const Floats& in) {
      Floats out(y.size());
      average_pool({.x = in.data(), .y = out.data(), .window = window}, kImages);
      return dot(out, dy);
    };
    expect_gradient(x,
                    dx,
                    {.kernel = kernel,
                     .reference = [&](const Doubles& in) { return dot(averages(window, in), dy); }},
                    random);
  }
}

TEST(Pool, MaximumIsOfWhatLiesInside) {
  for (const ImageWindow& window : kWindows) {
    RandomInputs random(6);
    Floats x = random.normal(kImages * window.in_elements());
    for (float& value : x) {
      value -= 10.0F;  // padding would win if it counted
    }
    Floats y(maxima(window, to_double(x)).size());
    maximum_pool({.x = x.data(), .y = y.data(), .window = window}, kImages);
    expect_near(y, maxima(window, to_double(x)), 0);
  }
}

// Each output's gradient goes to the first of its window's largest elements, and adds up there.
TEST(Pool, MaximumGradientGoesToTheFirstOfTheLargest) {
  for (const ImageWindow& window : kWindows) {
    RandomInputs random(7);
    const Index count = kImages * window.in_elements();
    const std::vector<std::int32_t> drawn = random.integers(count, 0, 3);  // many equal ones
    const Floats x(drawn.begin(), drawn.end());
    const Floats dy = random.normal(kImages * window.out_pixels() * window.channels);
    Floats dx(x.size(), 9.0F);
    maximum_pool_gradient({.dy = dy.data(), .x = x.data(), .dx = dx.data(), .window = window},
                          kImages);
    Doubles expected(x.size());
    for_each_window(window, [&](std::size_t out, const std::vector<std::size_t>& elements) {
      std::size_t largest = elements.front();
      for (const std::size_t element : elements) {
        largest = x[element] > x[largest] ? element : largest;
      }
      expected[largest] += static_cast<double>(dy[out]);
    });
    expect_near(dx, expected, 1e-6);
  }
}

TEST(Pool, MaximumGradientIsTheDerivative) {
  for (const ImageWindow& window : kWindows) {
    RandomInputs random(8);
    const Floats x = far_apart(kImages * window.in_elements(), random);
    const Floats dy = random.normal(kImages * window.out_pixels() * window.channels);
    Floats dx(x.size());
    maximum_pool_gradient({.dy = dy.data(), .x = x.data(), .dx = dx.data(), .window = window},
                          kImages);
    Doubles moved = to_double(x);
    const Floats direction = random.normal(static_cast<std::int64_t>(x.size()));
    constexpr double kStep = 1e-6;
    double difference = 0;
    for (const double sign : {1.0, -1.0}) {
      for (std::size_t i = 0; i < moved.size(); ++i) {
        moved[i] = static_cast<double>(x[i]) + sign * kStep * static_cast<double>(direction[i]);
      }
      difference += sign * dot(maxima(window, moved), dy);
    }
    EXPECT_NEAR(difference / (2 * kStep), dot(dx, direction), 1e-3);
  }
}

TEST(Pool, WhatIsNoNumberStays) {
  const ImageWindow window = window_of(2, 2, 2, 2, 0);
  for (std::size_t place = 0; place < 4; ++place) {
    Floats x(2 * 2 * 2 * 5, 1.0F);
    x[place * 5] = std::numeric_limits<float>::quiet_NaN();
    Floats y(2 * 5);
    maximum_pool({.x = x.data(), .y = y.data(), .window = window}, kImages);
    EXPECT_NE(y[0], y[0]) << place;
    EXPECT_EQ(y[1], 1.0F);
  }
}

TEST(Image, PixelsBecomeNumbersFromMinusOneToOne) {
  const std::vector<std::int32_t> pixels = {0, 51, 255};
  Floats y(3);
  scale_pixels({.pixels = pixels.data(), .y = y.data()}, 3);
  expect_near(y, {-1, -0.6, 1}, 1e-6);
}

}  // namespace
}  // namespace stagewright::kernels
