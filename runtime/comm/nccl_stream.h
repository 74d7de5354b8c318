#pragma once

#include <cuda_runtime_api.h>

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "runtime/comm/nccl_lane.h"
#include "runtime/comm/stream.h"

namespace stagewright {

class NcclOperation;
class NcclRank;

/// A queue of a rank's operations and the stream of the device that keeps their order.  Guarded by
/// the rank's lock.
class NcclStream {
 public:
  NcclStream(std::string label, cudaStream_t device) : device_(device), label_(std::move(label)) {}

  [[nodiscard]] const std::string& label() const { return label_; }
  [[nodiscard]] cudaStream_t device() const { return device_; }

  std::deque<std::shared_ptr<NcclOperation>> unfinished;  ///< in order
  TimePoint last_done;                                    ///< of those that are done

 private:
  cudaStream_t device_;
  std::string label_;
};

/// What the endpoint hands out.
class NcclStreamHandle final : public Stream {
 public:
  NcclStreamHandle(std::shared_ptr<NcclRank> rank, std::string label);
  NcclStreamHandle(const NcclStreamHandle&) = delete;
  NcclStreamHandle& operator=(const NcclStreamHandle&) = delete;
  ~NcclStreamHandle() override;

  [[nodiscard]] std::string_view label() const override { return stream_->label(); }
  Event record(const Event& after) override { return post({}, after); }
  [[nodiscard]] void* device_queue() override { return stream_->device(); }
  [[nodiscard]] bool begin_after(const Event& event) override;

  /// Queues an operation and returns its event.
  Event post(std::vector<NcclPart> parts, const Event& after);
  [[nodiscard]] NcclRank& rank() const { return *rank_; }

 private:
  std::shared_ptr<NcclRank> rank_;
  std::shared_ptr<NcclStream> stream_;
};

}  // namespace stagewright
