#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "sim/engine/timing_graph.h"

namespace stagewright {

/// What happens to a node, and when.
struct Event {
  enum class Kind : std::int32_t {
    kBegin,  ///< all that it waits for is done
    kDue,    ///< it is done, or has left its links, unless it has been given another time since
  };
  Duration at{};
  NodeIndex node = 0;
  Kind kind = Kind::kBegin;
  friend bool operator==(const Event&, const Event&) = default;
  /// A total order of all events that differ, so that runs are the same whatever is pushed first.
  [[nodiscard]] bool before(const Event& other) const {
    if (at != other.at) {
      return at < other.at;
    }
    return node != other.node ? node < other.node : kind < other.kind;
  }
};

/// Events by time, then node: a heap of four children per parent, two to a cache line (LaMarca and
/// Ladner 1996).  Keeps its memory when it is emptied.  Handling one event most often makes
/// another, so the place of the first stays open until the next one is asked for: what is pushed by
/// then takes it, and is moved once instead of twice.
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.size() == (open_ ? 1U : 0U); }
  /// REQUIRES: !empty().
  [[nodiscard]] const Event& next() {
    close();
    return heap_.front();
  }

  void push(const Event& event) {
    if (open_) {
      open_ = false;
      sink(event);
      return;
    }
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / kChildren;
      if (!event.before(heap_[parent])) {
        break;
      }
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = event;
  }

  /// REQUIRES: !empty().
  Event pop() {
    close();
    open_ = true;
    return heap_.front();
  }

 private:
  static constexpr std::size_t kChildren = 4;

  /// Fills the first place with the last event.
  void close() {
    if (open_) {
      open_ = false;
      const Event last = heap_.back();
      heap_.pop_back();
      if (!heap_.empty()) {
        sink(last);
      }
    }
  }

  /// Puts an event where it belongs on the way down from the first place.
  void sink(const Event& event) {
    const std::size_t size = heap_.size();
    std::size_t hole = 0;
    while (true) {
      const std::size_t begin = hole * kChildren + 1;
      if (begin >= size) {
        break;
      }
      const std::size_t end = begin + kChildren < size ? begin + kChildren : size;
      std::size_t least = begin;
      for (std::size_t child = begin + 1; child < end; ++child) {
        least = heap_[child].before(heap_[least]) ? child : least;
      }
      if (!heap_[least].before(event)) {
        break;
      }
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = event;
  }

  std::vector<Event> heap_;
  bool open_ = false;  ///< the first place holds an event that was popped
};

}  // namespace stagewright
