#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace standin {

/// Memory that device calls allocated.  Freed memory is kept for a while, filled with a pattern, so
/// that a use of it is told from a use of what came after it.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() = default;

  /// Null where an allocation was set to fail.
  [[nodiscard]] void* allocate(std::size_t bytes);
  /// What is wrong with freeing it.
  [[nodiscard]] std::optional<std::string> release(void* data);
  /// What is wrong with touching these bytes.
  [[nodiscard]] std::optional<std::string> objection(const void* data, std::size_t bytes);

  void fail_after(int allocations);
  void allow_pageable(bool allowed);

 private:
  struct Block {
    std::size_t bytes = 0;
    bool freed = false;
  };

  void forget_oldest();

  std::mutex mutex_;
  std::map<std::byte*, Block> blocks_;
  std::deque<std::byte*> freed_;
  std::size_t freed_bytes_ = 0;
  int until_failure_ = -1;
  bool pageable_ = false;
};

[[nodiscard]] DeviceMemory& device_memory();

}  // namespace standin
