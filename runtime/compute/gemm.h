#pragma once

#include <array>
#include <string_view>

#include "runtime/compute/kernels/portable.h"

/// Matrix products on the CPU, single-threaded: every rank is one thread.
namespace stagewright::kernels {

enum class Operand {
  kPlain,
  kTransposed,
};

/// An operand of a product as it lies in memory, row-major.
struct GemmOperand {
  const float* data;
  Index stride;  ///< elements from one row in memory to the next
  Operand form = Operand::kPlain;
};

/// C[m, n] = A[m, k] B[k, n] (+ C) (+ bias[n] in every row).  A transposed
/// operand is stored as its transpose: A as [k, m], B as [n, k].  Any extent may
/// be 0.  C must not overlap A or B.
struct Gemm {
  Index m;
  Index n;
  Index k;
  GemmOperand a;
  GemmOperand b;
  float* c;
  Index c_stride;           ///< elements from one row of C to the next
  bool accumulate = false;  ///< add to C instead of overwriting it
  const float* bias = nullptr;
};

/// What computes a product: oneDNN picks the machine's instruction set when it
/// runs; Eigen is compiled for the build's target (on plain x86-64 five times
/// slower) and is there to tell a fault of one from a fault of the other.
enum class GemmLibrary {
  kOneDnn,
  kEigen,
};
inline constexpr std::array kGemmLibraries = {GemmLibrary::kOneDnn, GemmLibrary::kEigen};

std::string_view name_of(GemmLibrary library);

/// Runs on the calling thread.  Safe from several threads at once.
void gemm(const Gemm& product, GemmLibrary library = GemmLibrary::kOneDnn);

}  // namespace stagewright::kernels
