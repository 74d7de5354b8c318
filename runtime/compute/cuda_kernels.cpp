#include "runtime/compute/cuda_kernels.h"

#include <utility>

#include "core/base/check.h"
#include "runtime/compute/attention_blocks.h"

namespace stagewright {

using kernels::Index;

namespace {

/// Elements that a team adds up before the sums are added.
constexpr Index kSummedTogether = 4096;

/// Columns of an embedding's gradient that a team owns.
constexpr Index kEmbeddingColumns = 128;

[[nodiscard]] CudaProduct::Matrix matrix(const kernels::GemmOperand& operand) {
  return {.data = const_cast<float*>(operand.data),
          .stride = operand.stride,
          .type = CUDA_R_32F,
          .transposed = operand.form == kernels::Operand::kTransposed};
}

}  // namespace

CudaKernels::CudaKernels(CudaQueue& queue,
                         std::shared_ptr<const CublasLtLibrary> cublas,
                         std::span<const std::byte> image,
                         Bytes gemm_workspace)
    : queue_(queue),
      gemm_(queue, std::move(cublas), gemm_workspace),
      scratch_(queue),
      wide_(queue),
      code_(queue, image) {}

void CudaKernels::begin_operation(bool tf32) {
  tf32_ = tf32;
  scratch_.begin_operation();
  wide_.begin_operation();
}

#define STAGEWRIGHT_LAUNCH_KERNEL(name, type)                        \
  void CudaKernels::name(const kernels::type& kernel, Index count) { \
    code_.launch(kernel, count);                                     \
  }
STAGEWRIGHT_LAUNCHED_KERNELS(STAGEWRIGHT_LAUNCH_KERNEL)
#undef STAGEWRIGHT_LAUNCH_KERNEL

void CudaKernels::gemm(const kernels::Gemm& product) {
  SW_CHECK(product.k > 0, "a product over something");
  if (product.m == 0 || product.n == 0) {
    return;
  }
  gemm_.run({.m = product.m,
             .n = product.n,
             .k = product.k,
             .a = matrix(product.a),
             .b = matrix(product.b),
             .c = {.data = product.c, .stride = product.c_stride},
             .accumulate = product.accumulate,
             .bias = product.bias,
             .tf32 = tf32_});
}

class CudaKernels::AttentionSteps {
 public:
  explicit AttentionSteps(CudaKernels& on) : on_(on) {}

  void gemm(const kernels::Gemm& product) { on_.gemm(product); }
  template <class Kernel>
  void rows(Index rows, const Kernel& kernel) {
    on_.code_.launch(kernel, rows);
  }
  void clear(float* x, Index count) { on_.queue_.clear(x, count * size_of(DType::kFloat32)); }
  float* column() { return on_.scratch_.take<float>(kernels::kBlock); }

