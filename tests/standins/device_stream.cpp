#include "device_stream.h"

#include <utility>

namespace standin {

std::uint64_t EventProgress::record(Clock known, int device) {
  const std::lock_guard lock(mutex_);
  known_ = std::move(known);
  device_ = device;
  return ++recorded_;
}

Clock EventProgress::known() {
  const std::lock_guard lock(mutex_);
  return known_;
}

int EventProgress::device() {
  const std::lock_guard lock(mutex_);
  return device_;
}

void EventProgress::reach(std::uint64_t recording) {
  {
    const std::lock_guard lock(mutex_);
    reached_ = std::max(reached_, recording);
    at_ = HostClock::now();
  }
  changed_.notify_all();
}

std::uint64_t EventProgress::recorded() {
  const std::lock_guard lock(mutex_);
  return recorded_;
}

bool EventProgress::reached(std::uint64_t recording) {
  const std::lock_guard lock(mutex_);
  return reached_ >= recording;
}

void EventProgress::await(std::uint64_t recording) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return reached_ >= recording; });
}

HostClock::time_point EventProgress::when() {
  const std::lock_guard lock(mutex_);
  return at_;
}

DeviceStream::DeviceStream(const Delays& delays, std::uint64_t number)
    : delays_(delays), random_(delays.seed * 7919U + static_cast<unsigned>(number)) {}

DeviceStream::~DeviceStream() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void DeviceStream::enqueue(std::function<void()> operation) {
  {
    const std::lock_guard lock(mutex_);
    operations_.push_back(std::move(operation));
    if (!thread_.joinable()) {
      thread_ = std::thread([this] { run(); });
    }
  }
  changed_.notify_all();
}

bool DeviceStream::idle() {
  const std::lock_guard lock(mutex_);
  return operations_.empty() && !busy_;
}

void DeviceStream::synchronize() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return operations_.empty() && !busy_; });
}

void DeviceStream::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !operations_.empty(); });
    if (operations_.empty()) {
      return;
    }
    const std::function<void()> operation = std::move(operations_.front());
    operations_.pop_front();
    busy_ = true;
    lock.unlock();
    delay();
    operation();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

void DeviceStream::delay() {
  if (delays_.longest_us > 0 && random_() % 4U == 0) {
    const auto longest = static_cast<unsigned>(delays_.longest_us);
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % (longest + 1U)));
  }
}

}  // namespace standin
