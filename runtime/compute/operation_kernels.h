#pragma once

#include <cstddef>
#include <optional>

#include "core/base/units.h"
#include "runtime/compute/attention.h"
#include "runtime/compute/gemm.h"
#include "runtime/compute/kernels/device_kernels.h"

namespace stagewright {

/// What an update multiplies its gradients with.
struct UpdateScale {
  double unscale = 1;             ///< takes a loss scale out
  const float* totals = nullptr;  ///< squared global norm and loss; null: known to be numbers
  std::optional<double> clip_norm;
};

/// The kernels from which operations are made, on fp32 operands of one device.  Calls follow each
/// other in order; whether they have happened on return, the device says.  They throw BackendError
/// or, on the CPU, what the libraries throw.
class OperationKernels {
 public:
  OperationKernels() = default;
  OperationKernels(const OperationKernels&) = delete;
  OperationKernels& operator=(const OperationKernels&) = delete;
  virtual ~OperationKernels() = default;

#define STAGEWRIGHT_DECLARE_KERNEL(name, type) \
  virtual void name(const kernels::type& kernel, kernels::Index count) = 0;
  STAGEWRIGHT_LAUNCHED_KERNELS(STAGEWRIGHT_DECLARE_KERNEL)
#undef STAGEWRIGHT_DECLARE_KERNEL

  virtual void gemm(const kernels::Gemm& product) = 0;
  virtual void attention_forward(const kernels::AttentionForward& arguments) = 0;
  virtual void attention_backward(const kernels::AttentionBackward& arguments) = 0;
  virtual void embedding_forward(const kernels::EmbeddingForward<std::uint16_t>& kernel,
                                 kernels::Index tokens) = 0;
  virtual void embedding_gradient(const kernels::EmbeddingTableGradient& arguments,
                                  kernels::Index tokens) = 0;
  virtual void layer_norm_parameter_gradient(const kernels::LayerNormParameterGradient& arguments,
                                             kernels::Index rows) = 0;
  virtual void position_gradient(const kernels::PositionGradient<float>& kernel) = 0;
  virtual void rope_forward(const kernels::Rope& arguments, kernels::Index tokens) = 0;
  virtual void rope_backward(const kernels::Rope& arguments, kernels::Index tokens) = 0;

  virtual void convert(const kernels::ToBFloat16& kernel, kernels::Index count) = 0;
  virtual void convert(const kernels::FromBFloat16& kernel, kernels::Index count) = 0;
  virtual void convert(const kernels::ToFloat16& kernel, kernels::Index count) = 0;
  virtual void convert(const kernels::FromFloat16& kernel, kernels::Index count) = 0;
  virtual void copy(void* to, const void* from, Bytes bytes) = 0;

  /// *total += scale * the loss of the rows.
  virtual void add_loss(const kernels::CrossEntropyLoss& arguments,
                        kernels::Index rows,
                        double scale,
                        float* total) = 0;
  virtual void add_loss(const kernels::SquaredErrorLoss& arguments,
                        kernels::Index rows,
                        double scale,
                        float* total) = 0;
  /// *total += scale * the sum of x[i]^2.
  virtual void add_squares(const float* x, kernels::Index count, double scale, float* total) = 0;

  /// What the next updates take instead of their gradient_scale.  False where it is known already
  /// that there must be no update, since the totals are no numbers; the updates may also find out
  /// themselves, and then change nothing.
  [[nodiscard]] virtual bool begin_update(const UpdateScale& scale) = 0;
  virtual void adamw(const kernels::AdamW& arguments, kernels::Index count) = 0;
  virtual void sgd(const kernels::Sgd& arguments, kernels::Index count) = 0;

  /// Integers that earlier calls wrote, for the host to read until the next call of this.
  [[nodiscard]] virtual const std::int32_t* on_host(const std::int32_t* values,
                                                    kernels::Index count) = 0;

  /// Memory for the fp32 copy of one of an operation's operands.  The content stays until the next
  /// call with the same number.
  [[nodiscard]] virtual float* wide_buffer(std::size_t number, kernels::Index elements) = 0;
};

}  // namespace stagewright
