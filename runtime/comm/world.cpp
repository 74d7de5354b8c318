#include "runtime/comm/world.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace stagewright {

namespace {

[[nodiscard]] bool in_range(RankId rank, int ranks) {
  return rank.value() >= 0 && rank.value() < ranks;
}

[[nodiscard]] Result<void> validate_group(const CommGroup& group, std::size_t index, int ranks) {
  const std::string where = fmt::format("/groups/{} '{}'", index, group.label);
  if (group.members.empty()) {
    return fail(ErrorCode::kInvalidInput, "the group has no members", where);
  }
  std::set<RankId> seen;
  for (const RankId member : group.members) {
    if (!in_range(member, ranks)) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("member {} is not a rank of this world of {}", member.value(), ranks),
                  where);
    }
    if (!seen.insert(member).second) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("rank {} is a member twice", member.value()),
                  where);
    }
  }
  return {};
}

}  // namespace

Result<void> validate(const WorldSpec& spec) {
  if (spec.ranks < 1) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("a world of {} ranks; it needs at least one", spec.ranks),
                "/ranks");
  }
  for (std::size_t i = 0; i < spec.groups.size(); ++i) {
    if (auto good = validate_group(spec.groups[i], i, spec.ranks); !good) {
      return good;
    }
  }
  std::set<std::tuple<RankId, RankId, ChannelId>> seen;
  for (std::size_t i = 0; i < spec.links.size(); ++i) {
    const CommLink& link = spec.links[i];
    const std::string text = fmt::format("rank {} -> rank {} on channel {}",
                                         link.source.value(),
                                         link.destination.value(),
                                         link.channel.value());
    if (!in_range(link.source, spec.ranks) || !in_range(link.destination, spec.ranks)) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{} leaves this world of {} ranks", text, spec.ranks),
                  fmt::format("/links/{}", i));
    }
    if (!seen.emplace(link.source, link.destination, link.channel).second) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{} is listed twice", text),
                  fmt::format("/links/{}", i));
    }
  }
  return {};
}

std::vector<CommLink> all_links(int ranks, int channels) {
  std::vector<CommLink> links;
  links.reserve(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks) *
                static_cast<std::size_t>(channels));
  for (int source = 0; source < ranks; ++source) {
    for (int destination = 0; destination < ranks; ++destination) {
      for (int channel = 0; channel < channels; ++channel) {
        links.push_back({RankId(source), RankId(destination), ChannelId(channel)});
      }
    }
  }
  return links;
}

}  // namespace stagewright
