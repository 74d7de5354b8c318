#include "runtime/executor/arena.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "core/schedule/lifetimes.h"
#include "runtime/backend_error.h"

namespace stagewright {

namespace {
constexpr std::align_val_t kAlignment{kArenaAlignment};
}  // namespace

Arena::Arena(Bytes capacity) : size_(static_cast<std::size_t>(capacity.count())) {
  const std::size_t wanted = std::max<std::size_t>(size_, 1);
  block_.reset(static_cast<std::byte*>(::operator new(wanted, kAlignment, std::nothrow)));
  if (block_ == nullptr) {
    throw BackendError({ErrorCode::kBackendFailed,
                        fmt::format("out of memory: the rank needs {} for its tensors; use a plan "
                                    "with smaller micro-batches, more stages or recomputation",
                                    to_string(capacity)),
                        {}});
  }
  std::memset(block_.get(), 0, wanted);
}

void Arena::Free::operator()(std::byte* block) const {
  ::operator delete(block, kAlignment);
}

}  // namespace stagewright
