#pragma once

#include <limits>

#include "runtime/compute/kernels/portable.h"

namespace stagewright::kernels {

/// The CPU's team: one thread, whose loops are SIMD loops.  `Block` (CUDA) has
/// the same members, and row kernels are written against both.  Bodies given to
/// `each`, `sum` and `max` run in any order and must not depend on each other.
/// Needs `-fopenmp-simd`; internal to the kernel sources.
class Lane {
 public:
  /// Floats that `scratch()` holds.
  static constexpr Index kScratch = 1024;

  explicit Lane(float* scratch) : scratch_(scratch) {}

  /// Memory of the team for one row.
  [[nodiscard]] SW_HOST_DEVICE float* scratch() const { return scratch_; }

  /// What the team wrote before is visible to all its members after.
  SW_HOST_DEVICE void sync() const {}

  /// body(i) for i in [0, n).
  template <class Body>
  SW_HOST_DEVICE void each(Index n, Body body) const {
#pragma omp simd
    for (Index i = 0; i < n; ++i) {
      body(i);
    }
  }

  /// Sum of term(i) over [0, n); every member of the team gets it.
  template <class Term>
  [[nodiscard]] SW_HOST_DEVICE float sum(Index n, Term term) const {
    float total = 0.0F;
#pragma omp simd reduction(+ : total)
    for (Index i = 0; i < n; ++i) {
      total += term(i);
    }
    return total;
  }

  /// Largest term(i) over [0, n); minus infinity when n is 0.
  template <class Term>
  [[nodiscard]] SW_HOST_DEVICE float max(Index n, Term term) const {
    float largest = -std::numeric_limits<float>::infinity();
#pragma omp simd reduction(max : largest)
    for (Index i = 0; i < n; ++i) {
      const float value = term(i);
      largest = value > largest ? value : largest;
    }
    return largest;
  }

  /// body() on one member of the team.
  template <class Body>
  SW_HOST_DEVICE void once(Body body) const {
    body();
  }

 private:
  float* scratch_;
};

}  // namespace stagewright::kernels
