#pragma once

#include <memory>

#include "runtime/compute/convolution.h"

namespace stagewright::kernels {

/// oneDNN's convolutions, prepared once a shape; internal to Convolutions.
class ConvolutionPrimitives {
 public:
  ConvolutionPrimitives();
  ConvolutionPrimitives(const ConvolutionPrimitives&) = delete;
  ConvolutionPrimitives& operator=(const ConvolutionPrimitives&) = delete;
  ~ConvolutionPrimitives();

  void forward(const ConvolutionForward& arguments);
  void input_gradient(const ConvolutionInputGradient& arguments);
  /// Of the weights alone.
  void weight_gradient(const ConvolutionWeightGradient& arguments);

 private:
  struct Prepared;
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace stagewright::kernels
