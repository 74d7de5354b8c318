#include "runtime/libraries/cudnn_library.h"

#include <array>

#include <fmt/format.h>

#include "runtime/backend_error.h"

namespace stagewright {

void CudnnLibrary::check(cudnnStatus_t status, std::string_view call) const {
  if (status != CUDNN_STATUS_SUCCESS) {
    std::array<char, 512> detail{};
    cudnnGetLastErrorString(detail.data(), detail.size() - 1);
    throw BackendError(Error{ErrorCode::kBackendFailed,
                             fmt::format("{} failed: {} ({}) {}",
                                         call,
                                         cudnnGetErrorString(status),
                                         static_cast<int>(status),
                                         detail.data()),
                             {}});
  }
}

std::string CudnnLibrary::version() const {
  const std::size_t number = cudnnGetVersion();
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

LibraryName cudnn_library_name() {
  return {.title = "cuDNN",
          .file = fmt::format("libcudnn.so.{}", CUDNN_MAJOR),
          .variable = "STAGEWRIGHT_CUDNN_LIBRARY",
          .package = fmt::format("cuDNN {} for CUDA {}", CUDNN_MAJOR, CUDART_VERSION / 1000)};
}

Result<std::shared_ptr<const CudnnLibrary>> load_cudnn(const std::string& path) {
  Result<SharedLibrary> library = SharedLibrary::open(cudnn_library_name(), path);
  if (!library) {
    return pass_on(std::move(library));
  }
  auto cudnn = std::make_shared<CudnnLibrary>();
  cudnn->file = library->file();
#define STAGEWRIGHT_CUDNN_ENTRY(symbol)                            \
  if (Result<void*> entry = library->entry(#symbol); !entry) {     \
    return pass_on(std::move(entry));                              \
  } else {                                                         \
    cudnn->symbol = reinterpret_cast<decltype(&::symbol)>(*entry); \
  }
  STAGEWRIGHT_CUDNN_CALLS(STAGEWRIGHT_CUDNN_ENTRY)
#undef STAGEWRIGHT_CUDNN_ENTRY
  return cudnn;
}

}  // namespace stagewright
