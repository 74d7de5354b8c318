#include "runtime/compute/convolution.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/gradient_check.h"

namespace stagewright::kernels {
namespace {

struct Case {
  Index images, height, width, channels, outputs, kernel, stride, padding;

  [[nodiscard]] ConvolutionShape shape() const {
    const auto places = [&](Index size) { return (size + 2 * padding - kernel) / stride + 1; };
    return {.window = {.height = height,
                       .width = width,
                       .channels = channels,
                       .kernel = kernel,
                       .stride = stride,
                       .padding = padding,
                       .out_height = places(height),
                       .out_width = places(width)},
            .images = images,
            .outputs = outputs};
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("{} images of {} x {} x {} to {}, kernel {}, stride {}, padding {}",
                       images,
                       height,
                       width,
                       channels,
                       outputs,
                       kernel,
                       stride,
                       padding);
  }
};

// Uneven ones, a stride that leaves a rest, kernels of one and of all pixels, many blocks of rows.
const std::vector<Case> kCases = {{2, 5, 7, 3, 4, 3, 1, 1},
                                  {3, 9, 8, 2, 5, 3, 2, 0},
                                  {2, 11, 11, 3, 8, 5, 4, 2},
                                  {4, 6, 6, 8, 6, 1, 1, 0},
                                  {2, 7, 5, 4, 3, 1, 2, 0},
                                  {3, 4, 4, 16, 8, 4, 1, 0},
                                  {2, 40, 40, 32, 4, 3, 1, 1}};

/// Calls `visit(output row, input element, weight)` for each product of an output row's channel.
template <class Visit>
void for_each_tap(const ConvolutionShape& shape, const Visit& visit) {
  const ImageWindow& w = shape.window;
  for (Index n = 0; n < shape.images; ++n) {
    for (Index pixel = 0; pixel < w.out_pixels(); ++pixel) {
      for (Index tap = 0; tap < w.kernel * w.kernel; ++tap) {
        const Index row = pixel / w.out_width * w.stride - w.padding + tap / w.kernel;
        const Index col = pixel % w.out_width * w.stride - w.padding + tap % w.kernel;
        if (row < 0 || row >= w.height || col < 0 || col >= w.width) {
          continue;
        }
        for (Index c = 0; c < w.channels; ++c) {
          visit(n * w.out_pixels() + pixel,
                ((n * w.height + row) * w.width + col) * w.channels + c,
                tap * w.channels + c);
        }
      }
    }
  }
}

struct Tensors {
  ConvolutionShape shape;
  Floats x, w, bias, dy;

  Tensors(const ConvolutionShape& of, RandomInputs& random)
      : shape(of),
        x(random.normal(of.images * of.window.in_elements())),
        w(random.normal(of.outputs * of.window.patch())),
        bias(random.normal(of.outputs)),
        dy(random.normal(of.rows() * of.outputs)) {}

  [[nodiscard]] Doubles forward(const Doubles& images, const Doubles& weights) const {
    Doubles y(dy.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = static_cast<double>(bias[i % static_cast<std::size_t>(shape.outputs)]);
    }
    for_each_tap(shape, [&](Index row, Index element, Index weight) {
      for (Index k = 0; k < shape.outputs; ++k) {
        y[static_cast<std::size_t>(row * shape.outputs + k)] +=
            images[static_cast<std::size_t>(element)] *
            weights[static_cast<std::size_t>(k * shape.window.patch() + weight)];
      }
    });
    return y;
  }
};

struct Form {
  ConvolutionForm form;
  GemmLibrary library;
};
const std::vector<Form> kForms = {{ConvolutionForm::kOneDnn, GemmLibrary::kOneDnn},
                                  {ConvolutionForm::kPatches, GemmLibrary::kOneDnn},
                                  {ConvolutionForm::kPatches, GemmLibrary::kEigen}};

template <class Body>
void for_each_case(const Body& body) {
  for (const Form& form : kForms) {
    for (const Case& each : kCases) {
      RandomInputs random(17);
      SCOPED_TRACE(
          fmt::format("{}, {}: {}", name_of(form.form), name_of(form.library), each.text()));
      Convolutions convolutions(form.form, form.library);
      body(convolutions, Tensors(each.shape(), random), random);
    }
  }
}

Floats run_forward(Convolutions& on, const Tensors& t, const Floats& x, const Floats& w) {
  Floats y(t.dy.size(), -1.0F);
  on.forward(
      {.shape = t.shape, .x = x.data(), .w = w.data(), .bias = t.bias.data(), .y = y.data()});
  return y;
}

TEST(Convolution, ForwardIsTheSumOverTheWindow) {
  for_each_case([](Convolutions& on, const Tensors& t, RandomInputs&) {
    expect_near(run_forward(on, t, t.x, t.w), t.forward(to_double(t.x), to_double(t.w)), 1e-5);
  });
}

TEST(Convolution, InputGradientIsTheDerivative) {
  for_each_case([](Convolutions& on, const Tensors& t, RandomInputs& random) {
    Floats dx(t.x.size(), 7.0F);
    on.input_gradient({.shape = t.shape, .dy = t.dy.data(), .w = t.w.data(), .dx = dx.data()});
    const Doubles w = to_double(t.w);
    expect_gradient(
        t.x,
        dx,
        {.kernel = [&](const Floats& x) { return dot(run_forward(on, t, x, t.w), t.dy); },
         .reference = [&](const Doubles& x) { return dot(t.forward(x, w), t.dy); }},
        random);
  });
}

TEST(Convolution, WeightGradientIsTheDerivativeAndIsAdded) {
  for_each_case([](Convolutions& on, const Tensors& t, RandomInputs& random) {
    const Floats before = random.normal(static_cast<std::int64_t>(t.w.size()));
    Floats dw = before;
    Floats dbias(t.bias.size(), 1.0F);
    on.weight_gradient({.shape = t.shape,
                        .dy = t.dy.data(),
                        .x = t.x.data(),
                        .dw = dw.data(),
                        .dbias = dbias.data()});
    for (std::size_t i = 0; i < dw.size(); ++i) {
      dw[i] -= before[i];
    }
    const Doubles x = to_double(t.x);
    expect_gradient(
        t.w,
        dw,
        {.kernel = [&](const Floats& w) { return dot(run_forward(on, t, t.x, w), t.dy); },
         .reference = [&](const Doubles& w) { return dot(t.forward(x, w), t.dy); }},
        random);
    Doubles sums(t.bias.size(), 1.0);
    for (std::size_t i = 0; i < t.dy.size(); ++i) {
      sums[i % sums.size()] += static_cast<double>(t.dy[i]);
    }
    expect_near(dbias, sums, 1e-5);
  });
}

// What a device keeps from one shape does not disturb the next.
TEST(Convolution, ShapesMayAlternate) {
  for (const Form& form : kForms) {
    Convolutions on(form.form, form.library);
    RandomInputs random(3);
    const Tensors first(kCases[0].shape(), random);
    const Tensors second(kCases[2].shape(), random);
    const Floats once = run_forward(on, first, first.x, first.w);
    (void)run_forward(on, second, second.x, second.w);
    EXPECT_EQ(run_forward(on, first, first.x, first.w), once);
  }
}

}  // namespace
}  // namespace stagewright::kernels
