#include "runtime/profiler/link_benchmark.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/model/op.h"
#include "core/profile/duration_samples.h"
#include "runtime/backend_error.h"
#include "runtime/comm/in_process.h"
#include "runtime/compute/cpu_device.h"

namespace stagewright {

namespace {

/// What is timed; absent: a send.
using Timed = std::optional<OpKind>;

struct Moment {
  TimePoint started;  ///< last rank ready
  TimePoint over;     ///< this rank goes on
};

/// Ones in the memory of a device.
class Elements {
 public:
  Elements(ComputeDevice& device, std::size_t count) : count_(count) {
    if (count == 0) {
      return;
    }
    const std::vector<float> ones(count, 1.0F);
    memory_ = device.allocate(Bytes(static_cast<std::int64_t>(count * sizeof(float))));
    device.upload(memory_->data(), std::as_bytes(std::span(ones)));
    device.synchronize();
  }
  [[nodiscard]] std::span<float> elements() {
    return {memory_ ? reinterpret_cast<float*>(memory_->data()) : nullptr, count_};
  }

 private:
  std::size_t count_;
  std::unique_ptr<DeviceMemory> memory_;
};

/// One rank's part of one measurement.
class LinkRank {
 public:
  LinkRank(Endpoint& endpoint, ComputeDevice& device, Timed timed, std::size_t elements)
      : endpoint_(endpoint),
        timed_(timed),
        part_(elements / static_cast<std::size_t>(endpoint.world().size())),
        other_(device, elements_beside_whole(timed, elements)),
        whole_(device, elements),
        stream_(endpoint.make_stream("links")) {}

  [[nodiscard]] Moment once() {
    endpoint_.world().barrier(*stream_, Event::none()).wait();
    const Event event = post();
    event.wait();
    return {event.times().started, endpoint_.clock().now()};
  }

 private:
  /// Of the buffer that an operation has beside the one of all elements.
  [[nodiscard]] std::size_t elements_beside_whole(Timed timed, std::size_t elements) const {
    if (timed == OpKind::kRingShift) {
      return elements;
    }
    return timed == OpKind::kAllGather || timed == OpKind::kReduceScatter ? part_ : 0;
  }

  [[nodiscard]] Event post() {
    Communicator& world = endpoint_.world();
    const std::span<const float> in =
        timed_ == OpKind::kReduceScatter ? whole_.elements() : other_.elements();
    const std::span<float> whole = whole_.elements();
    if (!timed_) {
      const int rank = world.rank();
      const bool sends = rank % 2 == 0;
      return sends
                 ? world.send(send_buffer(std::span<const float>(whole)),
                              rank + 1,
                              ChannelId(0),
                              *stream_,
                              Event::none())
                 : world.recv(recv_buffer(whole), rank - 1, ChannelId(0), *stream_, Event::none());
    }
    if (timed_ == OpKind::kAllReduce) {
      return world.all_reduce(recv_buffer(whole), Reduction::kSum, *stream_, Event::none());
    }
    if (timed_ == OpKind::kAllGather) {
      return world.all_gather(send_buffer(in), recv_buffer(whole), *stream_, Event::none());
    }
    if (timed_ == OpKind::kReduceScatter) {
      return world.reduce_scatter(send_buffer(in),
                                  recv_buffer(other_.elements()),
                                  Reduction::kSum,
                                  *stream_,
                                  Event::none());
    }
    if (timed_ == OpKind::kRingShift) {
      return world.ring_shift(send_buffer(in), recv_buffer(whole), *stream_, Event::none());
    }
    return world.broadcast(recv_buffer(whole), 0, *stream_, Event::none());
  }

