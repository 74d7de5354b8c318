#include "runtime/comm/data_mover.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/comm/reduce.h"

namespace stagewright {

namespace {

/// Of the running sum: it stays in the first-level cache next to a piece of one input.
constexpr std::size_t kSumBytes = std::size_t{8} * 1024;

class HostMover final : public DataMover {
 public:
  void copy(std::byte* out, const std::byte* in, std::size_t bytes) override {
    if (out != in && bytes > 0) {
      std::memcpy(out, in, bytes);
    }
  }

  void reduce(ElementType type,
              Reduction reduction,
              std::span<const std::byte* const> ins,
              std::span<std::byte* const> outs,
              std::size_t bytes) override {
    alignas(64) std::array<std::byte, kSumBytes> sum;  // NOLINT: written before it is read
    for (std::size_t done = 0; done < bytes; done += kSumBytes) {
      const std::size_t block = std::min(kSumBytes, bytes - done);
      std::memcpy(sum.data(), ins.front() + done, block);
      for (const std::byte* in : ins.subspan(1)) {
        accumulate(type, reduction, sum.data(), in + done, block / size_of(type));
      }
      for (std::byte* out : outs) {
        std::memcpy(out + done, sum.data(), block);
      }
    }
  }
};

}  // namespace

std::shared_ptr<DataMover> make_host_mover() {
  return std::make_shared<HostMover>();
}

}  // namespace stagewright
