#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/compute/gemm.h"
#include "runtime/compute/kernels/image_window.h"

/// Convolutions on the CPU, single-threaded: every rank is one thread.
namespace stagewright::kernels {

struct ConvolutionShape {
  ImageWindow window;
  Index images;
  Index outputs;  ///< channels that come out

  [[nodiscard]] Index rows() const { return images * window.out_pixels(); }
};

/// y(rows, outputs) = windows of x times w(outputs, patch)^T + bias.
struct ConvolutionForward {
  ConvolutionShape shape;
  const float* x;
  const float* w;
  const float* bias;  ///< may be null
  float* y;
};

/// dx from dy(rows, outputs).
struct ConvolutionInputGradient {
  ConvolutionShape shape;
  const float* dy;
  const float* w;
  float* dx;
};

/// dw += and dbias += what dy and x give.
struct ConvolutionWeightGradient {
  ConvolutionShape shape;
  const float* dy;
  const float* x;
  float* dw;
  float* dbias;  ///< may be null
};

/// What computes a convolution: oneDNN's own primitive, or products of windows that are laid out as
/// rows of a matrix, some at a time.
enum class ConvolutionForm {
  kOneDnn,
  kPatches,
};
inline constexpr std::array kConvolutionForms = {ConvolutionForm::kOneDnn,
                                                 ConvolutionForm::kPatches};
std::string_view name_of(ConvolutionForm form);

class ConvolutionPrimitives;

/// Keeps what the shapes that it has seen need: a few prepared primitives, one block of rows.  Not
/// for several threads at once.
class Convolutions {
 public:
  explicit Convolutions(ConvolutionForm form = ConvolutionForm::kOneDnn,
                        GemmLibrary library = GemmLibrary::kOneDnn);
  Convolutions(const Convolutions&) = delete;
  Convolutions& operator=(const Convolutions&) = delete;
  ~Convolutions();

  void forward(const ConvolutionForward& arguments);
  void input_gradient(const ConvolutionInputGradient& arguments);
  void weight_gradient(const ConvolutionWeightGradient& arguments);

 private:
  [[nodiscard]] float* block(Index rows, Index columns);

  GemmLibrary library_;
  std::unique_ptr<ConvolutionPrimitives> primitives_;  ///< null: patches
  std::vector<float> block_;
};

}  // namespace stagewright::kernels
