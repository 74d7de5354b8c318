#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "happens_before.h"

namespace standin {

struct Capture;

using HostClock = std::chrono::steady_clock;

/// How often an event was recorded, and which of these recordings its stream has reached.
class EventProgress {
 public:
  /// `known`: what is over when the stream reaches it; `device`: of the stream.
  [[nodiscard]] std::uint64_t record(Clock known, int device);
  [[nodiscard]] Clock known();
  [[nodiscard]] int device();
  void reach(std::uint64_t recording);
  [[nodiscard]] std::uint64_t recorded();
  [[nodiscard]] bool reached(std::uint64_t recording);
  void await(std::uint64_t recording);
  [[nodiscard]] HostClock::time_point when();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t recorded_ = 0;
  std::uint64_t reached_ = 0;
  HostClock::time_point at_;
  Clock known_;
  int device_ = 0;
};

struct Delays {
  unsigned seed = 1;
  int longest_us = 0;
};

/// A queue whose operations run one after the other on a thread of their own, each after a random
/// delay, as an operation of a device begins when the device gets to it.
class DeviceStream {
 public:
  DeviceStream(const Delays& delays, std::uint64_t number);
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;
  ~DeviceStream();

  void enqueue(std::function<void()> operation);
  [[nodiscard]] bool idle();
  void synchronize();

 private:
  void run();
  void delay();

  Delays delays_;
  std::mt19937 random_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> operations_;
  bool busy_ = false;
  bool stopping_ = false;
  std::thread thread_;  // started by the first operation
};

}  // namespace standin

/// The handles of the CUDA runtime.
struct CUevent_st {
  std::shared_ptr<standin::EventProgress> progress = std::make_shared<standin::EventProgress>();
  bool timed = true;
};
struct CUstream_st {
  standin::DeviceStream stream;
  std::uint64_t number = 0;
  int device = 0;
  std::shared_ptr<standin::Capture> capture;  ///< what goes into a graph instead
};
