#pragma once

#include <memory>
#include <optional>
#include <string>

#include "runtime/comm/event.h"
#include "runtime/comm/world.h"

namespace stagewright {

class NcclRank;

/// An event of a rank whose communication a device does.
class NcclEvent : public EventState {
 public:
  explicit NcclEvent(std::shared_ptr<NcclRank> rank) : rank_(std::move(rank)) {}

  void wait() override;
  /// "all_reduce of 4 float32 (sum) (#1 of group 'all')"
  [[nodiscard]] virtual std::string describe() const = 0;

  [[nodiscard]] NcclRank& rank() const { return *rank_; }

 private:
  std::shared_ptr<NcclRank> rank_;
};

/// An event that code on the host completes.
[[nodiscard]] std::unique_ptr<EventSource> make_nccl_host_event(std::shared_ptr<NcclRank> rank,
                                                                std::string label);

}  // namespace stagewright
