#include "runtime/compute/cpu_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stagewright {

#define STAGEWRIGHT_RUN_KERNEL(name, type)                                   \
  void CpuKernels::name(const kernels::type& kernel, kernels::Index count) { \
    kernels::name(kernel, count);                                            \
  }
STAGEWRIGHT_LAUNCHED_KERNELS(STAGEWRIGHT_RUN_KERNEL)
#undef STAGEWRIGHT_RUN_KERNEL

void CpuKernels::gemm(const kernels::Gemm& product) {
  kernels::gemm(product);
}

void CpuKernels::attention_forward(const kernels::AttentionForward& arguments) {
  kernels::attention_forward(arguments);
}

void CpuKernels::attention_backward(const kernels::AttentionBackward& arguments) {
  kernels::attention_backward(arguments);
}

void CpuKernels::embedding_forward(const kernels::EmbeddingForward<std::uint16_t>& kernel,
                                   kernels::Index tokens) {
  kernels::embedding_forward(kernel, tokens);
}

void CpuKernels::embedding_gradient(const kernels::EmbeddingTableGradient& arguments,
                                    kernels::Index tokens) {
  kernels::embedding_gradient(arguments, tokens);
}

void CpuKernels::layer_norm_parameter_gradient(const kernels::LayerNormParameterGradient& arguments,
                                               kernels::Index rows) {
  kernels::layer_norm_parameter_gradient(arguments, rows);
}

void CpuKernels::position_gradient(const kernels::PositionGradient<float>& kernel) {
  kernels::position_gradient(kernel);
}

void CpuKernels::rope_forward(const kernels::Rope& arguments, kernels::Index tokens) {
  kernels::rope_forward(arguments, tokens);
}

void CpuKernels::rope_backward(const kernels::Rope& arguments, kernels::Index tokens) {
  kernels::rope_backward(arguments, tokens);
}

void CpuKernels::convert(const kernels::ToBFloat16& kernel, kernels::Index count) {
  kernels::convert(kernel, count);
}

void CpuKernels::convert(const kernels::FromBFloat16& kernel, kernels::Index count) {
  kernels::convert(kernel, count);
}

void CpuKernels::convert(const kernels::ToFloat16& kernel, kernels::Index count) {
  kernels::convert(kernel, count);
}

void CpuKernels::convert(const kernels::FromFloat16& kernel, kernels::Index count) {
  kernels::convert(kernel, count);
}

void CpuKernels::copy(void* to, const void* from, Bytes bytes) {
  std::copy_n(static_cast<const std::byte*>(from), bytes.count(), static_cast<std::byte*>(to));
}

void CpuKernels::add_loss(const kernels::CrossEntropyLoss& arguments,
                          kernels::Index rows,
                          double scale,
                          float* total) {
  *total += static_cast<float>(kernels::cross_entropy_loss(arguments, rows) * scale);
}

void CpuKernels::add_loss(const kernels::SquaredErrorLoss& arguments,
                          kernels::Index rows,
                          double scale,
                          float* total) {
  *total += static_cast<float>(kernels::squared_error_loss(arguments, rows) * scale);
}

void CpuKernels::add_squares(const float* x, kernels::Index count, double scale, float* total) {
  *total += static_cast<float>(scale * kernels::sum_of_squares(x, count));
}

bool CpuKernels::begin_update(const UpdateScale& scale) {
  gradient_scale_ = scale.unscale;
  if (scale.totals == nullptr) {
    return true;
  }
  if (!std::isfinite(scale.totals[0]) || !std::isfinite(scale.totals[1])) {
    return false;
  }
  if (scale.clip_norm) {
    const double norm = std::sqrt(static_cast<double>(scale.totals[0]));
    gradient_scale_ *= kernels::clip_scale(norm, *scale.clip_norm);
  }
  return true;
}

void CpuKernels::adamw(const kernels::AdamW& arguments, kernels::Index count) {
  kernels::AdamW scaled = arguments;
  scaled.gradient_scale = gradient_scale_;
  kernels::adamw(scaled, count);
}

void CpuKernels::sgd(const kernels::Sgd& arguments, kernels::Index count) {
  kernels::Sgd scaled = arguments;
  scaled.gradient_scale = gradient_scale_;
  kernels::sgd(scaled, count);
}

const std::int32_t* CpuKernels::on_host(const std::int32_t* values, kernels::Index /*count*/) {
  return values;
}

float* CpuKernels::wide_buffer(std::size_t number, kernels::Index elements) {
  if (wide_.size() <= number) {
    wide_.resize(number + 1);
  }
  std::vector<float>& buffer = wide_[number];
  if (static_cast<kernels::Index>(buffer.size()) < elements) {
    buffer.resize(static_cast<std::size_t>(elements));
  }
  return buffer.data();
}

}  // namespace stagewright
