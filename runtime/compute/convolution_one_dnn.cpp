#include <array>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <dnnl.hpp>

#include "runtime/compute/convolution_primitives.h"
#include "runtime/compute/one_thread.h"

namespace stagewright::kernels {
namespace {

using dnnl::memory;

enum class Pass {
  kForward,
  kInputGradient,
  kWeightGradient,
};

using Key = std::tuple<Pass, bool, std::array<Index, 10>>;

Key key_of(Pass pass, bool bias, const ConvolutionShape& shape) {
  const ImageWindow& window = shape.window;
  return {pass,
          bias,
          {shape.images,
           shape.outputs,
           window.height,
           window.width,
           window.channels,
           window.kernel,
           window.stride,
           window.padding,
           window.out_height,
           window.out_width}};
}

memory::desc plain(const memory::dims& sizes, memory::format_tag tag) {
  return {sizes, memory::data_type::f32, tag};
}

/// The tensors of a convolution: images pixel by pixel, weights as rows of patches.
struct Tensors {
  memory::desc x;
  memory::desc w;  ///< as it lies in our memory
  memory::desc any_w;
  memory::desc bias;
  memory::desc y;
  memory::dims strides;
  memory::dims padding;
  memory::dims padding_behind;

  explicit Tensors(const ConvolutionShape& shape) {
    const ImageWindow& window = shape.window;
    using Tag = memory::format_tag;
    const memory::dims weights = {shape.outputs, window.channels, window.kernel, window.kernel};
    x = plain({shape.images, window.channels, window.height, window.width}, Tag::nhwc);
    w = plain(weights, Tag::ohwi);
    any_w = plain(weights, Tag::any);
    bias = plain({shape.outputs}, Tag::x);
    y = plain({shape.images, shape.outputs, window.out_height, window.out_width}, Tag::nhwc);
    strides = {window.stride, window.stride};
    padding = {window.padding, window.padding};
    // What the last window leaves of the padding is not its.
    const auto behind = [&](Index places, Index size) {
      return (places - 1) * window.stride + window.kernel - size - window.padding;
    };
    padding_behind = {behind(window.out_height, window.height),
                      behind(window.out_width, window.width)};
  }
};

constexpr auto kDirect = dnnl::algorithm::convolution_direct;

#if DNNL_VERSION_MAJOR >= 3
using ForwardDesc = dnnl::convolution_forward::primitive_desc;

ForwardDesc forward_desc(const Tensors& of, bool bias, const dnnl::engine& engine) {
  const auto kind = dnnl::prop_kind::forward_training;
  return bias ? ForwardDesc(engine,
                            kind,
                            kDirect,
                            of.x,
                            of.any_w,
                            of.bias,
                            of.y,
                            of.strides,
                            of.padding,
                            of.padding_behind)
              : ForwardDesc(engine,
                            kind,
                            kDirect,
                            of.x,
                            of.any_w,
                            of.y,
                            of.strides,
                            of.padding,
                            of.padding_behind);
}

template <class Gradient>
typename Gradient::primitive_desc gradient_desc(const Tensors& of, const dnnl::engine& engine) {
  return {engine,
          kDirect,
          of.x,
          of.any_w,
          of.y,
          of.strides,
          of.padding,
          of.padding_behind,
          forward_desc(of, false, engine)};
}
#else
using ForwardDesc = dnnl::convolution_forward::primitive_desc;

ForwardDesc forward_desc(const Tensors& of, bool bias, const dnnl::engine& engine) {
  using Desc = dnnl::convolution_forward::desc;
  const auto kind = dnnl::prop_kind::forward_training;
  const Desc desc =
      bias ? Desc(kind,
                  kDirect,
                  of.x,
                  of.any_w,
                  of.bias,
                  of.y,
                  of.strides,
                  of.padding,
                  of.padding_behind)
           : Desc(kind, kDirect, of.x, of.any_w, of.y, of.strides, of.padding, of.padding_behind);
  return {desc, engine};
}

template <class Gradient>
typename Gradient::primitive_desc gradient_desc(const Tensors& of, const dnnl::engine& engine) {
  const typename Gradient::desc desc(
      kDirect, of.x, of.any_w, of.y, of.strides, of.padding, of.padding_behind);
  return {desc, engine, forward_desc(of, false, engine)};
}
#endif

float* writable(const float* data) {
  return const_cast<float*>(data);  // oneDNN's memory objects are not const; sources are only read
}

}  // namespace

struct ConvolutionPrimitives::Prepared {
  /// A convolution with weights in the form that it likes best, and the way there or back.
  struct Entry {
    Tensors tensors;
    dnnl::primitive run{};
    dnnl::primitive arrange{};
    memory::desc weights{};
    memory arranged{};
  };

  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::map<Key, Entry> entries;

