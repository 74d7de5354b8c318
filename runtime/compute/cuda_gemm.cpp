#include "runtime/compute/cuda_gemm.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "runtime/backend_error.h"

namespace stagewright {

namespace {

/// The largest power of two up to what an allocation has that the address is a multiple of.
[[nodiscard]] std::uint32_t alignment_of(const void* data) {
  constexpr std::uintptr_t kMost = 256;
  const auto address = reinterpret_cast<std::uintptr_t>(data) | kMost;
  return static_cast<std::uint32_t>(address & ~(address - 1));
}

}  // namespace

/// cuBLASLt's matrices are column-major, where ours are their transposes: it computes C^T as
/// B^T A^T, and its bias, one number a row, is ours.
class CudaGemm::Plan {
 public:
  Plan(const CublasLtLibrary& cublas,
       cublasLtHandle_t handle,
       const Shape& shape,
       const CudaProduct& product,
       std::size_t workspace)
      : cublas_(cublas) {
    const auto compute = shape.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    cublas_.check(cublas_.cublasLtMatmulDescCreate(&product_, compute, CUDA_R_32F),
                  "cublasLtMatmulDescCreate");
    set(CUBLASLT_MATMUL_DESC_TRANSA, transposition(shape.b_transposed));
    set(CUBLASLT_MATMUL_DESC_TRANSB, transposition(shape.a_transposed));
    if (shape.bias) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, product.bias_type);
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, product.bias);
    }
    b_ = layout(product.b, shape.k, shape.n);
    a_ = layout(product.a, shape.m, shape.k);
    c_ = layout(product.c, shape.m, shape.n);
    choose(handle, shape, workspace);
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
  ~Plan() {
    for (const cublasLtMatrixLayout_t layout : {a_, b_, c_}) {
      (void)cublas_.cublasLtMatrixLayoutDestroy(layout);
    }
    (void)cublas_.cublasLtMatmulDescDestroy(product_);
  }

  void run(cublasLtHandle_t handle,
           const CudaProduct& product,
           void* workspace,
           std::size_t workspace_bytes,
           cudaStream_t stream) {
    if (product.bias != nullptr) {
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, product.bias);
    }
    const float one = 1.0F;
    const float kept = product.accumulate ? 1.0F : 0.0F;
    cublas_.check(cublas_.cublasLtMatmul(handle,
                                         product_,
                                         &one,
                                         product.b.data,
                                         b_,
                                         product.a.data,
                                         a_,
                                         &kept,
                                         product.c.data,
                                         c_,
                                         product.c.data,
                                         c_,
                                         &algorithm_,
                                         workspace,
                                         workspace_bytes,
                                         stream),
                  "cublasLtMatmul");
  }

 private:
  [[nodiscard]] static cublasOperation_t transposition(bool transposed) {
    return transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  }

  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    cublas_.check(cublas_.cublasLtMatmulDescSetAttribute(product_, attribute, &value, sizeof value),
                  "cublasLtMatmulDescSetAttribute");
  }

  /// Of op(matrix) with so many rows and columns.
  [[nodiscard]] cublasLtMatrixLayout_t layout(const CudaProduct::Matrix& matrix,
                                              std::int64_t rows,
                                              std::int64_t columns) const {
    if (matrix.transposed) {
      std::swap(rows, columns);
    }
    cublasLtMatrixLayout_t made = nullptr;
    cublas_.check(cublas_.cublasLtMatrixLayoutCreate(&made,
                                                     matrix.type,
                                                     static_cast<std::uint64_t>(columns),
                                                     static_cast<std::uint64_t>(rows),
                                                     matrix.stride),
                  "cublasLtMatrixLayoutCreate");
    return made;
  }

  void choose(cublasLtHandle_t handle, const Shape& shape, std::size_t workspace) {
    cublasLtMatmulPreference_t preference = nullptr;
    cublas_.check(cublas_.cublasLtMatmulPreferenceCreate(&preference),
                  "cublasLtMatmulPreferenceCreate");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
      cublas_.check(
          cublas_.cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(workspace));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape.b_alignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape.a_alignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape.c_alignment);
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape.c_alignment);
    cublasLtMatmulHeuristicResult_t found{};
    int count = 0;
    const cublasStatus_t status = cublas_.cublasLtMatmulAlgoGetHeuristic(
        handle, product_, b_, a_, c_, c_, preference, 1, &found, &count);
    (void)cublas_.cublasLtMatmulPreferenceDestroy(preference);
    if (status != CUBLAS_STATUS_SUCCESS || count == 0) {
      throw BackendError(
          {ErrorCode::kBackendFailed,
           fmt::format("cuBLASLt has no algorithm for a product of {} x {} x {}, types {}, {} and "
                       "{} ({})",
                       shape.m,
                       shape.n,
                       shape.k,
                       shape.a_type,
                       shape.b_type,
                       shape.c_type,
                       cublas_.cublasLtGetStatusString(status)),
           {}});
    }
    algorithm_ = found.algo;
  }

  const CublasLtLibrary& cublas_;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr;
  cublasLtMatrixLayout_t b_ = nullptr;
  cublasLtMatrixLayout_t c_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
};

CudaGemm::CudaGemm(const CudaQueue& queue,
                   std::shared_ptr<const CublasLtLibrary> cublas,
                   Bytes workspace)
    : queue_(queue),
      cublas_(std::move(cublas)),
      workspace_bytes_(static_cast<std::size_t>(workspace.count())),
      workspace_(queue.allocate(workspace)) {
  cublas_->check(cublas_->cublasLtCreate(&handle_), "cublasLtCreate");
}

CudaGemm::~CudaGemm() {
  plans_.clear();
  (void)cublas_->cublasLtDestroy(handle_);
}

CudaGemm::Shape CudaGemm::shape_of(const CudaProduct& product) {
  return {.m = product.m,
          .n = product.n,
          .k = product.k,
          .a_stride = product.a.stride,
          .b_stride = product.b.stride,
          .c_stride = product.c.stride,
          .a_type = product.a.type,
          .b_type = product.b.type,
          .c_type = product.c.type,
          .bias_type = product.bias_type,
          .a_transposed = product.a.transposed,
          .b_transposed = product.b.transposed,
          .accumulate = product.accumulate,
          .bias = product.bias != nullptr,
          .tf32 = product.tf32,
          .a_alignment = alignment_of(product.a.data),
          .b_alignment = alignment_of(product.b.data),
          .c_alignment = alignment_of(product.c.data)};
}

void CudaGemm::run(const CudaProduct& product) {
  const Shape shape = shape_of(product);
  std::unique_ptr<Plan>& plan = plans_[shape];
  if (plan == nullptr) {
    plan = std::make_unique<Plan>(*cublas_, handle_, shape, product, workspace_bytes_);
  }
  plan->run(handle_, product, workspace_->data(), workspace_bytes_, queue_.stream());
}

}  // namespace stagewright
