#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/base/units.h"

namespace stagewright {

/// One block of host memory, zeroed and aligned to kArenaAlignment, from which a rank takes all
/// its tensors.
class Arena {
 public:
  /// Throws BackendError, naming the size, if the machine does not give that much.
  explicit Arena(Bytes capacity);

  [[nodiscard]] std::span<std::byte> bytes() { return {block_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* block) const;
  };
  std::unique_ptr<std::byte, Free> block_;
  std::size_t size_;
};

}  // namespace stagewright
