#include "standin_library.h"

#include "runtime/libraries/shared_library.h"

namespace stagewright {

namespace {

template <class Function>
[[nodiscard]] Function entry(const std::string& file, const std::string& symbol) {
  const LibraryName name{.title = "the stand-in",
                         .file = file,
                         .variable = "STAGEWRIGHT_NO_SUCH_VARIABLE",
                         .package = "nothing: it is built with the tests"};
  return reinterpret_cast<Function>(SharedLibrary::open(name).value().entry(symbol).value());
}

}  // namespace

std::string standin_cuda_file() {
  return STAGEWRIGHT_STANDIN_CUDART;
}

std::string standin_nccl_file() {
  return STAGEWRIGHT_STANDIN_NCCL;
}

void configure_standins(const StandinOptions& options) {
  entry<decltype(&standin_configure)>(standin_cuda_file(), "standin_configure")(&options);
  inject_nccl_fault(kStandinNoFault, 0, 0);
}

void inject_nccl_fault(StandinFault fault, int rank, int operation) {
  entry<decltype(&standin_nccl_fault)>(standin_nccl_file(), "standin_nccl_fault")(
      fault, rank, operation);
}

std::string problems_of_standins() {
  return entry<decltype(&standin_problems)>(standin_cuda_file(), "standin_problems")();
}

}  // namespace stagewright