  Endpoint& endpoint_;
  Timed timed_;
  std::size_t part_;
  Elements other_;
  Elements whole_;
  std::unique_ptr<Stream> stream_;
};

using Devices = std::vector<std::unique_ptr<ComputeDevice>>;

[[nodiscard]] Result<Devices> make_devices(const LinkBenchmarkOptions& options,
                                           std::int32_t ranks) {
  Devices devices;
  try {
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      devices.push_back(options.make_device ? options.make_device(RankId(rank))
                                            : make_cpu_device());
    }
  } catch (const BackendError& failure) {
    return tl::unexpected<Error>(failure.error());
  }
  return devices;
}

/// All repeats of one rank.
void repeat(Endpoint& endpoint,
            ComputeDevice& device,
            Timed timed,
            std::size_t elements,
            std::int32_t repeats,
            std::vector<Moment>& moments) {
  try {
    LinkRank part(endpoint, device, timed, elements);
    for (std::int32_t i = 0; i < repeats; ++i) {
      moments.push_back(part.once());
    }
  } catch (const BackendError& failure) {
    endpoint.abort(failure.error());
  }
}

/// Runs `repeats` of one measurement; per repeat the time from start to the last rank's end.
[[nodiscard]] std::vector<Duration> time_repeats(
    World& world, const Devices& devices, Timed timed, std::size_t elements, std::int32_t repeats) {
  const std::span<Endpoint* const> endpoints = world.endpoints();
  std::vector<std::vector<Moment>> moments(endpoints.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < endpoints.size(); ++rank) {
    threads.emplace_back(repeat,
                         std::ref(*endpoints[rank]),
                         std::ref(*devices[rank]),
                         timed,
                         elements,
                         repeats,
                         std::ref(moments[rank]));
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::vector<Duration> times;
  for (std::size_t i = 0; !world.failure() && i < static_cast<std::size_t>(repeats); ++i) {
    Moment all = moments.front()[i];
    for (const std::vector<Moment>& rank : moments) {
      all.started = std::max(all.started, rank[i].started);
      all.over = std::max(all.over, rank[i].over);
    }
    times.push_back(all.over - all.started);
  }
  return times;
}

[[nodiscard]] Result<std::vector<MeasuredLink>> measure_world(const LinkBenchmarkOptions& options,
                                                              std::int32_t ranks) {
  WorldSpec spec{.ranks = ranks, .groups = {}, .links = all_links(ranks, 1)};
  auto world = options.make_world ? options.make_world(spec) : make_in_process_world(spec);
  if (!world) {
    return pass_on(std::move(world));
  }
  const auto devices = make_devices(options, ranks);
  if (!devices) {
    return tl::unexpected<Error>(devices.error());
  }
  std::vector<Timed> all = {OpKind::kAllReduce,
                            OpKind::kAllGather,
                            OpKind::kReduceScatter,
                            OpKind::kBroadcast,
                            OpKind::kRingShift};
  if (ranks % 2 == 0) {
    all.emplace_back(std::nullopt);
  }
  std::vector<MeasuredLink> links;
  for (const Timed timed : all) {
    for (const Bytes size : options.sizes) {
      if (options.stop != nullptr && options.stop->load()) {
        return fail(ErrorCode::kBackendFailed, "the measurement was stopped", "links");
      }
      const auto width = static_cast<std::int64_t>(sizeof(float)) * ranks;
      const std::int64_t bytes = (size.count() + width - 1) / width * width;
      std::vector<Duration> times = time_repeats(**world,
                                                 *devices,
                                                 timed,
                                                 static_cast<std::size_t>(bytes) / sizeof(float),
                                                 options.warm_up + options.repeats);
      if ((*world)->failure()) {
        return tl::unexpected(*(*world)->failure());
      }
      times.erase(times.begin(), times.begin() + options.warm_up);
      links.push_back({std::string(timed ? name_of(*timed) : "send"),
                       timed ? ranks : 2,
                       Bytes(bytes),
                       summarize(std::move(times))});
    }
  }
  return links;
}

}  // namespace

Result<std::vector<MeasuredLink>> measure_links(const LinkBenchmarkOptions& options) {
  std::vector<MeasuredLink> links;
  for (const std::int32_t ranks : options.ranks) {
    if (ranks < 2) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("a link between {} ranks; it takes at least 2", ranks),
                  "ranks");
    }
    auto measured = measure_world(options, ranks);
    if (!measured) {
      return measured;
    }
    for (MeasuredLink& link : *measured) {
      // Sends are measured once, by the first world that has pairs.
      const bool known = std::ranges::any_of(links, [&link](const MeasuredLink& other) {
        return link.operation == "send" && other.operation == "send" && other.bytes == link.bytes;
      });
      if (!known) {
        links.push_back(std::move(link));
      }
    }
  }
  std::ranges::sort(links, in_order);
  return links;
}

}  // namespace stagewright
