#pragma once

#include <cudnn.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "runtime/libraries/shared_library.h"

/// The calls of cuDNN that we make: those of its graphs.
// clang-format off: one call a line
#define STAGEWRIGHT_CUDNN_CALLS(call)                                                              \
  call(cudnnCreate) call(cudnnDestroy) call(cudnnGetErrorString) call(cudnnGetLastErrorString)     \
      call(cudnnGetVersion) call(cudnnSetStream) call(cudnnBackendCreateDescriptor)                \
          call(cudnnBackendDestroyDescriptor) call(cudnnBackendExecute) call(cudnnBackendFinalize) \
              call(cudnnBackendGetAttribute) call(cudnnBackendSetAttribute)
// clang-format on

namespace stagewright {

/// cuDNN as it was found when the program ran.  Its members are its entries.
struct CudnnLibrary {
  std::string file;
#define STAGEWRIGHT_CUDNN_MEMBER(name) decltype(&::name) name = nullptr;
  STAGEWRIGHT_CUDNN_CALLS(STAGEWRIGHT_CUDNN_MEMBER)
#undef STAGEWRIGHT_CUDNN_MEMBER

  /// Throws BackendError where `status` is an error, with what cuDNN says of it.
  void check(cudnnStatus_t status, std::string_view call) const;
  /// "9.19.0".
  [[nodiscard]] std::string version() const;
};

[[nodiscard]] LibraryName cudnn_library_name();

/// Of the major version that this program was built with; `path` names its file (empty: as
/// SharedLibrary::open finds it).  kUnsupported if it cannot be loaded.
[[nodiscard]] Result<std::shared_ptr<const CudnnLibrary>> load_cudnn(const std::string& path = {});

}  // namespace stagewright