 private:
  CudaKernels& on_;
};

void CudaKernels::attention_forward(const kernels::AttentionForward& arguments) {
  AttentionSteps steps(*this);
  kernels::AttentionForward with = arguments;
  if (with.workspace == nullptr) {  // of a plan for devices with attention in one kernel
    with.workspace = scratch_.take<float>(kernels::attention_forward_workspace(with.shape).count() /
                                          Index{sizeof(float)});
  }
  kernels::attention_forward_by(steps, with);
}

void CudaKernels::attention_backward(const kernels::AttentionBackward& arguments) {
  AttentionSteps steps(*this);
  kernels::AttentionBackward with = arguments;
  if (with.workspace == nullptr) {
    with.workspace = scratch_.take<float>(
        kernels::attention_backward_workspace(with.shape).count() / Index{sizeof(float)});
  }
  kernels::attention_backward_by(steps, with);
}

void CudaKernels::embedding_forward(const kernels::EmbeddingForward<std::uint16_t>& kernel,
                                    Index tokens) {
  code_.launch(kernel, tokens);
}

void CudaKernels::embedding_gradient(const kernels::EmbeddingTableGradient& arguments,
                                     Index tokens) {
  code_.launch(kernels::EmbeddingGradient<float>{.tokens = arguments.tokens,
                                                 .dy = arguments.dy,
                                                 .dtable = arguments.dtable,
                                                 .token_count = tokens,
                                                 .width = arguments.width,
                                                 .vocab_begin = arguments.vocab_begin,
                                                 .vocab_rows = arguments.vocab_rows,
                                                 .columns_per_team = kEmbeddingColumns},
               (arguments.width + kEmbeddingColumns - 1) / kEmbeddingColumns);
}

void CudaKernels::layer_norm_parameter_gradient(
    const kernels::LayerNormParameterGradient& arguments, Index rows) {
  code_.launch(kernels::LayerNormGammaGradient<float>{.x = arguments.x,
                                                      .mean = arguments.mean,
                                                      .rstd = arguments.rstd,
                                                      .dy = arguments.dy,
                                                      .dgamma = arguments.dgamma,
                                                      .width = arguments.width},
               rows);
  column_sum({.x = arguments.dy, .sum = arguments.dbeta, .width = arguments.width}, rows);
}

void CudaKernels::position_gradient(const kernels::PositionGradient<float>& kernel) {
  code_.launch(kernel, kernel.places.tokens);
}

void CudaKernels::rope_forward(const kernels::Rope& arguments, Index tokens) {
  rotate(arguments, tokens, 1.0);
}

void CudaKernels::rope_backward(const kernels::Rope& arguments, Index tokens) {
  rotate(arguments, tokens, -1.0);
}

void CudaKernels::rotate(const kernels::Rope& arguments, Index tokens, double direction) {
  const Index head_dim = arguments.head_dim;
  code_.launch(
      kernels::RopeRotation<float>{.x = arguments.qkv,
                                   .frequencies = frequencies(head_dim, arguments.theta, direction),
                                   .stride = (arguments.heads + 2 * arguments.kv_heads) * head_dim,
                                   .heads = arguments.heads + arguments.kv_heads,
                                   .head_dim = head_dim,
                                   .places = arguments.places},
      tokens);
}

const double* CudaKernels::frequencies(Index head_dim, double theta, double direction) {
  Frequencies& known = frequencies_[{head_dim, theta, direction}];
  if (known.device == nullptr) {
    known.host = kernels::rope_frequencies(head_dim, theta, direction);
    const std::size_t bytes = known.host.size() * sizeof(double);
    known.device = queue_.allocate(Bytes(static_cast<std::int64_t>(bytes)));
    const CudaLibrary& cuda = queue_.cuda();
    cuda.check(cuda.cudaMemcpyAsync(known.device->data(),
                                    known.host.data(),
                                    bytes,
                                    cudaMemcpyHostToDevice,
                                    queue_.stream()),
               "cudaMemcpyAsync");
  }
  return reinterpret_cast<const double*>(known.device->data());
}

void CudaKernels::convert(const kernels::ToBFloat16& kernel, Index count) {
  code_.launch(kernel, count);
}

void CudaKernels::convert(const kernels::FromBFloat16& kernel, Index count) {
  code_.launch(kernel, count);
}

void CudaKernels::convert(const kernels::ToFloat16& kernel, Index count) {
  code_.launch(kernel, count);
}

void CudaKernels::convert(const kernels::FromFloat16& kernel, Index count) {
  code_.launch(kernel, count);
}

void CudaKernels::copy(void* to, const void* from, Bytes bytes) {
  const CudaLibrary& cuda = queue_.cuda();
  cuda.check(cuda.cudaMemcpyAsync(to,
                                  from,
                                  static_cast<std::size_t>(bytes.count()),
                                  cudaMemcpyDeviceToDevice,
                                  queue_.stream()),
             "cudaMemcpyAsync");
}

void CudaKernels::add_loss(const kernels::CrossEntropyLoss& arguments,
                           Index rows,
                           double scale,
                           float* total) {
  code_.launch(kernels::AddCrossEntropy{arguments, rows, static_cast<float>(scale), total}, 1);
}

void CudaKernels::add_loss(const kernels::SquaredErrorLoss& arguments,
                           Index rows,
                           double scale,
                           float* total) {
  code_.launch(kernels::AddSquaredError{arguments, rows, static_cast<float>(scale), total}, 1);
}

void CudaKernels::add_squares(const float* x, Index count, double scale, float* total) {
  const Index parts = (count + kSummedTogether - 1) / kSummedTogether;
  auto* const sums = scratch_.take<float>(parts);
  code_.launch(kernels::SquareParts{x, sums, count, kSummedTogether}, parts);
  code_.launch(kernels::AddSum{sums, parts, static_cast<float>(scale), total}, 1);
}

bool CudaKernels::begin_update(const UpdateScale& scale) {
  gradient_scale_ = scale.unscale;
  gradient_factor_ = nullptr;
  if (scale.totals != nullptr) {
    gradient_factor_ = scratch_.take<float>(1);
    code_.launch(kernels::UpdateFactor{.totals = scale.totals,
                                       .factor = gradient_factor_,
                                       .unscale = scale.unscale,
                                       .clip_norm = scale.clip_norm.value_or(-1.0)},
                 1);
  }
  return true;
}

void CudaKernels::adamw(const kernels::AdamW& arguments, Index count) {
  kernels::AdamW scaled = arguments;
  scaled.gradient_scale = gradient_scale_;
  code_.launch(
      kernels::Gated<kernels::AdamWUpdate>{kernels::adamw_update(scaled), gradient_factor_}, count);
}

void CudaKernels::sgd(const kernels::Sgd& arguments, Index count) {
  kernels::Sgd scaled = arguments;
  scaled.gradient_scale = gradient_scale_;
  if (scaled.momentum == 0.0) {
    code_.launch(kernels::Gated<kernels::PlainSgdUpdate>{kernels::plain_sgd_update(scaled),
                                                         gradient_factor_},
                 count);
  } else {
    code_.launch(kernels::Gated<kernels::SgdUpdate>{kernels::sgd_update(scaled), gradient_factor_},
                 count);
  }
}

const std::int32_t* CudaKernels::on_host(const std::int32_t* values, Index count) {
  on_host_.resize(static_cast<std::size_t>(count));
  const CudaLibrary& cuda = queue_.cuda();
  cuda.check(cuda.cudaMemcpyAsync(on_host_.data(),
                                  values,
                                  on_host_.size() * sizeof(std::int32_t),
                                  cudaMemcpyDeviceToHost,
                                  queue_.stream()),
             "cudaMemcpyAsync");
  queue_.synchronize();
  return on_host_.data();
}

float* CudaKernels::wide_buffer(std::size_t /*number*/, Index elements) {
  return wide_.take<float>(elements);
}

}  // namespace stagewright
