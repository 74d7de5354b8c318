// Matrix products of a GPT of 4 layers (width 256, 2048 tokens, 4096 words) by
// each library, on one thread.
#include "runtime/compute/gemm.h"

#include <random>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

namespace stagewright::kernels {
namespace {

using benchmark::Counter;
using benchmark::State;
using Floats = std::vector<float>;

constexpr Index kRows = 2048;
constexpr Index kWords = 4096;

Floats numbers(Index count) {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  Floats result(static_cast<std::size_t>(count));
  for (float& x : result) {
    x = normal(engine);
  }
  return result;
}

struct GemmCase {
  Index m, n, k;
  Operand a_form, b_form;
  bool accumulate;
};

void gemm_benchmark(State& state, GemmCase c, GemmLibrary library) {
  const Floats a = numbers(c.m * c.k);
  const Floats b = numbers(c.k * c.n);
  Floats out(static_cast<std::size_t>(c.m * c.n));
  for (auto _ : state) {
    gemm({.m = c.m,
          .n = c.n,
          .k = c.k,
          .a = {a.data(), c.a_form == Operand::kPlain ? c.k : c.m, c.a_form},
          .b = {b.data(), c.b_form == Operand::kPlain ? c.n : c.k, c.b_form},
          .c = out.data(),
          .c_stride = c.n,
          .accumulate = c.accumulate},
         library);
  }
  state.counters["flops"] = Counter(2.0 * static_cast<double>(c.m * c.n * c.k),
                                    Counter::kIsIterationInvariantRate,
                                    Counter::kIs1000);
}

}  // namespace

// y = x W^T, dx = dy W and dW += dy^T x of the layers, and a square.
void register_all() {
  constexpr auto kPlain = Operand::kPlain;
  constexpr auto kTransposed = Operand::kTransposed;
  std::vector<GemmCase> cases = {{1024, 1024, 1024, kPlain, kPlain, false}};
  for (const auto& [out, in] :
       {std::pair<Index, Index>{768, 256}, {1024, 256}, {256, 1024}, {kWords, 256}}) {
    cases.push_back({kRows, out, in, kPlain, kTransposed, false});
    cases.push_back({kRows, in, out, kPlain, kPlain, false});
    cases.push_back({out, in, kRows, kTransposed, kPlain, true});
  }
  for (const GemmLibrary library : kGemmLibraries) {
    for (const GemmCase& c : cases) {
      const std::string name = "gemm/" + std::string(name_of(library)) + "/" +
                               (c.a_form == kPlain ? "N" : "T") + (c.b_form == kPlain ? "N" : "T") +
                               "/" + std::to_string(c.m) + "x" + std::to_string(c.n) + "x" +
                               std::to_string(c.k);
      benchmark::RegisterBenchmark(
          name.c_str(), [c, library](State& state) { gemm_benchmark(state, c, library); });
    }
  }
}

}  // namespace stagewright::kernels

int main(int argc, char** argv) {
  stagewright::kernels::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
