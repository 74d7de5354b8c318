#pragma once

#include <nccl.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "runtime/libraries/shared_library.h"

/// The calls of NCCL that we make.
#define STAGEWRIGHT_NCCL_CALLS(call)                                                              \
  call(ncclGetVersion) call(ncclGetUniqueId) call(ncclCommInitRankConfig) call(ncclCommSplit)     \
      call(ncclCommDestroy) call(ncclCommAbort) call(ncclCommGetAsyncError)                       \
          call(ncclGetErrorString) call(ncclGetLastError) call(ncclGroupStart) call(ncclGroupEnd) \
              call(ncclAllReduce) call(ncclReduceScatter) call(ncclAllGather) call(ncclBroadcast) \
                  call(ncclSend) call(ncclRecv)

namespace stagewright {

/// NCCL as it was found when the program ran.  Its members are its entries.
struct NcclLibrary {
  std::string file;
#define STAGEWRIGHT_NCCL_MEMBER(name) decltype(&::name) name = nullptr;
  STAGEWRIGHT_NCCL_CALLS(STAGEWRIGHT_NCCL_MEMBER)
#undef STAGEWRIGHT_NCCL_MEMBER

  /// Throws BackendError where `status` is an error, with what NCCL says of `communicator`.
  void check(ncclResult_t status, std::string_view call, ncclComm_t communicator) const;
};

[[nodiscard]] LibraryName nccl_library_name();

/// NCCL 2.18 or newer (the first that splits communicators); `path` names its file (empty: as
/// SharedLibrary::open finds it).  kUnsupported if it cannot be loaded.
[[nodiscard]] Result<std::shared_ptr<const NcclLibrary>> load_nccl(const std::string& path = {});

}  // namespace stagewright
