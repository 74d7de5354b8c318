#include "runtime/compute/gemm.h"

#include <algorithm>

#include "core/base/check.h"
#include "runtime/compute/gemm_library.h"
#include "runtime/compute/kernels/bias.h"

namespace stagewright::kernels {
namespace {

// Writes what C holds before the product is added to it.
void start_from_bias(const Gemm& product) {
  if (!product.accumulate) {
    broadcast_bias(
        {.bias = product.bias, .y = product.c, .width = product.n, .stride = product.c_stride},
        product.m);
    return;
  }
  for (Index row = 0; row < product.m; ++row) {
    float* c = product.c + row * product.c_stride;
    add_bias({.x = c, .bias = product.bias, .y = c, .width = product.n}, 1);
  }
}

void start_from_zero(const Gemm& product) {
  for (Index row = 0; row < product.m; ++row) {
    float* c = product.c + row * product.c_stride;
    std::fill_n(c, product.n, 0.0F);
  }
}

}  // namespace

std::string_view name_of(GemmLibrary library) {
  switch (library) {
    case GemmLibrary::kOneDnn:
      return "oneDNN";
    case GemmLibrary::kEigen:
      return "Eigen";
  }
  SW_CHECK(false, "a known GEMM library");
}

void gemm(const Gemm& product, GemmLibrary library) {
  if (product.m == 0 || product.n == 0) {
    return;
  }
  Gemm rest = product;
  if (product.bias != nullptr) {
    start_from_bias(product);
    rest.accumulate = true;
    rest.bias = nullptr;
  } else if (product.k == 0 && !product.accumulate) {
    start_from_zero(product);
  }
  if (product.k == 0) {
    return;
  }
  switch (library) {
    case GemmLibrary::kOneDnn:
      return one_dnn_gemm(rest);
    case GemmLibrary::kEigen:
      return eigen_gemm(rest);
  }
}

}  // namespace stagewright::kernels
