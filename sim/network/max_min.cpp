#include "sim/network/max_min.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"

namespace stagewright {
namespace {

/// Links whose levels differ by rounding only are full at once.
constexpr double kTie = 1 + 1e-12;

}  // namespace

MaxMinSolver::MaxMinSolver(const LinkNetwork& network)
    : network_(network), state_(network.links.size()) {}

void MaxMinSolver::enter(Flows flows) {
  in_use_.clear();
  growing_.clear();
  for (std::size_t f = 0; f < flows.size(); ++f) {
    growing_.push_back(f);
    for (const LinkUse& use : network_.uses_of(flows[f])) {
      const auto l = static_cast<std::size_t>(use.link);
      LinkState& link = state_[l];
      if (link.flows == 0) {
        link = {.left = network_.links[l].capacity.count(), .weight = 0, .flows = 0};
        in_use_.push_back(use.link);
      }
      link.weight += use.weight;
      ++link.flows;
    }
  }
}

double MaxMinSolver::rate_of(RouteIndex route) const {
  return network_.routes[static_cast<std::size_t>(route)].rate.count();
}

/// Rate at which the next link is full.
double MaxMinSolver::lowest_level() const {
  double lowest = std::numeric_limits<double>::infinity();
  for (const LinkIndex l : in_use_) {
    const LinkState& link = state_[static_cast<std::size_t>(l)];
    if (link.flows > 0) {
      lowest = std::min(lowest, std::max(link.left, 0.0) / link.weight);
    }
  }
  return lowest;
}

void MaxMinSolver::stop(RouteIndex route, double rate) {
  for (const LinkUse& use : network_.uses_of(route)) {
    LinkState& link = state_[static_cast<std::size_t>(use.link)];
    link.left -= use.weight * rate;
    link.weight -= use.weight;
    --link.flows;
  }
}

/// Which links are full is decided before any of their flows stops.
void MaxMinSolver::find_full(double level) {
  full_.clear();
  for (const LinkIndex l : in_use_) {
    const LinkState& link = state_[static_cast<std::size_t>(l)];
    if (link.flows > 0 && std::max(link.left, 0.0) / link.weight <= level * kTie) {
      full_.push_back(l);
    }
  }
}

/// Those that reach their own rate at this level leave their links to the others.
bool MaxMinSolver::stop_at_own_rates(double level, Flows flows, Shares shares) {
  return std::erase_if(growing_, [&](std::size_t f) {
           const double rate = rate_of(flows[f]);
           if (rate > level * kTie) {
             return false;
           }
           shares[f] = {.speed = 1, .limit = {}};
           stop(flows[f], rate);
           return true;
         }) > 0;
}

void MaxMinSolver::stop_on_full_links(double level, Flows flows, Shares shares) {
  find_full(level);
  std::erase_if(growing_, [&](std::size_t f) {
    const auto uses = network_.uses_of(flows[f]);
    const auto held = std::ranges::find_if(uses, [this](const LinkUse& use) {
      return std::ranges::find(full_, use.link) != full_.end();
    });
    if (held == uses.end()) {
      return false;
    }
    shares[f] = {.speed = level / rate_of(flows[f]), .limit = held->link};
    stop(flows[f], level);
    return true;
  });
}

void MaxMinSolver::solve(Flows flows, Shares shares) {
  SW_CHECK(flows.size() == shares.size(), "one share per flow");
  enter(flows);
  while (!growing_.empty()) {
    const double level = lowest_level();
    if (!stop_at_own_rates(level, flows, shares)) {
      stop_on_full_links(level, flows, shares);
    }
  }
}

}  // namespace stagewright
