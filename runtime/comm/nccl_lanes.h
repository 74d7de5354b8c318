#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/nccl_lane.h"
#include "runtime/comm/world_places.h"
#include "runtime/libraries/cuda_library.h"
#include "runtime/libraries/nccl_library.h"

namespace stagewright {

/// The places of a world at which one rank is a member, each with its communicator.
class NcclLanes {
 public:
  struct Setup {
    std::shared_ptr<const CudaLibrary> cuda;
    std::shared_ptr<const NcclLibrary> nccl;
    std::vector<WorldPlace> places;
    RankId rank;
    int device = 0;
    ncclUniqueId id{};
  };

  /// All ranks call it: makes every communicator, in one order on all ranks, and lets each do a
  /// first operation, so that no later call blocks the host on making connections.  Throws
  /// BackendError.  May hang where another rank fails.
  [[nodiscard]] static std::unique_ptr<NcclLanes> make(Setup setup);
  NcclLanes(const NcclLanes&) = delete;
  NcclLanes& operator=(const NcclLanes&) = delete;
  /// REQUIRES: drained, unless aborted.
  ~NcclLanes();

  /// Null where this rank is no member.
  [[nodiscard]] NcclLane* at(std::size_t place) { return lanes_[place].get(); }
  [[nodiscard]] std::size_t size() const { return lanes_.size(); }
  /// Ends what the communicators do; none can be used any more.
  void abort();
  /// Returns when the device has nothing left to do on any lane, or false at the deadline.
  [[nodiscard]] bool drain(std::chrono::steady_clock::time_point deadline);

 private:
  explicit NcclLanes(Setup setup) : setup_(std::move(setup)) {}

  void add_lanes();
  void connect_world();
  void split(const std::vector<std::size_t>& round);
  void prime(NcclLane& lane);

  Setup setup_;
  std::vector<std::unique_ptr<NcclLane>> lanes_;  // by place
  void* scratch_ = nullptr;
  bool aborted_ = false;
};

}  // namespace stagewright
