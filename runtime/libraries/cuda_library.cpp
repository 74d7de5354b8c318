#include "runtime/libraries/cuda_library.h"

#include <fmt/format.h>

#include "runtime/backend_error.h"

/// CUDA's headers rename some entries by macros.
#define STAGEWRIGHT_TEXT_OF(...) #__VA_ARGS__
#define STAGEWRIGHT_TEXT(...) STAGEWRIGHT_TEXT_OF(__VA_ARGS__)

namespace stagewright {

void CudaLibrary::check(cudaError_t status, std::string_view call) const {
  if (status != cudaSuccess) {
    throw BackendError(
        Error{ErrorCode::kBackendFailed,
              fmt::format(
                  "{} failed: {} ({})", call, cudaGetErrorString(status), cudaGetErrorName(status)),
              {}});
  }
}

LibraryName cuda_library_name() {
  return {.title = "the CUDA runtime",
          .file = fmt::format("libcudart.so.{}", CUDART_VERSION / 1000),
          .variable = "STAGEWRIGHT_CUDART_LIBRARY",
          .package = fmt::format("CUDA {}", CUDART_VERSION / 1000)};
}

Result<std::shared_ptr<const CudaLibrary>> load_cuda(const std::string& path) {
  Result<SharedLibrary> library = SharedLibrary::open(cuda_library_name(), path);
  if (!library) {
    return pass_on(std::move(library));
  }
  auto cuda = std::make_shared<CudaLibrary>();
  cuda->file = library->file();
#define STAGEWRIGHT_CUDA_ENTRY(symbol, type)                                    \
  if (Result<void*> entry = library->entry(STAGEWRIGHT_TEXT(symbol)); !entry) { \
    return pass_on(std::move(entry));                                           \
  } else {                                                                      \
    cuda->symbol = reinterpret_cast<type>(*entry);                              \
  }
  STAGEWRIGHT_CUDA_CALLS(STAGEWRIGHT_CUDA_ENTRY)
#undef STAGEWRIGHT_CUDA_ENTRY
  return cuda;
}

Result<int> count_devices(const CudaLibrary& cuda) {
  int count = 0;
  const cudaError_t status = cuda.cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count < 1) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("no CUDA device: {} ({}); the CPU can run the plan instead",
                    status == cudaSuccess ? "none is visible" : cuda.cudaGetErrorString(status),
                    cuda.cudaGetErrorName(status)),
        cuda.file);
  }
  return count;
}

}  // namespace stagewright
