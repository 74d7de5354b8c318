#include "sim/network/traffic_classes.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"
#include "sim/engine/like_ranks.h"

namespace stagewright {
namespace {

using Signature = std::vector<std::int64_t>;

/// Numbers equal signatures alike, in order of first appearance.
class Numbering {
 public:
  std::size_t of(Signature signature) {
    return numbers_.try_emplace(std::move(signature), numbers_.size()).first->second;
  }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }

 private:
  std::map<Signature, std::size_t> numbers_;
};

/// Weights that differ by rounding are equal.
std::int64_t nearest_whole(double weight) {
  constexpr double kSteps = 1e6;
  return std::llround(weight * kSteps);
}

void append_sorted(std::vector<std::pair<std::int64_t, std::int64_t>> pairs, Signature& signature) {
  std::ranges::sort(pairs);
  for (const auto& [first, second] : pairs) {
    signature.push_back(first);
    signature.push_back(second);
  }
}

}  // namespace

TrafficClasses::TrafficClasses(const Schedule& schedule,
                               const Cluster& cluster,
                               const ScheduleGeometry& geometry,
                               std::span<const std::int64_t> labels,
                               ClusterLinks& links,
                               const LinkNetwork& network)
    : ranks_(like_ranks(schedule, cluster, geometry)) {
  add_flows(schedule, links, network);
  kind_of_group_.resize(schedule.groups.size());
  number_flows(schedule);
  Numbering rank_numbers;
  for (std::size_t rank = 0; rank < labels.size(); ++rank) {
    labels_.ranks.push_back(static_cast<std::int64_t>(
        rank_numbers.of({static_cast<std::int64_t>(ranks_.class_of_rank[rank]), labels[rank]})));
  }
  for (const std::size_t kind : kind_of_group_) {
    labels_.groups.push_back(static_cast<std::int64_t>(kind));
  }
  for (std::size_t before = 0, now = refine(schedule, network); now != before;) {
    before = now;
    relabel(schedule);
    now = refine(schedule, network);
  }
  count_flows(network);
}

TrafficClasses::Flow TrafficClasses::flow_over(const LinkNetwork& network, RouteIndex route) {
  const auto uses = network.uses_of(route);
  return {.uses = Uses(uses.begin(), uses.end())};
}

/// Slow enough that every link has room for it.
void TrafficClasses::add_flows(const Schedule& schedule,
                               ClusterLinks& links,
                               const LinkNetwork& network) {
  constexpr Bytes kSize(1'000'000);
  constexpr Duration kTime = std::chrono::hours(1);
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const RankBinding& binding = schedule.ranks[rank];
    std::vector<Flow>& flows = messages_.emplace_back();
    for (const RankId peer : binding.peers) {
      const DeviceId there = schedule.ranks[peer.index()].device;
      flows.push_back(flow_over(network, links.message(binding.device, there, kSize, kTime, {})));
    }
  }
  for (const Group& group : schedule.groups) {
    std::vector<DeviceId> devices;
    for (const RankId member : group.members) {
      devices.push_back(schedule.ranks[member.index()].device);
    }
    // A ring and a direct exchange: links that are alike for both are alike.
    Flow flow = flow_over(network, links.collective(OpKind::kAllReduce, kSize, devices, kTime, {}));
    const Flow direct =
        flow_over(network, links.collective(OpKind::kAllToAll, kSize, devices, kTime, {}));
    for (const LinkUse& use : direct.uses) {
      const auto found = std::ranges::find(flow.uses, use.link, &LinkUse::link);
      if (found == flow.uses.end()) {
        flow.uses.push_back(use);
      }
    }
    collectives_.push_back(std::move(flow));
  }
}

void TrafficClasses::number_flows(const Schedule& schedule) {
  Numbering numbering;
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const std::size_t rank_class = ranks_.class_of_rank[rank];
    for (std::size_t slot = 0; slot < messages_[rank].size(); ++slot) {
      messages_[rank][slot].flow_class =
          numbering.of({0, static_cast<std::int64_t>(rank_class), static_cast<std::int64_t>(slot)});
    }
    const std::vector<GroupId>& groups = schedule.ranks[rank].groups;
    for (std::size_t slot = 0; slot < groups.size(); ++slot) {
      const std::size_t kind = ranks_.group_kinds[rank_class][slot];
      kind_of_group_[groups[slot].index()] = kind;
      collectives_[groups[slot].index()].flow_class =
          numbering.of({1, static_cast<std::int64_t>(kind)});
    }
  }
}

