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

std::string standin_cublas_lt_file() {
#if defined(STAGEWRIGHT_STANDIN_CUBLASLT)
  return STAGEWRIGHT_STANDIN_CUBLASLT;
#else
  return {};
#endif
}

std::string standin_cudnn_file() {
#if defined(STAGEWRIGHT_STANDIN_CUDNN)
  return STAGEWRIGHT_STANDIN_CUDNN;
#else
  return "/no/such/libcudnn.so";
#endif
}

void configure_standins(const StandinOptions& options) {
  entry<decltype(&standin_configure)>(standin_cuda_file(), "standin_configure")(&options);
  inject_nccl_fault(kStandinNoFault, 0, 0);
  swap_nccl_calls(-1, 0);
}

void inject_nccl_fault(StandinFault fault, int rank, int operation) {
  entry<decltype(&standin_nccl_fault)>(standin_nccl_file(), "standin_nccl_fault")(
      fault, rank, operation);
}

void inject_nccl_fault_in(const std::string& call, StandinFault fault, int rank, int operation) {
  entry<decltype(&standin_nccl_fault_in)>(standin_nccl_file(), "standin_nccl_fault_in")(
      call.c_str(), fault, rank, operation);
}

std::string problems_of_standins() {
  return entry<decltype(&standin_problems)>(standin_cuda_file(), "standin_problems")();
}

void mutate_cuda(StandinMutation mutation, int device, int call) {
  entry<decltype(&standin_mutate)>(standin_cuda_file(), "standin_mutate")(mutation, device, call);
}

int mutation_calls() {
  return entry<decltype(&standin_mutation_calls)>(standin_cuda_file(), "standin_mutation_calls")();
}

void swap_nccl_calls(int rank, int call) {
  entry<decltype(&standin_nccl_swap)>(standin_nccl_file(), "standin_nccl_swap")(rank, call);
}

StandinAccesses standin_accesses() {
  return {entry<decltype(&standin_begin)>(standin_cuda_file(), "standin_begin"),
          entry<decltype(&standin_touch)>(standin_cuda_file(), "standin_touch")};
}

}  // namespace stagewright
