#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/network/link_network.h"

namespace stagewright {

/// Max-min fair rates (Bertsekas and Gallager 1992, section 6.5.2, progressive filling): all flows
/// grow at one pace; one stops at its own rate, or when a link that it uses is full.  No flow
/// can then get more without taking from one that has as little or less.
/// REQUIRES: the network outlives the solver; no two threads in one solver.
class MaxMinSolver {
 public:
  explicit MaxMinSolver(const LinkNetwork& network);

  /// What a flow gets.
  struct Share {
    double speed = 1;                ///< of its rate alone
    std::optional<LinkIndex> limit;  ///< the full link that holds it back; absent at full speed
    friend bool operator==(const Share&, const Share&) = default;
  };
  using Flows = std::span<const RouteIndex>;
  using Shares = std::span<Share>;
  /// Shares of flows (given by their routes) that are all there are on their links.
  /// REQUIRES: one share per flow.
  void solve(Flows flows, Shares shares);

 private:
  struct LinkState {
    double left = 0;    ///< capacity that stopped flows leave
    double weight = 0;  ///< of flows that still grow
    std::int32_t flows = 0;
  };
  void enter(Flows flows);
  [[nodiscard]] double rate_of(RouteIndex route) const;
  [[nodiscard]] double lowest_level() const;
  void stop(RouteIndex route, double rate);
  void find_full(double level);
  [[nodiscard]] bool stop_at_own_rates(double level, Flows flows, Shares shares);
  void stop_on_full_links(double level, Flows flows, Shares shares);

  const LinkNetwork& network_;
  std::vector<LinkState> state_;      ///< by link; all idle between calls
  std::vector<LinkIndex> in_use_;     ///< links of the flows at hand
  std::vector<LinkIndex> full_;       ///< of those
  std::vector<std::size_t> growing_;  ///< flows
};

}  // namespace stagewright
