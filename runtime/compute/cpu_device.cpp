#include "runtime/compute/cpu_device.h"

#include <cstring>
#include <exception>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/dtype.h"
#include "runtime/backend_error.h"
#include "runtime/compute/attention.h"
#include "runtime/compute/gemm.h"
#include "runtime/compute/kernels/activations.h"
#include "runtime/compute/kernels/bias.h"
#include "runtime/compute/kernels/convert.h"
#include "runtime/compute/kernels/element_wise.h"
#include "runtime/compute/kernels/embedding.h"
#include "runtime/compute/kernels/layer_norm.h"
#include "runtime/compute/kernels/random.h"
#include "runtime/compute/kernels/rms_norm.h"
#include "runtime/compute/kernels/rope.h"
#include "runtime/compute/loss_operations.h"
#include "runtime/compute/narrow_gemm.h"
#include "runtime/compute/operands.h"
#include "runtime/compute/optimizer_updates.h"
#include "runtime/compute/widened_operands.h"

namespace stagewright {

namespace {

void run_gemm(const Operands& with) {
  const OpShape& shape = with.shape();
  const auto form = [](bool transposed) {
    return transposed ? kernels::Operand::kTransposed : kernels::Operand::kPlain;
  };
  const bool ta = with.op().transpose_a;
  const bool tb = with.op().transpose_b;
  kernels::gemm({.m = shape.rows,
                 .n = shape.cols,
                 .k = shape.inner,
                 .a = {with.in(0), ta ? shape.rows : shape.inner, form(ta)},
                 .b = {with.in(1), tb ? shape.inner : shape.cols, form(tb)},
                 .c = with.out(0),
                 .c_stride = shape.cols,
                 .accumulate = with.op().accumulate,
                 .bias = with.in(2)});
}

void run_norm_forward(const Operands& with) {
  const std::int64_t rows = with.shape().rows;
  const std::int64_t width = with.shape().cols;
  const auto epsilon = static_cast<float>(with.op().scalar);
  if (with.op().variant == OpVariant::kRmsNorm) {
    kernels::rms_norm_forward({.x = with.in(0),
                               .gamma = with.in(1),
                               .y = with.out(0),
                               .rstd = with.out(1),
                               .width = width,
                               .epsilon = epsilon},
                              rows);
    return;
  }
  kernels::layer_norm_forward({.x = with.in(0),
                               .gamma = with.in(1),
                               .beta = with.in(2),
                               .y = with.out(0),
                               .mean = with.out(1),
                               .rstd = with.out(1) + rows,
                               .width = width,
                               .epsilon = epsilon},
                              rows);
}

void run_norm_input_gradient(const Operands& with) {
  const std::int64_t rows = with.shape().rows;
  const std::int64_t width = with.shape().cols;
  if (with.op().variant == OpVariant::kRmsNorm) {
    kernels::rms_norm_input_gradient({.x = with.in(1),
                                      .gamma = with.in(2),
                                      .rstd = with.in(3),
                                      .dy = with.in(0),
                                      .residual = nullptr,
                                      .dx = with.out(0),
                                      .width = width},
                                     rows);
    return;
  }
  kernels::layer_norm_input_gradient({.x = with.in(1),
                                      .gamma = with.in(2),
                                      .mean = with.in(3),
                                      .rstd = with.in(3) + rows,
                                      .dy = with.in(0),
                                      .residual = nullptr,
                                      .dx = with.out(0),
                                      .width = width},
                                     rows);
}

void run_norm_parameter_gradient(const Operands& with) {
  const std::int64_t rows = with.shape().rows;
  const std::int64_t width = with.shape().cols;
  if (with.op().variant == OpVariant::kRmsNorm) {
    kernels::rms_norm_parameter_gradient({.x = with.in(1),
                                          .rstd = with.in(2),
                                          .dy = with.in(0),
                                          .dgamma = with.out(0),
                                          .width = width},
                                         rows);
    return;
  }
  kernels::layer_norm_parameter_gradient({.x = with.in(1),
                                          .mean = with.in(2),
                                          .rstd = with.in(2) + rows,
                                          .dy = with.in(0),
                                          .dgamma = with.out(0),
                                          .dbeta = with.out(1),
                                          .width = width},
                                         rows);
}

[[nodiscard]] kernels::Rope rope_of(const Operands& with) {
  const OpShape& shape = with.shape();
  return {.qkv = with.out(0),
          .heads = shape.heads,
          .kv_heads = shape.kv_heads,
          .head_dim = shape.head_dim,
          .sequence = shape.sequence,
          .theta = with.op().scalar};
}

[[nodiscard]] kernels::AttentionShape attention_shape(const Operands& with) {
  const OpShape& shape = with.shape();
  return {.batch = shape.batch,
          .sequence = shape.sequence,
          .heads = shape.heads,
          .kv_heads = shape.kv_heads,
          .head_dim = shape.head_dim,
          .causal = with.op().causal};
}

void run_activation_forward(const Operands& with) {
  if (with.op().variant == OpVariant::kSwiGlu) {
    kernels::swiglu_forward({.x = with.in(0), .y = with.out(0), .width = with.shape().cols},
                            with.shape().rows);
  } else if (with.op().variant == OpVariant::kRelu) {
    kernels::relu_forward({.x = with.in(0), .y = with.out(0)}, with.elements());
  } else {
    kernels::gelu_forward({.x = with.in(0), .y = with.out(0)}, with.elements());
  }
}

void run_activation_backward(const Operands& with) {
  if (with.op().variant == OpVariant::kSwiGlu) {
    kernels::swiglu_backward(
        {.x = with.in(1), .dy = with.in(0), .dx = with.out(0), .width = with.shape().cols},
        with.shape().rows);
  } else if (with.op().variant == OpVariant::kRelu) {
    kernels::relu_backward({.x = with.in(1), .dy = with.in(0), .dx = with.out(0)}, with.elements());
  } else {
    kernels::gelu_backward({.x = with.in(1), .dy = with.in(0), .dx = with.out(0)}, with.elements());
  }
}

void run_add(const Operands& with) {
  if (with.in(2) == nullptr) {
    kernels::add({.a = with.in(0), .b = with.in(1), .y = with.out(0)}, with.elements());
    return;
  }
  kernels::add_bias_residual({.x = with.in(0),
                              .bias = with.in(2),
                              .residual = with.in(1),
                              .y = with.out(0),
                              .width = with.shape().cols},
                             with.shape().rows);
}

void run_dropout(const Operands& with, const UpdateStep& step) {
  const OpShape& shape = with.shape();
  const float* x = with.in(0);
  if (const float* bias = with.in(1)) {
    kernels::add_bias({.x = x, .bias = bias, .y = with.out(0), .width = shape.cols}, shape.rows);
    x = with.out(0);
  }
  kernels::dropout(
      {.x = x,
       .y = with.out(0),
       .width = shape.cols,
       .slice = {.first_row = with.first_token() + with.slice_begin(), .global_width = shape.cols},
       .probability = static_cast<float>(with.op().scalar),
       .seed = kernels::seed_of_step(step.seed, step.number),
       .stream = static_cast<std::uint64_t>(with.op().index)},
      shape.rows);
}

void run_column_sum(const Operands& with) {
  kernels::column_sum({.x = with.in(0), .sum = with.out(0), .width = with.shape().cols},
                      with.shape().rows);
}

void run_attention_forward(const Operands& with) {
  kernels::attention_forward({.shape = attention_shape(with),
                              .qkv = with.in(0),
                              .output = with.out(0),
                              .log_sum_exp = with.out(1),
                              .workspace = with.out(2)});
}

void run_attention_backward(const Operands& with) {
  kernels::attention_backward({.shape = attention_shape(with),
                               .qkv = with.in(1),
                               .output = with.in(2),
                               .log_sum_exp = with.in(3),
                               .doutput = with.in(0),
                               .dqkv = with.out(0),
                               .workspace = with.out(1)});
}

void run_embedding_forward(const Operands& with) {
  kernels::embedding_forward({.tokens = with.tokens(0),
                              .table = with.in(1),
                              .y = with.out(0),
                              .width = with.shape().cols,
                              .vocab_begin = with.slice_begin(),
                              .vocab_rows = with.slice_size(with.shape().inner)},
                             with.shape().rows);
}

/// Moves rows of 16-bit elements as they are.
void run_narrow_embedding(const Operands& with) {
  kernels::embedding_forward({.tokens = with.tokens(0),
                              .table = with.in<std::uint16_t>(1),
                              .y = with.out<std::uint16_t>(0),
                              .width = with.shape().cols,
                              .vocab_begin = with.slice_begin(),
                              .vocab_rows = with.slice_size(with.shape().inner)},
                             with.shape().rows);
}

void run_embedding_gradient(const Operands& with) {
  kernels::embedding_gradient({.tokens = with.tokens(0),
                               .dy = with.in(1),
                               .dtable = with.out(0),
                               .width = with.shape().cols,
                               .vocab_begin = with.slice_begin(),
                               .vocab_rows = with.slice_size(with.shape().inner)},
                              with.shape().rows);
}

void run_position_forward(const Operands& with) {
  kernels::position_forward({.x = with.in(0),
                             .positions = with.in(1),
                             .y = with.out(0),
                             .width = with.shape().cols,
                             .sequence = with.shape().sequence,
                             .first_row = with.slice_begin()},
                            with.shape().rows);
}

void run_position_gradient(const Operands& with) {
  const OpShape& shape = with.shape();
  kernels::position_gradient({.dy = with.in(0),
                              .dpositions = with.out(0),
                              .rows = shape.rows,
                              .width = shape.cols,
                              .sequence = shape.sequence,
                              .first_row = with.slice_begin()});
}

void run_fill(const Operands& with) {
  kernels::fill({.y = with.out(0), .value = static_cast<float>(with.op().scalar)}, with.elements());
}

/// Whether there is a kernel from one type to the other.
[[nodiscard]] bool converts(DType from, DType to) {
  return (from == DType::kFloat32 && is_narrow(to)) || (is_narrow(from) && to == DType::kFloat32);
}

void run_conversion(const Operands& with, DType from, DType to) {
  const auto* narrow = with.in<std::uint16_t>(0);
  auto* narrowed = with.out<std::uint16_t>(0);
  if (to == DType::kBFloat16) {
    kernels::convert(kernels::ToBFloat16{with.in(0), narrowed}, with.elements());
  } else if (to == DType::kFloat16) {
    kernels::convert(kernels::ToFloat16{with.in(0), narrowed}, with.elements());
  } else if (from == DType::kBFloat16) {
    kernels::convert(kernels::FromBFloat16{narrow, with.out(0)}, with.elements());
  } else {
    kernels::convert(kernels::FromFloat16{narrow, with.out(0)}, with.elements());
  }
}

void run_copy(const Operands& with) {
  const DType type = with.op().dtype;
  if (with.op().source && *with.op().source != type) {
    run_conversion(with, *with.op().source, type);
    return;
  }
  const std::int64_t bytes = with.elements() * size_of(type).count();
  std::memcpy(with.out(0), with.in(0), static_cast<std::size_t>(bytes));
}

void run(const Operands& with, const UpdateStep& step) {
  switch (with.op().kind) {
    case OpKind::kGemm:
      return run_gemm(with);
    case OpKind::kColumnSum:
      return run_column_sum(with);
    case OpKind::kNormForward:
      return run_norm_forward(with);
    case OpKind::kNormInputGradient:
      return run_norm_input_gradient(with);
    case OpKind::kNormParameterGradient:
      return run_norm_parameter_gradient(with);
    case OpKind::kRopeForward:
      return kernels::rope_forward(rope_of(with), with.shape().rows);
    case OpKind::kRopeBackward:
      return kernels::rope_backward(rope_of(with), with.shape().rows);
    case OpKind::kAttentionForward:
      return run_attention_forward(with);
    case OpKind::kAttentionBackward:
      return run_attention_backward(with);
    case OpKind::kActivationForward:
      return run_activation_forward(with);
    case OpKind::kActivationBackward:
      return run_activation_backward(with);
    case OpKind::kAdd:
      return run_add(with);
    case OpKind::kDropout:
      return run_dropout(with, step);
    case OpKind::kEmbeddingForward:
      return run_embedding_forward(with);
    case OpKind::kEmbeddingGradient:
      return run_embedding_gradient(with);
    case OpKind::kPositionForward:
      return run_position_forward(with);
    case OpKind::kPositionGradient:
      return run_position_gradient(with);
    case OpKind::kLossRowMax:
    case OpKind::kLossRowSum:
    case OpKind::kLossFinish:
    case OpKind::kLossGradient:
      return run_loss(with, step);
    case OpKind::kFill:
      return run_fill(with);
    case OpKind::kCopy:
      return run_copy(with);
    case OpKind::kSquaredSum:
    case OpKind::kSgdStep:
    case OpKind::kAdamWStep:
      return run_optimizer(with, step);
    case OpKind::kAllReduce:
    case OpKind::kAllGather:
    case OpKind::kReduceScatter:
    case OpKind::kBroadcast:
    case OpKind::kAllToAll:
      break;
  }
  SW_CHECK(false, "collectives are posted to a communicator");
}

class CpuDevice final : public ComputeDevice {
 public:
  [[nodiscard]] std::string_view name() const override { return "cpu"; }

