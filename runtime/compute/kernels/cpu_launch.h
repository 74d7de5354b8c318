#pragma once

#include <algorithm>

#include "runtime/compute/kernels/instruction_set.h"
#include "runtime/compute/kernels/lane.h"
#include "runtime/compute/kernels/portable.h"

/// Runs kernels on the calling thread, compiled for each instruction set.
///
/// `flatten` inlines the whole kernel into a function of the wanted target, and
/// the vectorizer runs after that; so one template instance becomes SSE2, AVX2
/// and AVX-512 code without compiling the file three times.  Two conditions,
/// each worth up to 10x: the file is compiled with -O3 -fopenmp-simd
/// -fno-math-errno -fno-trapping-math, and the kernel is a copy local to the
/// launch, or its members are loaded from memory in every iteration and the loop
/// is not vectorized.
namespace stagewright::kernels {

#if defined(__x86_64__)
template <class Body>
[[gnu::target("arch=x86-64-v4"), gnu::flatten, gnu::noinline]] void run_avx512(const Body& body) {
  body();
}

template <class Body>
[[gnu::target("arch=x86-64-v3"), gnu::flatten, gnu::noinline]] void run_avx2(const Body& body) {
  body();
}
#endif

template <class Body>
[[gnu::flatten, gnu::noinline]] void run_baseline(const Body& body) {
  body();
}

/// body() compiled for `set`, which the machine must have.
template <class Body>
void run_on(InstructionSet set, const Body& body) {
  switch (set) {
#if defined(__x86_64__)
    case InstructionSet::kAvx512:
      return run_avx512(body);
    case InstructionSet::kAvx2:
      return run_avx2(body);
#else
    case InstructionSet::kAvx512:
    case InstructionSet::kAvx2:
#endif
    case InstructionSet::kBaseline:
      return run_baseline(body);
  }
}

/// kernel(team, r) for r in [0, rows), in order.
template <class Kernel>
void launch_rows(Index rows, const Kernel& kernel, InstructionSet set = best_instruction_set()) {
  run_on(set, [rows, kernel] {
    const Kernel local = kernel;
    alignas(64) float scratch[Lane::kScratch];
    for (Index r = 0; r < rows; ++r) {
      local(Lane(scratch), r);
    }
  });
}

/// kernel(i) for i in [0, count), in any order.
template <class Kernel>
void launch_elements(Index count,
                     const Kernel& kernel,
                     InstructionSet set = best_instruction_set()) {
  run_on(set, [count, kernel] {
    const Kernel local = kernel;
    Lane(nullptr).each(count, [=](Index i) { local(i); });
  });
}

/// Columns that launch_columns() sums side by side, in registers.
inline constexpr Index kColumnTile = 64;

/// total[c] += sum over [first_row, end_row) of kernel.term(r, first_column + c).
template <class Kernel>
SW_HOST_DEVICE void sum_tile(const Kernel& kernel,
                             Index first_row,
                             Index end_row,
                             Index first_column,
                             Index width,
                             float* total) {
  const Lane lane(nullptr);
  alignas(64) float part[kColumnTile] = {};
  for (Index r = first_row; r < end_row; ++r) {
    lane.each(width, [&](Index c) { part[c] += kernel.term(r, first_column + c); });
  }
  lane.each(width, [&](Index c) { total[c] += part[c]; });
}

/// kernel.store(c, sum over r of kernel.term(r, c)) for c in [0, columns).  The
/// order of the sum is fixed: 128 rows at a time, which also keeps the rounding
/// error small over many rows.
template <class Kernel>
void launch_columns(Index rows,
                    Index columns,
                    const Kernel& kernel,
                    InstructionSet set = best_instruction_set()) {
  run_on(set, [rows, columns, kernel] {
    constexpr Index kRowBlock = 128;
    const Kernel local = kernel;
    for (Index first = 0; first < columns; first += kColumnTile) {
      alignas(64) float total[kColumnTile] = {};
      const Index width = std::min(kColumnTile, columns - first);
      for (Index block = 0; block < rows; block += kRowBlock) {
        sum_tile(local, block, std::min(rows, block + kRowBlock), first, width, total);
      }
      Lane(nullptr).each(width, [&](Index c) { local.store(first + c, total[c]); });
    }
  });
}

}  // namespace stagewright::kernels
