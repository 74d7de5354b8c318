#pragma once

#include <cstddef>
#include <vector>

#include "runtime/compute/operation_kernels.h"

namespace stagewright {

/// On the calling thread; each call has happened when it returns.
class CpuKernels final : public OperationKernels {
 public:
#define STAGEWRIGHT_DECLARE_KERNEL(name, type) \
  void name(const kernels::type& kernel, kernels::Index count) override;
  STAGEWRIGHT_LAUNCHED_KERNELS(STAGEWRIGHT_DECLARE_KERNEL)
#undef STAGEWRIGHT_DECLARE_KERNEL

  void gemm(const kernels::Gemm& product) override;
  void attention_forward(const kernels::AttentionForward& arguments) override;
  void attention_backward(const kernels::AttentionBackward& arguments) override;
  void embedding_forward(const kernels::EmbeddingForward<std::uint16_t>& kernel,
                         kernels::Index tokens) override;
  void embedding_gradient(const kernels::EmbeddingTableGradient& arguments,
                          kernels::Index tokens) override;
  void layer_norm_parameter_gradient(const kernels::LayerNormParameterGradient& arguments,
                                     kernels::Index rows) override;
  void position_gradient(const kernels::PositionGradient<float>& kernel) override;
  void rope_forward(const kernels::Rope& arguments, kernels::Index tokens) override;
  void rope_backward(const kernels::Rope& arguments, kernels::Index tokens) override;
  void convert(const kernels::ToBFloat16& kernel, kernels::Index count) override;
  void convert(const kernels::FromBFloat16& kernel, kernels::Index count) override;
  void convert(const kernels::ToFloat16& kernel, kernels::Index count) override;
  void convert(const kernels::FromFloat16& kernel, kernels::Index count) override;
  void copy(void* to, const void* from, Bytes bytes) override;
  void add_loss(const kernels::CrossEntropyLoss& arguments,
                kernels::Index rows,
                double scale,
                float* total) override;
  void add_loss(const kernels::SquaredErrorLoss& arguments,
                kernels::Index rows,
                double scale,
                float* total) override;
  void add_squares(const float* x, kernels::Index count, double scale, float* total) override;
  [[nodiscard]] bool begin_update(const UpdateScale& scale) override;
  void adamw(const kernels::AdamW& arguments, kernels::Index count) override;
  void sgd(const kernels::Sgd& arguments, kernels::Index count) override;
  [[nodiscard]] const std::int32_t* on_host(const std::int32_t* values,
                                            kernels::Index count) override;
  [[nodiscard]] float* wide_buffer(std::size_t number, kernels::Index elements) override;

 private:
  double gradient_scale_ = 1;
  std::vector<std::vector<float>> wide_;
};

}  // namespace stagewright
