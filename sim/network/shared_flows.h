#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "sim/engine/event_queue.h"
#include "sim/network/link_network.h"
#include "sim/network/max_min.h"

namespace stagewright {

/// Flows under way over shared links.  A flow sends its bytes at its rate alone, or as fast as its
/// links allow (max-min fair); its last byte arrives one latency after it was sent.  Only flows
/// that are connected by links with one that came or went get new rates.  A flow that meets
/// nobody takes exactly its time alone, if it fits (it may stand for several, see TrafficClasses).
class SharedFlows {
 public:
  /// Which flows say when they leave their links.
  enum class Leaving : std::uint8_t {
    kSilent,  ///< only those that meet others
    kTold,    ///< all
  };
  /// Both must outlive this.  `nodes`: flows are called by numbers below it.
  SharedFlows(const LinkNetwork& network, EventQueue& queue, std::size_t nodes, Leaving leaving);

  /// Begins a flow that takes `alone` by itself, latency included.  The queue gets an event for it.
  void begin(NodeIndex node, RouteIndex route, Duration now, Duration alone);

  enum class Outcome : std::uint8_t {
    kOutdated,  ///< the flow has another time by now
    kLeft,      ///< it is off its links, and on its way
    kArrived,
    kLeftAndArrived,  ///< both at once
  };
  /// What an event of this flow means.
  Outcome due(NodeIndex node, Duration now);

  /// Gives new rates around what came and went; after the last event of a moment.
  void settle(Duration now) {
    if (!changed_.empty()) {
      settle_changed(now);
    }
  }

  /// Time that flows lost because the link was full, in flow seconds at full speed; by link.
  [[nodiscard]] const std::vector<double>& lost_seconds() const { return lost_; }
  void forget_losses() { lost_.assign(lost_.size(), 0.0); }

 private:
  enum class State : std::uint8_t {
    kAlone,   ///< at full speed since it began: its event is its arrival
    kShared,  ///< its event is its leaving
    kLeft,    ///< its event is its arrival
  };
  struct Flow {
    NodeIndex node = 0;
    RouteIndex route = 0;
    State state = State::kAlone;
    bool on_links = false;
    Duration latency{};
    Duration since{};  ///< it has had its speed
    double left = 0;   ///< work then, in picoseconds at full speed
    MaxMinSolver::Share share;
    Duration empty{};  ///< when `left` is nothing at this speed
    Duration due{};    ///< of its one valid event
  };

  void settle_changed(Duration now);
  std::int32_t take_slot();
  void release(NodeIndex node);
  bool put_on_links(std::int32_t slot, Duration now);
  void drop_finished(LinkIndex link, Duration now);
  void take_off_links(Flow& flow, std::int32_t slot);
  void mark(LinkIndex link);
  void mark_all(RouteIndex route);
  void collect(LinkIndex seed, Duration now);
  void collect_flow(std::int32_t slot);
  void share_out(Duration now);
  void advance(Flow& flow, Duration now);

  const LinkNetwork& network_;
  EventQueue& queue_;
  Leaving leaving_;
  MaxMinSolver solver_;
  std::vector<std::uint8_t> fits_;             ///< by route: alone it has its rate
  std::vector<std::int32_t> slot_of_;          ///< by node; below zero: not under way
  std::vector<Flow> flows_;                    ///< by slot
  std::vector<std::int32_t> free_;             ///< slots
  std::vector<std::vector<std::int32_t>> on_;  ///< by link: slots
  std::vector<LinkIndex> changed_;             ///< links
  std::vector<std::uint8_t> is_changed_;       ///< by link
  std::vector<std::uint8_t> link_seen_;        ///< while a component is collected
  std::vector<std::uint8_t> flow_seen_;        ///< by slot, likewise
  std::vector<LinkIndex> component_links_;
  std::vector<std::int32_t> component_;  ///< slots
  std::vector<RouteIndex> component_routes_;
  std::vector<MaxMinSolver::Share> shares_;
  std::vector<double> lost_;
};

}  // namespace stagewright
