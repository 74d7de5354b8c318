#include "runtime/compute/compute_device.h"

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/schedule/lifetimes.h"
#include "runtime/backend_error.h"

namespace stagewright {

namespace {

constexpr std::align_val_t kHostAlignment{kArenaAlignment};

class HostMemory final : public DeviceMemory {
 public:
  explicit HostMemory(Bytes size) {
    const auto wanted = std::max<std::size_t>(static_cast<std::size_t>(size.count()), 1);
    block_.reset(static_cast<std::byte*>(::operator new(wanted, kHostAlignment, std::nothrow)));
    if (block_ == nullptr) {
      throw out_of_memory(size);
    }
    std::memset(block_.get(), 0, wanted);
  }

  [[nodiscard]] std::byte* data() override { return block_.get(); }

 private:
  struct Free {
    void operator()(std::byte* block) const { ::operator delete(block, kHostAlignment); }
  };
  std::unique_ptr<std::byte, Free> block_;
};

}  // namespace

BackendError out_of_memory(Bytes size) {
  return BackendError({ErrorCode::kBackendFailed,
                       fmt::format("out of memory: the rank needs {} for its tensors; use a plan "
                                   "with smaller micro-batches, more stages or recomputation",
                                   to_string(size)),
                       {}});
}

std::unique_ptr<DeviceMemory> ComputeDevice::allocate(Bytes size) {
  return std::make_unique<HostMemory>(size);
}

void ComputeDevice::upload(void* to, std::span<const std::byte> from) {
  std::ranges::copy(from, static_cast<std::byte*>(to));
}

void ComputeDevice::download(std::span<std::byte> to, const void* from) {
  std::copy_n(static_cast<const std::byte*>(from), to.size(), to.data());
}

bool ComputeDevice::reads_back(const Operation& /*operation*/) const {
  return false;
}

void ComputeDevice::run_static(std::size_t /*run*/, const std::function<void()>& execute) {
  execute();
}

void ComputeDevice::use_queue(void* /*queue*/) {
  SW_CHECK(false, "a device that has no queues is given none");
}

}  // namespace stagewright
