#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace standin {

/// How many operations of each stream are certain to be over: a vector clock (Lamport 1978, Mattern
/// 1988).
using Clock = std::map<std::uint64_t, std::uint64_t>;  // by stream

void merge(Clock& into, const Clock& from);

/// Knows which operations of a device are ordered, by streams, events and what the host has seen,
/// whenever they happen to run; and so finds two that touch the same bytes, one of them writing,
/// with no order between them.  One host per device: its threads know what any of them knows.
class HappensBefore {
 public:
  /// Something is put on a stream by the host of `device`.
  void enqueue(std::uint64_t stream, int device);
  [[nodiscard]] Clock clock_of(std::uint64_t stream);
  /// What is put on the stream from now on comes after what `clock` knows.
  void wait(std::uint64_t stream, const Clock& clock);
  /// The host of a device has seen that this is over.
  void seen(int device, const Clock& clock);
  /// The last operation of the stream touches bytes; what is wrong with that.
  [[nodiscard]] std::optional<std::string> touch(std::uint64_t stream,
                                                 const void* data,
                                                 std::size_t bytes,
                                                 bool writes,
                                                 const std::string& what);
  /// The bytes begin a new life.
  void forget(const void* data, std::size_t bytes);
  void forget_all();

 private:
  struct Access {
    std::uint64_t stream = 0;
    std::uint64_t operation = 0;
    std::string what;
  };
  /// Bytes with a history in common, up to `end`.
  struct Range {
    std::uintptr_t end = 0;
    std::optional<Access> written;
    std::vector<Access> read;  // since then, the last of each stream
  };
  using Ranges = std::map<std::uintptr_t, Range>;

  void cut(std::uintptr_t at);
  [[nodiscard]] static const Access* unordered(const Range& range, bool writes, const Clock& known);

  std::mutex mutex_;
  std::map<std::uint64_t, Clock> streams_;
  std::map<int, Clock> hosts_;
  Ranges ranges_;
};

[[nodiscard]] HappensBefore& happens_before();

}  // namespace standin
