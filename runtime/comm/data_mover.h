#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "runtime/comm/element_type.h"

namespace stagewright {

/// Moves and adds the bytes of ranks that live in one process.  Any thread, several at once; done
/// when a call returns.  Throws BackendError if a device fails.
class DataMover {
 public:
  DataMover() = default;
  DataMover(const DataMover&) = delete;
  DataMover& operator=(const DataMover&) = delete;
  virtual ~DataMover() = default;

  /// `out` is `in` or disjoint from it.
  virtual void copy(std::byte* out, const std::byte* in, std::size_t bytes) = 0;
  /// Every out = the reduction of all ins, in their order.  An out may be one of the ins.
  virtual void reduce(ElementType type,
                      Reduction reduction,
                      std::span<const std::byte* const> ins,
                      std::span<std::byte* const> outs,
                      std::size_t bytes) = 0;
};

/// For memory of the host.
[[nodiscard]] std::shared_ptr<DataMover> make_host_mover();

}  // namespace stagewright
