#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>

#include "runtime/compute/compute_device.h"
#include "runtime/compute/cuda_queue.h"
#include "runtime/libraries/cublas_lt_library.h"

namespace stagewright {

/// C[m, n] = A[m, k] B[k, n] (+ C) (+ bias[n] in every row), row-major; a transposed operand is
/// stored as its transpose.  Sums in fp32.
struct CudaProduct {
  struct Matrix {
    void* data = nullptr;
    std::int64_t stride = 0;  ///< elements from one row in memory to the next
    cudaDataType_t type = CUDA_R_32F;
    bool transposed = false;
  };
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;  ///< none of the three is 0
  Matrix a;
  Matrix b;
  Matrix c;
  bool accumulate = false;
  const void* bias = nullptr;
  cudaDataType_t bias_type = CUDA_R_32F;
  bool tf32 = false;  ///< fp32 operands may lose bits of their fractions
};

/// Matrix products by cuBLASLt.  Its descriptions and the algorithm are made once for each shape.
class CudaGemm {
 public:
  CudaGemm(const CudaQueue& queue, std::shared_ptr<const CublasLtLibrary> cublas, Bytes workspace);
  CudaGemm(const CudaGemm&) = delete;
  CudaGemm& operator=(const CudaGemm&) = delete;
  ~CudaGemm();

  /// Throws BackendError, also where cuBLASLt has no algorithm.
  void run(const CudaProduct& product);

 private:
  /// What an algorithm depends on.
  struct Shape {
    std::int64_t m, n, k;
    std::int64_t a_stride, b_stride, c_stride;
    int a_type, b_type, c_type, bias_type;
    bool a_transposed, b_transposed, accumulate, bias, tf32;
    std::uint32_t a_alignment, b_alignment, c_alignment;
    auto operator<=>(const Shape&) const = default;
  };
  class Plan;

  [[nodiscard]] static Shape shape_of(const CudaProduct& product);

  const CudaQueue& queue_;
  std::shared_ptr<const CublasLtLibrary> cublas_;
  cublasLtHandle_t handle_ = nullptr;
  std::size_t workspace_bytes_;
  std::unique_ptr<DeviceMemory> workspace_;
  std::map<Shape, std::unique_ptr<Plan>> plans_;
};

}  // namespace stagewright
