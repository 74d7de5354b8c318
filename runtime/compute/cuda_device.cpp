#include "runtime/compute/cuda_device.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "runtime/backend_error.h"
#include "runtime/compute/cuda_kernels.h"
#include "runtime/compute/cuda_queue.h"
#include "runtime/compute/cuda_replay.h"
#include "runtime/compute/expert_operations.h"
#include "runtime/compute/fused_attention.h"
#include "runtime/compute/kernels/device_image.h"
#include "runtime/compute/run_operation.h"
#include "runtime/compute/spatial_operations.h"
#include "runtime/compute/widened_operands.h"
#include "runtime/libraries/cublas_lt_library.h"

namespace stagewright {

namespace {

[[nodiscard]] std::optional<cudaDataType_t> cuda_type(DType type) {
  switch (type) {
    case DType::kFloat32:
    case DType::kTf32:
      return CUDA_R_32F;
    case DType::kBFloat16:
      return CUDA_R_16BF;
    case DType::kFloat16:
      return CUDA_R_16F;
    case DType::kFloat8:
    case DType::kInt32:
      return std::nullopt;
  }
  return std::nullopt;
}

/// A kGemm as cuBLASLt takes it without widened copies; nothing where it does not.
[[nodiscard]] std::optional<CudaProduct> narrow_product(const BoundOperation& bound) {
  const Operation& op = *bound.operation;
  const auto a = cuda_type(bound.input_types[0].type);
  const auto b = cuda_type(bound.input_types[1].type);
  const auto c = cuda_type(bound.output_types[0].type);
  const auto bias = bound.inputs.size() > 2 ? cuda_type(bound.input_types[2].type) : c;
  const bool known = a && b && c && bias;
  if (!known || a != b || (c != a && c != CUDA_R_32F) || bias != c) {
    return std::nullopt;
  }
  const OpShape& shape = op.shape;
  return CudaProduct{.m = shape.rows,
                     .n = shape.cols,
                     .k = shape.inner,
                     .a = {.data = bound.inputs[0],
                           .stride = op.transpose_a ? shape.rows : shape.inner,
                           .type = *a,
                           .transposed = op.transpose_a},
                     .b = {.data = bound.inputs[1],
                           .stride = op.transpose_b ? shape.inner : shape.cols,
                           .type = *b,
                           .transposed = op.transpose_b},
                     .c = {.data = bound.outputs[0], .stride = shape.cols, .type = *c},
                     .accumulate = op.accumulate,
                     .bias = bound.inputs.size() > 2 ? bound.inputs[2] : nullptr,
                     .bias_type = *bias};
}

class CudaDevice final : public ComputeDevice {
 public:
  CudaDevice(std::shared_ptr<const CudaLibrary> cuda,
             std::shared_ptr<const CublasLtLibrary> cublas,
             std::span<const std::byte> image,
             const CudaOptions& options)
      : queue_(std::move(cuda), options.device),
        kernels_(queue_, std::move(cublas), image, options.gemm_workspace),
        replay_(queue_, options.replay) {
    auto attention = make_fused_attention(queue_, kernels_.scratch(), options.cudnn_library);
    if (attention) {
      attention_ = *std::move(attention);
    } else {
      no_attention_ = attention.error().message;
    }
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;
  ~CudaDevice() override = default;

  [[nodiscard]] std::string_view name() const override { return "cuda"; }

  [[nodiscard]] Result<void> check(const Operation& operation) const override {
    if (operation.kind == OpKind::kCopy && operation.source &&
        converts(*operation.source, operation.dtype)) {
      return {};
    }
    if (is_of_images(operation)) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{} has no kernel for CUDA; run convolutional networks on the CPU",
                              name_of(operation.kind)));
    }
    if (operation.dtype == DType::kFloat8) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{} in {} has no kernel for CUDA; plan with bf16, fp16 or fp32",
                              name_of(operation.kind),
                              name_of(operation.dtype)));
    }
    return {};
  }

  void execute(const BoundOperation& bound, const UpdateStep& step) override {
    queue_.enter();
    kernels_.begin_operation(bound.operation->dtype == DType::kTf32);
    if (bound.operation->kind == OpKind::kCopy || !WidenedOperands::needed(bound)) {
      run_wide(bound, step);
    } else if (attends(*bound.operation) && attention_ != nullptr && attention_->run(bound)) {
      return;
    } else if (bound.operation->kind == OpKind::kEmbeddingForward) {
      run_narrow_embedding(Operands(bound), kernels_);
    } else if (const auto product =
                   bound.operation->kind == OpKind::kGemm ? narrow_product(bound) : std::nullopt) {
      kernels_.gemm(*product);
    } else {
      const BoundOperation widened = widened_.widen(bound);
      run_wide(widened, step);
      widened_.narrow();
    }
  }

  [[nodiscard]] std::unique_ptr<DeviceMemory> allocate(Bytes size) override {
    queue_.enter();
    std::unique_ptr<DeviceMemory> memory = queue_.allocate(size);
    queue_.clear(memory->data(), size);
    queue_.synchronize();
    return memory;
  }

  void upload(void* to, std::span<const std::byte> from) override {
    copy(to, from.data(), from.size(), cudaMemcpyHostToDevice);
  }

  void download(std::span<std::byte> to, const void* from) override {
    copy(to.data(), from, to.size(), cudaMemcpyDeviceToHost);
    queue_.synchronize();
  }

  void synchronize() override { queue_.synchronize(); }

  [[nodiscard]] bool reads_back(const Operation& operation) const override {
    return reads_counts(operation);
  }
  [[nodiscard]] bool replays() const override { return replay_.use() != ReplayUse::kNever; }
  void run_static(std::size_t run, const std::function<void()>& execute) override {
    queue_.enter();
    replay_.run(run, execute);
  }
  void end_step() override { replay_.end_step(); }
  [[nodiscard]] std::vector<std::string> notes() const override {
    std::vector<std::string> notes =
        attention_ != nullptr ? attention_->notes() : std::vector<std::string>();
    if (attention_ == nullptr && attends_) {
      notes.push_back("attention: blockwise, since " + no_attention_);
    }
    if (auto replayed = replay_.note(); !replayed.empty()) {
      notes.push_back(std::move(replayed));
    }
    return notes;
  }

  [[nodiscard]] bool queues() const override { return true; }
  void use_queue(void* queue) override { queue_.use(static_cast<cudaStream_t>(queue)); }

 private:
  /// Of no operand in 16 bits.
  void run_wide(const BoundOperation& bound, const UpdateStep& step) {
    if (is_of_experts(*bound.operation)) {
      run_experts(Operands(bound), kernels_);
    } else {
      run_operation(Operands(bound), step, kernels_);
    }
  }

  [[nodiscard]] bool attends(const Operation& operation) {
    const bool attends =
        operation.kind == OpKind::kAttentionForward || operation.kind == OpKind::kAttentionBackward;
    attends_ = attends_ || attends;
    return attends;
  }

  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
    queue_.enter();
    const CudaLibrary& cuda = queue_.cuda();
    cuda.check(cuda.cudaMemcpyAsync(to, from, bytes, kind, queue_.stream()), "cudaMemcpyAsync");
  }

  CudaQueue queue_;
  CudaKernels kernels_;
  WidenedOperands widened_{kernels_};
  CudaReplay replay_;
  std::unique_ptr<FusedAttention> attention_;  ///< null where there is none
  std::string no_attention_;                   ///< why
  bool attends_ = false;                       ///< was asked for attention in 16 bits
};

}  // namespace

