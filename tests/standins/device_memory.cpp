#include "device_memory.h"

#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "happens_before.h"

namespace standin {

namespace {

constexpr std::size_t kAlignment = 256;  // of cudaMalloc
constexpr std::size_t kKeptFreed = std::size_t{64} << 20;
constexpr int kFreedPattern = 0xDB;

}  // namespace

void* DeviceMemory::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (until_failure_ >= 0 && until_failure_-- == 0) {
    return nullptr;
  }
  const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  auto* const data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded));
  if (data != nullptr) {
    blocks_[data] = Block{bytes, false};
    happens_before().forget(data, bytes);
  }
  return data;
}

std::optional<std::string> DeviceMemory::release(void* data) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(static_cast<std::byte*>(data));
  if (found == blocks_.end()) {
    return "frees memory that no device call allocated";
  }
  if (found->second.freed) {
    return "frees memory twice";
  }
  found->second.freed = true;
  std::memset(data, kFreedPattern, found->second.bytes);
  freed_.push_back(found->first);
  freed_bytes_ += found->second.bytes;
  while (freed_bytes_ > kKeptFreed) {
    forget_oldest();
  }
  return std::nullopt;
}

void DeviceMemory::forget_oldest() {
  const auto oldest = blocks_.find(freed_.front());
  freed_.pop_front();
  freed_bytes_ -= oldest->second.bytes;
  std::free(oldest->first);
  blocks_.erase(oldest);
}

std::optional<std::string> DeviceMemory::objection(const void* data, std::size_t bytes) {
  if (bytes == 0) {
    return std::nullopt;
  }
  const std::lock_guard lock(mutex_);
  auto* const first = static_cast<std::byte*>(const_cast<void*>(data));
  auto next = blocks_.upper_bound(first);
  if (next != blocks_.begin()) {
    const auto& [start, block] = *std::prev(next);
    const auto offset = static_cast<std::size_t>(first - start);
    if (offset < block.bytes) {
      if (block.freed) {
        return fmt::format("uses memory after it was freed (byte {} of {})", offset, block.bytes);
      }
      if (bytes > block.bytes - offset) {
        return fmt::format(
            "uses {} bytes at byte {} of an allocation of {}", bytes, offset, block.bytes);
      }
      return std::nullopt;
    }
  }
  if (pageable_) {
    return std::nullopt;
  }
  return fmt::format("uses {} bytes that no device call allocated", bytes);
}

void DeviceMemory::fail_after(int allocations) {
  const std::lock_guard lock(mutex_);
  until_failure_ = allocations;
}

void DeviceMemory::allow_pageable(bool allowed) {
  const std::lock_guard lock(mutex_);
  pageable_ = allowed;
}

DeviceMemory& device_memory() {
  static auto* const memory = new DeviceMemory;  // streams may outlive static objects
  return *memory;
}

}  // namespace standin
