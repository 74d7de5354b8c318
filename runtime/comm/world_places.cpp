#include "runtime/comm/world_places.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/hash.h"

namespace stagewright {

std::vector<WorldPlace> places_of(const WorldSpec& spec) {
  std::vector<WorldPlace> places;
  WorldPlace& all = places.emplace_back();
  all.label = "the world";
  for (int rank = 0; rank < spec.ranks; ++rank) {
    all.members.emplace_back(rank);
  }
  for (const CommGroup& group : spec.groups) {
    places.push_back({fmt::format("group '{}'", group.label), group.members});
  }
  for (const CommLink& link : spec.links) {
    places.push_back({fmt::format("from rank {} to rank {} on channel {}",
                                  link.source.value(),
                                  link.destination.value(),
                                  link.channel.value()),
                      {link.source, link.destination}});
  }
  return places;
}

std::string fingerprint(const WorldSpec& spec) {
  const std::vector<WorldPlace> places = places_of(spec);
  std::string text;
  for (const WorldPlace& place : places) {
    text += place.label;
    for (const RankId member : place.members) {
      text += fmt::format(";{}", member.value());
    }
    text += '\n';
  }
  return fmt::format("{} places, {}", places.size(), content_hash(text));
}

std::vector<std::vector<std::size_t>> disjoint_rounds(const std::vector<WorldPlace>& places) {
  std::vector<std::vector<std::size_t>> rounds;
  std::vector<std::vector<bool>> busy;  // by round and rank
  const std::size_t ranks = places.empty() ? 0 : places.front().members.size();
  for (std::size_t i = 0; i < places.size(); ++i) {
    std::vector<RankId> members = places[i].members;
    std::sort(members.begin(), members.end());
    members.erase(std::unique(members.begin(), members.end()), members.end());
    if (members.size() < 2) {
      continue;
    }
    std::size_t round = 0;
    const auto taken = [&](RankId rank) { return static_cast<bool>(busy[round][rank.index()]); };
    while (round < rounds.size() && std::any_of(members.begin(), members.end(), taken)) {
      ++round;
    }
    if (round == rounds.size()) {
      rounds.emplace_back();
      busy.emplace_back(ranks, false);
    }
    rounds[round].push_back(i);
    for (const RankId member : members) {
      busy[round][member.index()] = true;
    }
  }
  return rounds;
}

}  // namespace stagewright
