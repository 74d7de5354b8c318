#include "runtime/compute/cpu_device.h"

#include <exception>

#include <fmt/format.h>

#include "runtime/backend_error.h"
#include "runtime/compute/cpu_kernels.h"
#include "runtime/compute/expert_operations.h"
#include "runtime/compute/narrow_gemm.h"
#include "runtime/compute/run_operation.h"
#include "runtime/compute/spatial_operations.h"
#include "runtime/compute/widened_operands.h"

namespace stagewright {

namespace {

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
        run_wide(bound, step);
      } else if (bound.operation->kind == OpKind::kEmbeddingForward) {
        run_narrow_embedding(Operands(bound), kernels_);
      } else if (bound.operation->kind != OpKind::kGemm || !narrow_gemm_.run(bound)) {
        const BoundOperation widened = widened_.widen(bound);
        run_wide(widened, step);
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
  /// Of no operand in 16 bits.
  void run_wide(const BoundOperation& bound, const UpdateStep& step) {
    if (is_of_experts(*bound.operation)) {
      run_experts(Operands(bound), kernels_);
    } else if (is_of_images(*bound.operation)) {
      run_images(Operands(bound), convolutions_);
    } else {
      run_operation(Operands(bound), step, kernels_);
    }
  }

  CpuKernels kernels_;
  kernels::Convolutions convolutions_;
  WidenedOperands widened_{kernels_};
  NarrowGemm narrow_gemm_;
};

}  // namespace

std::unique_ptr<ComputeDevice> make_cpu_device() {
  return std::make_unique<CpuDevice>();
}

}  // namespace stagewright
