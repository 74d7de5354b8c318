#include "sim/engine/shared_devices.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace stagewright {

SharedDevices::SharedDevices(std::size_t devices,
                             std::size_t nodes,
                             double slowdown,
                             EventQueue& queue)
    : slowdown_(slowdown), queue_(queue), devices_(devices), device_of_(nodes, 0) {
  SW_CHECK(slowdown >= 1, "communication that does not speed computation up");
}

void SharedDevices::mark(std::int32_t device) {
  Device& place = devices_[static_cast<std::size_t>(device)];
  if (!place.changed) {
    place.changed = true;
    changed_.push_back(device);
  }
}

void SharedDevices::begin(NodeIndex task, std::int32_t device, Duration now, Duration alone) {
  device_of_[static_cast<std::size_t>(task)] = device;
  devices_[static_cast<std::size_t>(device)].tasks.push_back(
      {.node = task, .since = now, .left = static_cast<double>(alone.count())});
  mark(device);
}

bool SharedDevices::done(NodeIndex task, Duration now) {
  const std::int32_t device = device_of_[static_cast<std::size_t>(task)];
  std::vector<Task>& tasks = devices_[static_cast<std::size_t>(device)].tasks;
  const auto found = std::ranges::find(tasks, task, &Task::node);
  if (found == tasks.end() || found->speed == 0 || found->due != now) {
    return false;
  }
  *found = tasks.back();
  tasks.pop_back();
  mark(device);
  return true;
}

void SharedDevices::communication_begins(std::int32_t device) {
  if (devices_[static_cast<std::size_t>(device)].messages++ == 0) {
    mark(device);
  }
}

void SharedDevices::communication_ends(std::int32_t device) {
  if (--devices_[static_cast<std::size_t>(device)].messages == 0) {
    mark(device);
  }
}

void SharedDevices::settle_changed(Duration now) {
  for (const std::int32_t index : changed_) {
    Device& device = devices_[static_cast<std::size_t>(index)];
    device.changed = false;
    const double speed =
        1 / (static_cast<double>(device.tasks.size()) * (device.messages > 0 ? slowdown_ : 1.0));
    for (Task& task : device.tasks) {
      if (task.speed == speed) {
        continue;
      }
      task.left -= static_cast<double>((now - task.since).count()) * task.speed;
      task.since = now;
      task.speed = speed;
      task.due = now + Duration(std::llround(std::max(task.left, 0.0) / speed));
      queue_.push({task.due, task.node, Event::Kind::kDue});
    }
  }
  changed_.clear();
}

}  // namespace stagewright
