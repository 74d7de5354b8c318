#include "sim/network/shared_flows.h"

#include <algorithm>
#include <cmath>

namespace stagewright {

SharedFlows::SharedFlows(const LinkNetwork& network,
                         EventQueue& queue,
                         std::size_t nodes,
                         Leaving leaving)
    : network_(network),
      queue_(queue),
      leaving_(leaving),
      solver_(network),
      slot_of_(nodes, -1),
      on_(network.links.size()),
      is_changed_(network.links.size(), 0),
      link_seen_(network.links.size(), 0),
      lost_(network.links.size(), 0.0) {
  for (std::size_t route = 0; route < network.routes.size(); ++route) {
    bool fits = true;
    for (const LinkUse& use : network.uses_of(static_cast<RouteIndex>(route))) {
      constexpr double kRounding = 1 + 1e-9;
      fits = fits &&
             network.routes[route].rate.count() * use.weight <=
                 network.links[static_cast<std::size_t>(use.link)].capacity.count() * kRounding;
    }
    fits_.push_back(fits ? 1 : 0);
  }
}

std::int32_t SharedFlows::take_slot() {
  if (free_.empty()) {
    flows_.emplace_back();
    flow_seen_.push_back(0);
    return static_cast<std::int32_t>(flows_.size() - 1);
  }
  const std::int32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void SharedFlows::release(NodeIndex node) {
  std::int32_t& slot = slot_of_[static_cast<std::size_t>(node)];
  free_.push_back(slot);
  slot = -1;
}

void SharedFlows::mark(LinkIndex link) {
  std::uint8_t& changed = is_changed_[static_cast<std::size_t>(link)];
  if (changed == 0) {
    changed = 1;
    changed_.push_back(link);
  }
}

/// Links that somebody is left on.
void SharedFlows::mark_all(RouteIndex route) {
  for (const LinkUse& use : network_.uses_of(route)) {
    if (!on_[static_cast<std::size_t>(use.link)].empty()) {
      mark(use.link);
    }
  }
}

/// Flows that ran alone and are through leave their links when somebody looks.
void SharedFlows::drop_finished(LinkIndex link, Duration now) {
  const std::vector<std::int32_t>& on = on_[static_cast<std::size_t>(link)];
  for (std::size_t i = 0; i < on.size();) {
    const std::int32_t slot = on[i];
    Flow& flow = flows_[static_cast<std::size_t>(slot)];
    if (flow.state == State::kAlone && flow.empty <= now) {
      take_off_links(flow, slot);  // another one takes its place
    } else {
      ++i;
    }
  }
}

/// Whether somebody else is on one of them.
bool SharedFlows::put_on_links(std::int32_t slot, Duration now) {
  Flow& flow = flows_[static_cast<std::size_t>(slot)];
  bool meets = false;
  for (const LinkUse& use : network_.uses_of(flow.route)) {
    drop_finished(use.link, now);
    std::vector<std::int32_t>& on = on_[static_cast<std::size_t>(use.link)];
    meets = meets || !on.empty();
    on.push_back(slot);
  }
  flow.on_links = true;
  return meets;
}

void SharedFlows::take_off_links(Flow& flow, std::int32_t slot) {
  for (const LinkUse& use : network_.uses_of(flow.route)) {
    std::vector<std::int32_t>& on = on_[static_cast<std::size_t>(use.link)];
    const auto place = std::ranges::find(on, slot);
    *place = on.back();
    on.pop_back();
  }
  flow.on_links = false;
}

void SharedFlows::begin(NodeIndex node, RouteIndex route, Duration now, Duration alone) {
  const Duration latency =
      std::min(network_.routes[static_cast<std::size_t>(route)].latency, alone);
  const Duration sending = alone - latency;
  const std::int32_t slot = take_slot();
  slot_of_[static_cast<std::size_t>(node)] = slot;
  Flow& flow = flows_[static_cast<std::size_t>(slot)];
  flow = {.node = node,
          .route = route,
          .state = leaving_ == Leaving::kTold ? State::kShared : State::kAlone,
          .on_links = false,
          .latency = latency,
          .since = now,
          .left = static_cast<double>(sending.count()),
          .share = {},
          .empty = now + sending,
          .due = {}};
  flow.due = flow.state == State::kAlone ? now + alone : flow.empty;
  queue_.push({flow.due, node, Event::Kind::kDue});
  if (sending > Duration{} &&
      (put_on_links(slot, now) || fits_[static_cast<std::size_t>(route)] == 0)) {
    mark_all(route);
  }
}

SharedFlows::Outcome SharedFlows::due(NodeIndex node, Duration now) {
  const std::int32_t slot = slot_of_[static_cast<std::size_t>(node)];
  if (slot < 0 || flows_[static_cast<std::size_t>(slot)].due != now) {
    return Outcome::kOutdated;
  }
  Flow& flow = flows_[static_cast<std::size_t>(slot)];
  const bool leaves = flow.state == State::kShared;
  if (leaves) {
    advance(flow, now);
  }
  if (flow.on_links) {
    take_off_links(flow, slot);
    if (leaves) {
      mark_all(flow.route);
    }
  }
  if (leaves && flow.latency > Duration{}) {
    flow.state = State::kLeft;
    flow.due = now + flow.latency;
    queue_.push({flow.due, node, Event::Kind::kDue});
    return Outcome::kLeft;
  }
  release(node);
  return leaves ? Outcome::kLeftAndArrived : Outcome::kArrived;
}

/// Counts what the flow has sent, and what it could not, until now.
void SharedFlows::advance(Flow& flow, Duration now) {
  const auto elapsed = static_cast<double>((now - flow.since).count());
  flow.left = std::max(flow.left - elapsed * flow.share.speed, 0.0);
  if (flow.share.limit) {
    lost_[static_cast<std::size_t>(*flow.share.limit)] += elapsed * (1 - flow.share.speed) * 1e-12;
  }
  flow.since = now;
}

/// Adds the flow and its links to the component, if they are not in it yet.
void SharedFlows::collect_flow(std::int32_t slot) {
  if (flow_seen_[static_cast<std::size_t>(slot)] != 0) {
    return;
  }
  flow_seen_[static_cast<std::size_t>(slot)] = 1;
  component_.push_back(slot);
  for (const LinkUse& use : network_.uses_of(flows_[static_cast<std::size_t>(slot)].route)) {
    std::uint8_t& seen = link_seen_[static_cast<std::size_t>(use.link)];
    if (seen == 0) {
      seen = 1;
      component_links_.push_back(use.link);
    }
  }
}

/// The flows that `seed` connects.
void SharedFlows::collect(LinkIndex seed, Duration now) {
  component_links_.assign(1, seed);
  component_.clear();
  link_seen_[static_cast<std::size_t>(seed)] = 1;
  for (std::size_t i = 0; i < component_links_.size(); ++i) {
    const LinkIndex link = component_links_[i];
    drop_finished(link, now);
    for (const std::int32_t slot : on_[static_cast<std::size_t>(link)]) {
      collect_flow(slot);
    }
  }
  for (const LinkIndex link : component_links_) {
    link_seen_[static_cast<std::size_t>(link)] = 0;
    is_changed_[static_cast<std::size_t>(link)] = 0;
  }
  for (const std::int32_t slot : component_) {
    flow_seen_[static_cast<std::size_t>(slot)] = 0;
  }
}

void SharedFlows::share_out(Duration now) {
  // In one order whatever way the component was found.
  std::ranges::sort(component_, {}, [this](std::int32_t slot) {
    return flows_[static_cast<std::size_t>(slot)].node;
  });
  component_routes_.clear();
  bool slowed = false;
  for (const std::int32_t slot : component_) {
    const Flow& flow = flows_[static_cast<std::size_t>(slot)];
    component_routes_.push_back(flow.route);
    slowed = slowed || flow.state == State::kShared;
  }
  shares_.resize(component_.size());
  solver_.solve(component_routes_, shares_);
  for (const MaxMinSolver::Share& share : shares_) {
    slowed = slowed || share.limit.has_value();
  }
  if (!slowed) {
    return;  // there is room for all of them
  }
  for (std::size_t i = 0; i < component_.size(); ++i) {
    Flow& flow = flows_[static_cast<std::size_t>(component_[i])];
    const bool new_share = flow.share != shares_[i];
    if (new_share) {
      advance(flow, now);
      flow.share = shares_[i];
      flow.empty = now + Duration(std::llround(flow.left / flow.share.speed));
    }
    if (new_share || flow.state == State::kAlone) {
      flow.state = State::kShared;
      flow.due = flow.empty;
      queue_.push({flow.due, flow.node, Event::Kind::kDue});
    }
  }
}

void SharedFlows::settle_changed(Duration now) {
  for (const LinkIndex link : changed_) {
    if (is_changed_[static_cast<std::size_t>(link)] != 0) {
      collect(link, now);
      if (!component_.empty()) {
        share_out(now);
      }
    }
  }
  changed_.clear();
}

}  // namespace stagewright