  [[nodiscard]] memory at(const memory::desc& desc, const float* data) const {
    return {desc, engine, writable(data)};
  }

  [[nodiscard]] Entry& entry(Pass pass, bool bias, const ConvolutionShape& shape) {
    const Key key = key_of(pass, bias, shape);
    auto found = entries.find(key);
    if (found == entries.end()) {
      found = entries.emplace(key, Entry{.tensors = Tensors(shape)}).first;
      prepare(found->second, pass, bias);
    }
    return found->second;
  }

  void prepare(Entry& entry, Pass pass, bool bias) {
    const Tensors& tensors = entry.tensors;
    if (pass == Pass::kForward) {
      const auto desc = forward_desc(tensors, bias, engine);
      entry.weights = desc.weights_desc();
      entry.run = dnnl::convolution_forward(desc);
    } else if (pass == Pass::kInputGradient) {
      const auto desc = gradient_desc<dnnl::convolution_backward_data>(tensors, engine);
      entry.weights = desc.weights_desc();
      entry.run = dnnl::convolution_backward_data(desc);
    } else {
      const auto desc = gradient_desc<dnnl::convolution_backward_weights>(tensors, engine);
      entry.weights = desc.diff_weights_desc();
      entry.run = dnnl::convolution_backward_weights(desc);
    }
    entry.arranged = memory(entry.weights, engine);
    if (pass == Pass::kWeightGradient) {
      dnnl::primitive_attr adds;
      dnnl::post_ops sum;
      sum.append_sum(1.0F);
      adds.set_post_ops(sum);
      entry.arrange = dnnl::reorder(
          dnnl::reorder::primitive_desc(engine, entry.weights, engine, entry.tensors.w, adds));
    } else {
      entry.arrange = dnnl::reorder(
          dnnl::reorder::primitive_desc(engine, entry.tensors.w, engine, entry.weights));
    }
  }

  /// Weights in the form that the convolution likes.
  void bring(Entry& entry, const float* weights) {
    entry.arrange.execute(
        stream, {{DNNL_ARG_FROM, at(entry.tensors.w, weights)}, {DNNL_ARG_TO, entry.arranged}});
  }
};

ConvolutionPrimitives::ConvolutionPrimitives() : prepared_(std::make_unique<Prepared>()) {}

ConvolutionPrimitives::~ConvolutionPrimitives() = default;

void ConvolutionPrimitives::forward(const ConvolutionForward& arguments) {
  const OneThread one_thread;
  Prepared& with = *prepared_;
  const bool bias = arguments.bias != nullptr;
  Prepared::Entry& entry = with.entry(Pass::kForward, bias, arguments.shape);
  const Tensors& tensors = entry.tensors;
  with.bring(entry, arguments.w);
  std::unordered_map<int, memory> operands = {{DNNL_ARG_SRC, with.at(tensors.x, arguments.x)},
                                              {DNNL_ARG_WEIGHTS, entry.arranged},
                                              {DNNL_ARG_DST, with.at(tensors.y, arguments.y)}};
  if (bias) {
    operands.emplace(DNNL_ARG_BIAS, with.at(tensors.bias, arguments.bias));
  }
  entry.run.execute(with.stream, operands);
  with.stream.wait();
}

void ConvolutionPrimitives::input_gradient(const ConvolutionInputGradient& arguments) {
  const OneThread one_thread;
  Prepared& with = *prepared_;
  Prepared::Entry& entry = with.entry(Pass::kInputGradient, false, arguments.shape);
  const Tensors& tensors = entry.tensors;
  with.bring(entry, arguments.w);
  entry.run.execute(with.stream,
                    {{DNNL_ARG_DIFF_DST, with.at(tensors.y, arguments.dy)},
                     {DNNL_ARG_WEIGHTS, entry.arranged},
                     {DNNL_ARG_DIFF_SRC, with.at(tensors.x, arguments.dx)}});
  with.stream.wait();
}

void ConvolutionPrimitives::weight_gradient(const ConvolutionWeightGradient& arguments) {
  const OneThread one_thread;
  Prepared& with = *prepared_;
  Prepared::Entry& entry = with.entry(Pass::kWeightGradient, false, arguments.shape);
  const Tensors& tensors = entry.tensors;
  entry.run.execute(with.stream,
                    {{DNNL_ARG_SRC, with.at(tensors.x, arguments.x)},
                     {DNNL_ARG_DIFF_DST, with.at(tensors.y, arguments.dy)},
                     {DNNL_ARG_DIFF_WEIGHTS, entry.arranged}});
  entry.arrange.execute(
      with.stream,
      {{DNNL_ARG_FROM, entry.arranged}, {DNNL_ARG_TO, with.at(tensors.w, arguments.dw)}});
  with.stream.wait();
}

}  // namespace stagewright::kernels
