#pragma once

#include "runtime/compute/gemm.h"

/// The libraries behind gemm(); internal to it.
namespace stagewright::kernels {

/// C = A B (+ C).  All extents are positive and there is no bias.
void eigen_gemm(const Gemm& product);
void one_dnn_gemm(const Gemm& product);

}  // namespace stagewright::kernels
