#include "runtime/executor/host_values.h"

namespace stagewright {

HostValues::HostValues(Endpoint& endpoint, ComputeDevice& device)
    : endpoint_(endpoint),
      device_(device),
      stream_(endpoint.make_stream("host values")),
      one_(device.allocate(Bytes(sizeof(std::int32_t)))) {}

std::vector<std::byte> HostValues::gather(std::span<const std::byte> own) {
  Communicator& world = endpoint_.world();
  std::vector<std::byte> all(own.size() * static_cast<std::size_t>(world.size()));
  const std::unique_ptr<DeviceMemory> memory =
      device_.allocate(Bytes(static_cast<std::int64_t>(all.size())));
  std::byte* const part = memory->data() + static_cast<std::size_t>(world.rank()) * own.size();
  device_.upload(part, own);
  device_.synchronize();
  world
      .all_gather({part, own.size(), ElementType::kByte},
                  {memory->data(), all.size(), ElementType::kByte},
                  *stream_,
                  Event::none())
      .wait();
  device_.download(all, memory->data());
  return all;
}

std::int32_t HostValues::maximum(std::int32_t own) {
  device_.upload(one_->data(), std::as_bytes(std::span(&own, 1)));
  device_.synchronize();
  endpoint_.world()
      .all_reduce(RecvBuffer{one_->data(), 1, ElementType::kInt32},
                  Reduction::kMax,
                  *stream_,
                  Event::none())
      .wait();
  device_.download(std::as_writable_bytes(std::span(&own, 1)), one_->data());
  return own;
}

}  // namespace stagewright
