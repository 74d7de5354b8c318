#include "runtime/libraries/cublas_lt_library.h"

#include <fmt/format.h>

#include "runtime/backend_error.h"

namespace stagewright {

void CublasLtLibrary::check(cublasStatus_t status, std::string_view call) const {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw BackendError(Error{
        ErrorCode::kBackendFailed,
        fmt::format(
            "{} failed: {} ({})", call, cublasLtGetStatusString(status), static_cast<int>(status)),
        {}});
  }
}

LibraryName cublas_lt_library_name() {
  return {.title = "cuBLASLt",
          .file = fmt::format("libcublasLt.so.{}", CUBLAS_VER_MAJOR),
          .variable = "STAGEWRIGHT_CUBLASLT_LIBRARY",
          .package = fmt::format("CUDA {}", CUBLAS_VER_MAJOR)};
}

Result<std::shared_ptr<const CublasLtLibrary>> load_cublas_lt(const std::string& path) {
  Result<SharedLibrary> library = SharedLibrary::open(cublas_lt_library_name(), path);
  if (!library) {
    return pass_on(std::move(library));
  }
  auto cublas = std::make_shared<CublasLtLibrary>();
  cublas->file = library->file();
#define STAGEWRIGHT_CUBLAS_LT_ENTRY(symbol)                         \
  if (Result<void*> entry = library->entry(#symbol); !entry) {      \
    return pass_on(std::move(entry));                               \
  } else {                                                          \
    cublas->symbol = reinterpret_cast<decltype(&::symbol)>(*entry); \
  }
  STAGEWRIGHT_CUBLAS_LT_CALLS(STAGEWRIGHT_CUBLAS_LT_ENTRY)
#undef STAGEWRIGHT_CUBLAS_LT_ENTRY
  return cublas;
}

}  // namespace stagewright