std::size_t TrafficClasses::number_links(const LinkNetwork& network) {
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> seen(network.links.size());
  const auto add = [&seen](const Flow& flow) {
    for (const LinkUse& use : flow.uses) {
      seen[static_cast<std::size_t>(use.link)].emplace_back(
          static_cast<std::int64_t>(flow.flow_class), nearest_whole(use.weight));
    }
  };
  for (const std::vector<Flow>& of_rank : messages_) {
    std::ranges::for_each(of_rank, add);
  }
  std::ranges::for_each(collectives_, add);
  Numbering numbering;
  class_of_link_.clear();
  link_of_class_.clear();
  for (std::size_t link = 0; link < seen.size(); ++link) {
    Signature signature{std::llround(network.links[link].capacity.count())};
    append_sorted(std::move(seen[link]), signature);
    class_of_link_.push_back(numbering.of(std::move(signature)));
    if (class_of_link_.back() == link_of_class_.size()) {
      link_of_class_.push_back(static_cast<LinkIndex>(link));
    }
  }
  return numbering.size();
}

/// Returns how many classes there are of everything.
std::size_t TrafficClasses::refine(const Schedule& schedule, const LinkNetwork& network) {
  ranks_ = classify_ranks(schedule, labels_);
  number_flows(schedule);
  return ranks_.lowest.size() + ranks_.members.size() + number_links(network);
}

/// What links a flow sees.
Signature TrafficClasses::view_of(const Flow& flow) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;
  for (const LinkUse& use : flow.uses) {
    seen.emplace_back(static_cast<std::int64_t>(class_of_link_[static_cast<std::size_t>(use.link)]),
                      nearest_whole(use.weight));
  }
  Signature signature;
  append_sorted(std::move(seen), signature);
  return signature;
}

void TrafficClasses::relabel(const Schedule& schedule) {
  Numbering rank_numbers;
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    Signature signature{static_cast<std::int64_t>(ranks_.class_of_rank[rank])};
    for (const Flow& flow : messages_[rank]) {
      signature.push_back(-1);
      const Signature view = view_of(flow);
      signature.insert(signature.end(), view.begin(), view.end());
    }
    labels_.ranks[rank] = static_cast<std::int64_t>(rank_numbers.of(std::move(signature)));
  }
  Numbering group_numbers;
  for (std::size_t group = 0; group < schedule.groups.size(); ++group) {
    Signature signature{static_cast<std::int64_t>(kind_of_group_[group])};
    const Signature view = view_of(collectives_[group]);
    signature.insert(signature.end(), view.begin(), view.end());
    labels_.groups[group] = static_cast<std::int64_t>(group_numbers.of(std::move(signature)));
  }
}

void TrafficClasses::count_flows(const LinkNetwork& network) {
  std::vector<bool> stands_for_all(network.links.size(), false);
  for (const LinkIndex link : link_of_class_) {
    stands_for_all[static_cast<std::size_t>(link)] = true;
  }
  const auto add = [&](const Flow& flow) {
    for (const LinkUse& use : flow.uses) {
      const auto link = static_cast<std::size_t>(use.link);
      if (stands_for_all[link]) {
        total_[{flow.flow_class, class_of_link_[link]}] += use.weight;
      }
    }
  };
  for (const std::vector<Flow>& of_rank : messages_) {
    std::ranges::for_each(of_rank, add);
  }
  std::ranges::for_each(collectives_, add);
}

TrafficClasses::Uses TrafficClasses::fold(const Flow& flow, std::span<const LinkUse> uses) const {
  Uses folded;
  for (const LinkUse& use : uses) {
    const std::size_t link_class = class_of_link_[static_cast<std::size_t>(use.link)];
    const LinkIndex link = link_of_class_[link_class];
    if (std::ranges::find(folded, link, &LinkUse::link) != folded.end()) {
      continue;  // full when the other one is
    }
    const auto own = std::ranges::find(flow.uses, use.link, &LinkUse::link);
    SW_CHECK(own != flow.uses.end(), "a link that the flow is known to use");
    folded.push_back({link, use.weight * total_.at({flow.flow_class, link_class}) / own->weight});
  }
  return folded;
}

TrafficClasses::Uses TrafficClasses::fold_message(RankId sender,
                                                  PeerSlot slot,
                                                  std::span<const LinkUse> uses) const {
  return fold(messages_[sender.index()][slot.index()], uses);
}

TrafficClasses::Uses TrafficClasses::fold_group(GroupId group,
                                                std::span<const LinkUse> uses) const {
  return fold(collectives_[group.index()], uses);
}

}  // namespace stagewright
