#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "runtime/comm/nccl_event.h"
#include "runtime/comm/nccl_lane.h"

namespace stagewright {

class NcclStream;

/// A collective, a message, an exchange or a mark, which is also its event.  What the device does
/// of it lies between two events of the device, on its stream.  Everything but what the atomic
/// state guards is guarded by the rank's lock.
class NcclOperation final : public NcclEvent {
 public:
  enum class State : std::uint8_t {
    kQueued,  ///< the device does not know it yet
    kStaged,  ///< begun, but a message to this rank itself waits for its other side
    kIssued,  ///< the device does it when its turn comes
    kDone,
    kFailed,
  };

  NcclOperation(std::shared_ptr<NcclRank> rank,
                std::shared_ptr<NcclStream> stream,
                Event after,
                std::vector<NcclPart> parts);

  [[nodiscard]] bool ready() const override;
  [[nodiscard]] std::optional<Error> failure() const override;
  [[nodiscard]] CommTimes times() const override;
  [[nodiscard]] std::string describe() const override;

  /// By the rank.
  [[nodiscard]] State state() const { return state_.load(); }
  void set_state(State state) { state_.store(state); }
  void fail(Error error);

  std::shared_ptr<NcclStream> stream;  ///< null once it is done
  Event after;                         ///< none once it is done
  std::vector<NcclPart> parts;         ///< none for a mark
  std::size_t unmatched = 0;           ///< of a staged operation
  cudaEvent_t begun = nullptr;
  cudaEvent_t ended = nullptr;
  CommTimes stamps;  ///< complete when it is done

 private:
  std::string stream_label_;
  std::optional<Error> error_;  // set before the state
  std::atomic<State> state_ = State::kQueued;
};

}  // namespace stagewright
