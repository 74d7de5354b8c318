#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "runtime/compute/cuda_code.h"
#include "runtime/compute/cuda_gemm.h"
#include "runtime/compute/cuda_queue.h"
#include "runtime/compute/operation_kernels.h"

namespace stagewright {

/// Puts kernels and matrix products on a stream of a device.  Nothing has happened when a call
/// returns.
class CudaKernels final : public OperationKernels {
 public:
  /// `image`: the device's code.  Throws BackendError.
  CudaKernels(CudaQueue& queue,
              std::shared_ptr<const CublasLtLibrary> cublas,
              std::span<const std::byte> image,
              Bytes gemm_workspace);
  CudaKernels(const CudaKernels&) = delete;
  CudaKernels& operator=(const CudaKernels&) = delete;
  ~CudaKernels() override = default;

  /// Before the kernels of an operation; `tf32`: of its products.
  void begin_operation(bool tf32);
  void gemm(const CudaProduct& product) { gemm_.run(product); }
  /// What an operation may take from.
  [[nodiscard]] CudaScratch& scratch() { return scratch_; }

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
  class AttentionSteps;
  /// The turns of a rotary embedding, on the device and on the host, from which they were copied.
  struct Frequencies {
    std::vector<double> host;
    std::unique_ptr<DeviceMemory> device;
  };

  void rotate(const kernels::Rope& arguments, kernels::Index tokens, double direction);
  [[nodiscard]] const double* frequencies(kernels::Index head_dim, double theta, double direction);

  CudaQueue& queue_;
  CudaGemm gemm_;
  CudaScratch scratch_;
  CudaScratch wide_;  ///< fp32 copies of operands
  CudaCode code_;
  std::map<std::tuple<kernels::Index, double, double>, Frequencies> frequencies_;
  std::vector<std::int32_t> on_host_;
  bool tf32_ = false;
  double gradient_scale_ = 1;         ///< of updates, where gradient_factor_ is null
  float* gradient_factor_ = nullptr;  ///< the same, on the device
};

}  // namespace stagewright
