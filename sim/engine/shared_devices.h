#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "sim/engine/event_queue.h"

namespace stagewright {

/// Computation on devices where it may not have its full speed: ranks that share a device take
/// turns fast enough to run at equal speeds, and communication that begins or ends at the device
/// slows all of them.
class SharedDevices {
 public:
  /// `slowdown`: times that computation takes while its device communicates, at least 1.  The queue
  /// must outlive this.
  SharedDevices(std::size_t devices, std::size_t nodes, double slowdown, EventQueue& queue);

  void begin(NodeIndex task, std::int32_t device, Duration now, Duration alone);
  /// Whether the task is done, or the event outdated.
  [[nodiscard]] bool done(NodeIndex task, Duration now);

  void communication_begins(std::int32_t device);
  void communication_ends(std::int32_t device);

  /// Gives new speeds where something changed; after the last event of a moment.
  void settle(Duration now) {
    if (!changed_.empty()) {
      settle_changed(now);
    }
  }

 private:
  struct Task {
    NodeIndex node = 0;
    Duration since{};
    double left = 0;   ///< work then, in picoseconds at full speed
    double speed = 0;  ///< none yet
    Duration due{};
  };
  struct Device {
    std::vector<Task> tasks;
    std::int32_t messages = 0;
    bool changed = false;
  };

  void settle_changed(Duration now);
  void mark(std::int32_t device);

  double slowdown_;
  EventQueue& queue_;
  std::vector<Device> devices_;
  std::vector<std::int32_t> device_of_;  ///< by node, since it began
  std::vector<std::int32_t> changed_;
};

}  // namespace stagewright
