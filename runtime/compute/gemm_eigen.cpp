// Packing buffers on the stack up to this size: through malloc they are returned
// to the kernel and faulted in again at every product, which costs 4x.
#define EIGEN_STACK_ALLOCATION_LIMIT 1048576
// Every rank is a thread of its own.
#define EIGEN_DONT_PARALLELIZE

#include <Eigen/Core>

#include "runtime/compute/gemm_library.h"

namespace stagewright::kernels {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Stride = Eigen::OuterStride<>;
using Output = Eigen::Map<Matrix, 0, Stride>;
using Input = Eigen::Map<const Matrix, 0, Stride>;

template <class A, class B>
void multiply(const Gemm& product, const A& a, const B& b) {
  Output c(product.c, product.m, product.n, Stride(product.c_stride));
  if (product.accumulate) {
    c.noalias() += a * b;
  } else {
    c.noalias() = a * b;
  }
}

template <class A>
void multiply(const Gemm& product, const A& a) {
  const Stride stride(product.b.stride);
  switch (product.b.form) {
    case Operand::kPlain:
      return multiply(product, a, Input(product.b.data, product.k, product.n, stride));
    case Operand::kTransposed:
      return multiply(product, a, Input(product.b.data, product.n, product.k, stride).transpose());
  }
}

}  // namespace

void eigen_gemm(const Gemm& product) {
  const Stride stride(product.a.stride);
  switch (product.a.form) {
    case Operand::kPlain:
      return multiply(product, Input(product.a.data, product.m, product.k, stride));
    case Operand::kTransposed:
      return multiply(product, Input(product.a.data, product.k, product.m, stride).transpose());
  }
}

}  // namespace stagewright::kernels
