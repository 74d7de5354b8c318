#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "runtime/compute/compute_device.h"

namespace stagewright {

class CudaQueue;
class CudaScratch;

/// Attention in one kernel, as a library of the machine has it.
class FusedAttention {
 public:
  FusedAttention() = default;
  FusedAttention(const FusedAttention&) = delete;
  FusedAttention& operator=(const FusedAttention&) = delete;
  virtual ~FusedAttention() = default;

  /// Puts a kAttentionForward or kAttentionBackward on the queue; false, having done nothing, where
  /// the library does not take it.  Throws BackendError.
  [[nodiscard]] virtual bool run(const BoundOperation& bound) = 0;
  /// Which cases the library took and which it did not, and why; one line each.
  [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
};

/// By cuDNN; `library` names its file (empty: as SharedLibrary::open finds it).  `scratch` has the
/// workspaces.  An error, saying why, where this program was built without cuDNN's headers, the
/// machine has not the library or that does not take the device.
[[nodiscard]] Result<std::unique_ptr<FusedAttention>> make_fused_attention(
    const CudaQueue& queue, CudaScratch& scratch, const std::string& library);

}  // namespace stagewright
