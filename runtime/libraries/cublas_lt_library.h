#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "runtime/libraries/shared_library.h"

/// The calls of cuBLASLt that we make.
// clang-format off: one call a line
#define STAGEWRIGHT_CUBLAS_LT_CALLS(call)                                                       \
  call(cublasLtCreate) call(cublasLtDestroy) call(cublasLtGetStatusString) call(cublasLtMatmul) \
      call(cublasLtMatmulAlgoGetHeuristic) call(cublasLtMatmulDescCreate)                       \
          call(cublasLtMatmulDescDestroy) call(cublasLtMatmulDescSetAttribute)                  \
              call(cublasLtMatmulPreferenceCreate) call(cublasLtMatmulPreferenceDestroy)        \
                  call(cublasLtMatmulPreferenceSetAttribute) call(cublasLtMatrixLayoutCreate)   \
                      call(cublasLtMatrixLayoutDestroy)
// clang-format on

namespace stagewright {

/// cuBLASLt as it was found when the program ran.  Its members are its entries.
struct CublasLtLibrary {
  std::string file;
#define STAGEWRIGHT_CUBLAS_LT_MEMBER(name) decltype(&::name) name = nullptr;
  STAGEWRIGHT_CUBLAS_LT_CALLS(STAGEWRIGHT_CUBLAS_LT_MEMBER)
#undef STAGEWRIGHT_CUBLAS_LT_MEMBER

  /// Throws BackendError where `status` is an error.
  void check(cublasStatus_t status, std::string_view call) const;
};

[[nodiscard]] LibraryName cublas_lt_library_name();

/// Of the major version that this program was built with; `path` names its file (empty: as
/// SharedLibrary::open finds it).  kUnsupported if it cannot be loaded.
[[nodiscard]] Result<std::shared_ptr<const CublasLtLibrary>> load_cublas_lt(
    const std::string& path = {});

}  // namespace stagewright
