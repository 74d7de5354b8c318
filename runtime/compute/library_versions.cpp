#include "runtime/compute/library_versions.h"

#include <dnnl.h>

#include <Eigen/Core>
#include <fmt/format.h>

#include "runtime/compute/kernels/instruction_set.h"

namespace stagewright {

namespace {

[[nodiscard]] std::string name_of(kernels::InstructionSet set) {
  switch (set) {
    case kernels::InstructionSet::kBaseline:
      return "baseline";
    case kernels::InstructionSet::kAvx2:
      return "avx2";
    case kernels::InstructionSet::kAvx512:
      return "avx512";
  }
  return {};
}

}  // namespace

std::map<std::string, std::string> library_versions() {
  const dnnl_version_t* dnnl = dnnl_version();
  return {
#if defined(__clang__)
    {"compiler", "clang " __clang_version__},
#else
    {"compiler", "g++ " __VERSION__},
#endif
        {"Eigen",
         fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
        {"oneDNN", fmt::format("{}.{}.{}", dnnl->major, dnnl->minor, dnnl->patch)}, {
      "instruction set", name_of(kernels::best_instruction_set())
    }
  };
}

}  // namespace stagewright
