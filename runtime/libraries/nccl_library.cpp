#include "runtime/libraries/nccl_library.h"

#include <fmt/format.h>

#include "runtime/backend_error.h"

namespace stagewright {

void NcclLibrary::check(ncclResult_t status, std::string_view call, ncclComm_t communicator) const {
  if (status != ncclSuccess) {
    throw BackendError(Error{
        ErrorCode::kBackendFailed,
        fmt::format(
            "{} failed: {} ({})", call, ncclGetErrorString(status), ncclGetLastError(communicator)),
        {}});
  }
}

LibraryName nccl_library_name() {
  return {.title = "NCCL",
          .file = "libnccl.so.2",
          .variable = "STAGEWRIGHT_NCCL_LIBRARY",
          .package = "libnccl2"};
}

Result<std::shared_ptr<const NcclLibrary>> load_nccl(const std::string& path) {
  Result<SharedLibrary> library = SharedLibrary::open(nccl_library_name(), path);
  if (!library) {
    return pass_on(std::move(library));
  }
  auto nccl = std::make_shared<NcclLibrary>();
  nccl->file = library->file();
#define STAGEWRIGHT_NCCL_ENTRY(symbol)                            \
  if (Result<void*> entry = library->entry(#symbol); !entry) {    \
    return pass_on(std::move(entry));                             \
  } else {                                                        \
    nccl->symbol = reinterpret_cast<decltype(&::symbol)>(*entry); \
  }
  STAGEWRIGHT_NCCL_CALLS(STAGEWRIGHT_NCCL_ENTRY)
#undef STAGEWRIGHT_NCCL_ENTRY
  return nccl;
}

}  // namespace stagewright