Result<CudaFound> find_cuda(const CudaOptions& options) {
  const std::span<const std::byte> image = options.image.empty() ? device_image() : options.image;
  if (image.empty()) {
    return fail(ErrorCode::kUnsupported,
                "this program carries no code for devices, since it was built without nvcc; build "
                "it where nvcc is, or use the CPU");
  }
  Result<std::shared_ptr<const CudaLibrary>> cuda = load_cuda(options.cuda_library);
  if (!cuda) {
    return pass_on(std::move(cuda));
  }
  const Result<int> count = count_devices(**cuda);
  if (!count) {
    return tl::unexpected<Error>(count.error());
  }
  if (options.device < 0 || options.device >= *count) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("no CUDA device {}: {} are visible", options.device, *count));
  }
  return CudaFound{*cuda, image};
}

Result<std::unique_ptr<ComputeDevice>> make_cuda_device(const CudaOptions& options) {
  Result<CudaFound> found = find_cuda(options);
  if (!found) {
    return pass_on(std::move(found));
  }
  Result<std::shared_ptr<const CublasLtLibrary>> cublas = load_cublas_lt(options.cublas_lt_library);
  if (!cublas) {
    return pass_on(std::move(cublas));
  }
  try {
    return std::make_unique<CudaDevice>(found->cuda, *cublas, found->image, options);
  } catch (const BackendError& error) {
    return tl::unexpected<Error>(error.error());
  }
}

Result<std::function<std::unique_ptr<ComputeDevice>(RankId)>> cuda_device_maker(
    const CudaOptions& options) {
  if (auto tried = make_cuda_device(options); !tried) {
    return pass_on(std::move(tried));
  }
  return [options](RankId) {
    auto device = make_cuda_device(options);
    if (!device) {
      throw BackendError(device.error());
    }
    return *std::move(device);
  };
}

}  // namespace stagewright
