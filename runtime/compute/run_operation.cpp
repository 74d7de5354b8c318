#include "runtime/compute/run_operation.h"

#include "core/base/check.h"
#include "runtime/compute/activation_operations.h"
#include "runtime/compute/loss_operations.h"
#include "runtime/compute/optimizer_updates.h"
#include "runtime/compute/widened_operands.h"

namespace stagewright {

namespace {

void run_gemm(const Operands& with, OperationKernels& on) {
  const OpShape& shape = with.shape();
  const auto form = [](bool transposed) {
    return transposed ? kernels::Operand::kTransposed : kernels::Operand::kPlain;
  };
  const bool ta = with.op().transpose_a;
  const bool tb = with.op().transpose_b;
  on.gemm({.m = shape.rows,
           .n = shape.cols,
           .k = shape.inner,
           .a = {with.in(0), ta ? shape.rows : shape.inner, form(ta)},
           .b = {with.in(1), tb ? shape.inner : shape.cols, form(tb)},
           .c = with.out(0),
           .c_stride = shape.cols,
           .accumulate = with.op().accumulate,
           .bias = with.in(2)});
}

void run_norm_forward(const Operands& with, OperationKernels& on) {
  const std::int64_t rows = with.shape().rows;
  const std::int64_t width = with.shape().cols;
  const auto epsilon = static_cast<float>(with.op().scalar);
  if (with.op().variant == OpVariant::kRmsNorm) {
    on.rms_norm_forward({.x = with.in(0),
                         .gamma = with.in(1),
                         .y = with.out(0),
                         .rstd = with.out(1),
                         .width = width,
                         .epsilon = epsilon},
                        rows);
    return;
  }
  on.layer_norm_forward({.x = with.in(0),
                         .gamma = with.in(1),
                         .beta = with.in(2),
                         .y = with.out(0),
                         .mean = with.out(1),
                         .rstd = with.out(1) + rows,
                         .width = width,
                         .epsilon = epsilon},
                        rows);
}

void run_norm_input_gradient(const Operands& with, OperationKernels& on) {
  const std::int64_t rows = with.shape().rows;
  const std::int64_t width = with.shape().cols;
  if (with.op().variant == OpVariant::kRmsNorm) {
    on.rms_norm_input_gradient({.x = with.in(1),
                                .gamma = with.in(2),
                                .rstd = with.in(3),
                                .dy = with.in(0),
                                .residual = nullptr,
                                .dx = with.out(0),
                                .width = width},
                               rows);
    return;
  }
  on.layer_norm_input_gradient({.x = with.in(1),
                                .gamma = with.in(2),
                                .mean = with.in(3),
                                .rstd = with.in(3) + rows,
                                .dy = with.in(0),
                                .residual = nullptr,
                                .dx = with.out(0),
                                .width = width},
                               rows);
}

void run_norm_parameter_gradient(const Operands& with, OperationKernels& on) {
  const std::int64_t rows = with.shape().rows;
  const std::int64_t width = with.shape().cols;
  if (with.op().variant == OpVariant::kRmsNorm) {
    on.rms_norm_parameter_gradient({.x = with.in(1),
                                    .rstd = with.in(2),
                                    .dy = with.in(0),
                                    .dgamma = with.out(0),
                                    .width = width},
                                   rows);
    return;
  }
  on.layer_norm_parameter_gradient({.x = with.in(1),
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
          .places = with.token_places(),
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

[[nodiscard]] ActivationShape activation_shape(const Operands& with) {
  return {.variant = with.op().variant, .rows = with.shape().rows, .width = with.shape().cols};
}

void run_add(const Operands& with, OperationKernels& on) {
  if (with.in(2) == nullptr) {
    on.add({.a = with.in(0), .b = with.in(1), .y = with.out(0)}, with.elements());
    return;
  }
  on.add_bias_residual({.x = with.in(0),
                        .bias = with.in(2),
                        .residual = with.in(1),
                        .y = with.out(0),
                        .width = with.shape().cols},
                       with.shape().rows);
}

void run_dropout(const Operands& with, const UpdateStep& step, OperationKernels& on) {
  const OpShape& shape = with.shape();
  const float* x = with.in(0);
  if (const float* bias = with.in(1)) {
    on.add_bias({.x = x, .bias = bias, .y = with.out(0), .width = shape.cols}, shape.rows);
    x = with.out(0);
  }
  on.dropout({.x = x,
              .y = with.out(0),
              .width = shape.cols,
              .slice = {.first_row = with.first_token(), .global_width = shape.cols},
              .places = with.token_places(),
              .probability = static_cast<float>(with.op().scalar),
              .seed = kernels::seed_of_step(step.seed, step.number),
              .stream = static_cast<std::uint64_t>(with.op().index)},
             shape.rows);
}

void run_column_sum(const Operands& with, OperationKernels& on) {
  on.column_sum({.x = with.in(0), .sum = with.out(0), .width = with.shape().cols},
                with.shape().rows);
}

/// Keys and values that came round the ring; none where there is no such operand.
[[nodiscard]] kernels::OtherTokens other_tokens(const Operands& with, std::size_t operand) {
  const kernels::TokenPlaces here = with.token_places();
  const std::int64_t before = with.op().index % here.parts;
  return {.kv = with.in(operand),
          .part = (here.part + here.parts - before) % here.parts,
          .own_part = here.part};
}

void run_attention_forward(const Operands& with, OperationKernels& on) {
  on.attention_forward({.shape = attention_shape(with),
                        .qkv = with.in(0),
                        .output = with.out(0),
                        .log_sum_exp = with.out(1),
                        .workspace = with.out(2),
                        .others = other_tokens(with, 1)});
}

void run_attention_backward(const Operands& with, OperationKernels& on) {
  const kernels::OtherTokens others = other_tokens(with, 4);
  const bool own = others.kv == nullptr;
  on.attention_backward({.shape = attention_shape(with),
                         .qkv = with.in(1),
                         .output = with.in(2),
                         .log_sum_exp = with.in(3),
                         .doutput = with.in(0),
                         .dqkv = with.out(0),
                         .workspace = with.out(own ? 1 : 2),
                         .others = others,
                         .dkv = own ? nullptr : with.out(1)});
}

void run_embedding_forward(const Operands& with, OperationKernels& on) {
  on.embedding_forward({.tokens = with.tokens(0),
                        .table = with.in(1),
                        .y = with.out(0),
                        .width = with.shape().cols,
                        .vocab_begin = with.slice_begin(),
                        .vocab_rows = with.slice_size(with.shape().inner)},
                       with.shape().rows);
}

void run_embedding_gradient(const Operands& with, OperationKernels& on) {
  on.embedding_gradient({.tokens = with.tokens(0),
                         .dy = with.in(1),
                         .dtable = with.out(0),
                         .width = with.shape().cols,
                         .vocab_begin = with.slice_begin(),
                         .vocab_rows = with.slice_size(with.shape().inner)},
                        with.shape().rows);
}

void run_position_forward(const Operands& with, OperationKernels& on) {
  on.position_forward({.x = with.in(0),
                       .positions = with.in(1),
                       .y = with.out(0),
                       .width = with.shape().cols,
                       .places = with.token_places()},
                      with.shape().rows);
}

void run_position_gradient(const Operands& with, OperationKernels& on) {
  const OpShape& shape = with.shape();
  on.position_gradient({.dy = with.in(0),
                        .dpositions = with.out(0),
                        .rows = shape.rows,
                        .width = shape.cols,
                        .places = with.token_places()});
}

void run_fill(const Operands& with, OperationKernels& on) {
  on.fill({.y = with.out(0), .value = static_cast<float>(with.op().scalar)}, with.elements());
}

void run_conversion(const Operands& with, DType from, DType to, OperationKernels& on) {
  const auto* narrow = with.in<std::uint16_t>(0);
  auto* narrowed = with.out<std::uint16_t>(0);
  if (to == DType::kBFloat16) {
    on.convert(kernels::ToBFloat16{with.in(0), narrowed}, with.elements());
  } else if (to == DType::kFloat16) {
    on.convert(kernels::ToFloat16{with.in(0), narrowed}, with.elements());
  } else if (from == DType::kBFloat16) {
    on.convert(kernels::FromBFloat16{narrow, with.out(0)}, with.elements());
  } else {
    on.convert(kernels::FromFloat16{narrow, with.out(0)}, with.elements());
  }
}

void run_copy(const Operands& with, OperationKernels& on) {
  const DType type = with.op().dtype;
  if (with.op().source && *with.op().source != type) {
    run_conversion(with, *with.op().source, type, on);
    return;
  }
  on.copy(with.out(0), with.in(0), with.elements() * size_of(type));
}

void run_copy_columns(const Operands& with, OperationKernels& on) {
  on.copy_columns({.whole = with.in(0),
                   .part = with.out(0),
                   .begin = with.op().index,
                   .width = with.shape().cols,
                   .stride = with.shape().inner},
                  with.shape().rows);
}

void run_add_columns(const Operands& with, OperationKernels& on) {
  on.add_columns({.part = with.in(0),
                  .whole = with.out(0),
                  .begin = with.op().index,
                  .width = with.shape().cols,
                  .stride = with.shape().inner},
                 with.shape().rows);
}

}  // namespace

bool converts(DType from, DType to) {
  return (from == DType::kFloat32 && is_narrow(to)) || (is_narrow(from) && to == DType::kFloat32);
}

void run_narrow_embedding(const Operands& with, OperationKernels& on) {
  on.embedding_forward({.tokens = with.tokens(0),
                        .table = with.in<std::uint16_t>(1),
                        .y = with.out<std::uint16_t>(0),
                        .width = with.shape().cols,
                        .vocab_begin = with.slice_begin(),
                        .vocab_rows = with.slice_size(with.shape().inner)},
                       with.shape().rows);
}

void run_operation(const Operands& with, const UpdateStep& step, OperationKernels& on) {
  switch (with.op().kind) {
    case OpKind::kGemm:
      return run_gemm(with, on);
    case OpKind::kColumnSum:
      return run_column_sum(with, on);
    case OpKind::kNormForward:
      return run_norm_forward(with, on);
    case OpKind::kNormInputGradient:
      return run_norm_input_gradient(with, on);
    case OpKind::kNormParameterGradient:
      return run_norm_parameter_gradient(with, on);
    case OpKind::kRopeForward:
      return on.rope_forward(rope_of(with), with.shape().rows);
    case OpKind::kRopeBackward:
      return on.rope_backward(rope_of(with), with.shape().rows);
    case OpKind::kAttentionForward:
      return run_attention_forward(with, on);
    case OpKind::kAttentionBackward:
      return run_attention_backward(with, on);
    case OpKind::kActivationForward:
      return activate(activation_shape(with), with.in(0), with.out(0), on);
    case OpKind::kActivationBackward:
      return differentiate(activation_shape(with), with.in(0), with.in(1), with.out(0), on);
    case OpKind::kAdd:
      return run_add(with, on);
    case OpKind::kDropout:
      return run_dropout(with, step, on);
    case OpKind::kEmbeddingForward:
      return run_embedding_forward(with, on);
    case OpKind::kEmbeddingGradient:
      return run_embedding_gradient(with, on);
    case OpKind::kPositionForward:
      return run_position_forward(with, on);
    case OpKind::kPositionGradient:
      return run_position_gradient(with, on);
    case OpKind::kLossRowMax:
    case OpKind::kLossRowSum:
    case OpKind::kLossFinish:
    case OpKind::kLossGradient:
      return run_loss(with, step, on);
    case OpKind::kFill:
      return run_fill(with, on);
    case OpKind::kCopy:
      return run_copy(with, on);
    case OpKind::kCopyColumns:
      return run_copy_columns(with, on);
    case OpKind::kAddColumns:
      return run_add_columns(with, on);
    case OpKind::kSquaredSum:
    case OpKind::kSgdStep:
    case OpKind::kAdamWStep:
      return run_optimizer(with, step, on);
    case OpKind::kRouteForward:
    case OpKind::kRouteBackward:
    case OpKind::kDispatch:
    case OpKind::kCombine:
    case OpKind::kCombineBackward:
    case OpKind::kGroupedGemm:
    case OpKind::kImage:
    case OpKind::kConvolution:
    case OpKind::kConvolutionInputGradient:
    case OpKind::kConvolutionWeightGradient:
    case OpKind::kPool:
    case OpKind::kPoolGradient:
    case OpKind::kAllReduce:
    case OpKind::kAllGather:
    case OpKind::kReduceScatter:
    case OpKind::kBroadcast:
    case OpKind::kRingShift:
    case OpKind::kAllToAll:
      break;
  }
  SW_CHECK(false, "collectives are posted to a communicator, experts and images stay on the CPU");
}
}  // namespace stagewright
