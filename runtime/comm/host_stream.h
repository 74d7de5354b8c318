#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "runtime/comm/host_operation.h"
#include "runtime/comm/host_progress.h"
#include "runtime/comm/stream.h"
#include "runtime/comm/world.h"

namespace stagewright {

/// A stream whose operations are moved by its rank's HostProgress.
class HostStream final : public Stream {
 public:
  HostStream(HostProgress& progress, std::string label);
  HostStream(const HostStream&) = delete;
  HostStream& operator=(const HostStream&) = delete;
  ~HostStream() override;

  [[nodiscard]] std::string_view label() const override { return queue_.label; }
  Event record(const Event& after) override;

  /// Queues it and returns its event.
  Event post(std::shared_ptr<HostOperation> operation);
  [[nodiscard]] HostProgress& progress() const { return progress_; }

 private:
  HostProgress& progress_;
  HostQueue queue_;
};

[[nodiscard]] std::unique_ptr<EventSource> make_host_event(HostProgress& progress,
                                                           std::string label);

}  // namespace stagewright