  [[nodiscard]] Result<void> check(const Operation& operation) const override {
    if (operation.kind == OpKind::kCopy && operation.source &&
        converts(*operation.source, operation.dtype)) {
      return {};
    }
    if (operation.dtype == DType::kFloat8) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{} in {} cannot run on the CPU; plan with bf16, fp16 or fp32",
                              name_of(operation.kind),
                              name_of(operation.dtype)));
    }
    return {};
  }

  void execute(const BoundOperation& bound, const UpdateStep& step) override {
    try {
      if (bound.operation->kind == OpKind::kCopy || !WidenedOperands::needed(bound)) {
        run(Operands(bound), step);
      } else if (bound.operation->kind == OpKind::kEmbeddingForward) {
        run_narrow_embedding(Operands(bound));
      } else if (bound.operation->kind != OpKind::kGemm || !narrow_gemm_.run(bound)) {
        const BoundOperation widened = widened_.widen(bound);
        run(Operands(widened), step);
        widened_.narrow();
      }
    } catch (const std::exception& problem) {
      throw BackendError(
          {ErrorCode::kBackendFailed,
           fmt::format("{} failed on the CPU: {}", name_of(bound.operation->kind), problem.what()),
           {}});
    }
  }

 private:
  WidenedOperands widened_;
  NarrowGemm narrow_gemm_;
};

}  // namespace

std::unique_ptr<ComputeDevice> make_cpu_device() {
  return std::make_unique<CpuDevice>();
}

}  // namespace stagewright
