#pragma once

#include <string_view>

#include "runtime/comm/event.h"

namespace stagewright {

/// An ordered queue of one rank: an operation posted to it begins when the one before it is
/// done.  Streams are independent of each other; two operations that must not block each
/// other belong on two streams.  Made by Endpoint::make_stream, used with the communicators
/// of the same endpoint, posted to by one thread at a time.
///
/// Destroying a stream with unfinished operations ends the run of every rank (as a rank does
/// that unwinds from an error): afterwards nobody touches the buffers it was given.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  [[nodiscard]] virtual std::string_view label() const = 0;

  /// Completes when everything posted before has, and `after` has too; everything posted
  /// later waits for it.
  virtual Event record(const Event& after) = 0;

  /// The queue of a device that keeps this stream's order (under CUDA a cudaStream_t), on which a
  /// caller may put work of its own: what is posted before it comes before it.  Null where the host
  /// keeps the order.
  [[nodiscard]] virtual void* device_queue() { return nullptr; }
  /// Lets what is put on device_queue() from now on begin after `event`.  False, having done
  /// nothing, where the device does not know the event yet.  Throws as Event::wait does.
  [[nodiscard]] virtual bool begin_after(const Event& event) { return event.ready(); }

  /// Waits for everything posted so far.  Throws as Event::wait does.
  void synchronize() { record(Event::none()).wait(); }
};

}  // namespace stagewright
