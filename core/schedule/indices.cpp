#include "core/schedule/indices.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/schedule/program_indices.h"

namespace stagewright {
namespace {

using Check = std::optional<Wrong>;

Check check_sizes(const Schedule& schedule) {
  for (const auto& [value, name] : {std::pair(schedule.stages, "/stages"),
                                    std::pair(schedule.micro_batches, "/micro_batches"),
                                    std::pair(schedule.micro_batch_size, "/micro_batch_size"),
                                    std::pair(schedule.sequence, "/sequence"),
                                    std::pair(schedule.replicas, "/replicas"),
                                    std::pair(schedule.sequence_parts, "/sequence_parts")}) {
    if (value < 1) {
      return Wrong{name, fmt::format("is {}; it must be 1 or more", value)};
    }
  }
  // Tables are made by stage and micro-batch, so counts that no list bears out are refused first.
  std::size_t stages = 0;
  std::size_t actions = 0;
  for (const RankProgram& program : schedule.programs) {
    stages += program.stages.size();
    actions += program.actions.size();
  }
  if (static_cast<std::size_t>(schedule.stages) > stages) {
    return Wrong{"/stages",
                 fmt::format("is {}, but the programs hold {}", schedule.stages, stages)};
  }
  if (static_cast<std::size_t>(schedule.micro_batches) > actions) {
    return Wrong{
        "/micro_batches",
        fmt::format("is {}, but there are only {} actions", schedule.micro_batches, actions)};
  }
  if (static_cast<std::size_t>(schedule.replicas) > schedule.ranks.size()) {
    return Wrong{
        "/replicas",
        fmt::format(
            "is {}, but there are only {} ranks", schedule.replicas, schedule.ranks.size())};
  }
  if (static_cast<std::size_t>(schedule.sequence_parts) > schedule.ranks.size()) {
    return Wrong{
        "/sequence_parts",
        fmt::format(
            "is {}, but there are only {} ranks", schedule.sequence_parts, schedule.ranks.size())};
  }
  if (schedule.sequence_parts > 1 && schedule.sequence % (2 * schedule.sequence_parts) != 0) {
    return Wrong{"/sequence_parts",
                 fmt::format("is {}; twice that does not divide the {} tokens of a sequence",
                             schedule.sequence_parts,
                             schedule.sequence)};
  }
  if (schedule.streams.empty()) {
    return Wrong{"/streams", "names no stream; the first one computes"};
  }
  if (schedule.ranks.empty()) {
    return Wrong{"/ranks", "holds no rank"};
  }
  return std::nullopt;
}

Check check_groups(const Schedule& schedule) {
  for (std::size_t i = 0; i < schedule.groups.size(); ++i) {
    const std::string place = fmt::format("/groups/{}/members", i);
    std::vector<RankId> members = schedule.groups[i].members;
    std::ranges::sort(members);
    if (members.empty()) {
      return Wrong{place, "a group needs members"};
    }
    if (!lies_in(members.front(), schedule.ranks) || !lies_in(members.back(), schedule.ranks)) {
      const RankId bad = lies_in(members.back(), schedule.ranks) ? members.front() : members.back();
      return outside(place, "rank", bad.value(), schedule.ranks.size());
    }
    if (const auto twice = std::ranges::adjacent_find(members); twice != members.end()) {
      return Wrong{place, fmt::format("rank {} is named twice", twice->value())};
    }
  }
  return std::nullopt;
}

template <class Tag>
bool has_duplicates(const std::vector<Id<Tag>>& ids) {
  return std::set(ids.begin(), ids.end()).size() != ids.size();
}

Check check_memberships(const Schedule& schedule, RankId rank, const std::string& place) {
  const RankBinding& binding = schedule.ranks[rank.index()];
  if (binding.positions.size() != binding.groups.size()) {
    return Wrong{
        place + "/positions",
        fmt::format("{} positions for {} groups", binding.positions.size(), binding.groups.size())};
  }
  for (std::size_t slot = 0; slot < binding.groups.size(); ++slot) {
    if (!lies_in(binding.groups[slot], schedule.groups)) {
      return outside(
          place + "/groups", "group", binding.groups[slot].value(), schedule.groups.size());
    }
    const std::vector<RankId>& members = schedule.groups[binding.groups[slot].index()].members;
    const std::int32_t position = binding.positions[slot];
    if (position < 0 || static_cast<std::size_t>(position) >= members.size() ||
        members[static_cast<std::size_t>(position)] != rank) {
      return Wrong{fmt::format("{}/positions/{}", place, slot),
                   fmt::format("rank {} is not member {} of group {}",
                               rank.value(),
                               position,
                               binding.groups[slot].value())};
    }
  }
  if (has_duplicates(binding.groups)) {
    return Wrong{place + "/groups", "two slots mean the same group"};
  }
  return std::nullopt;
}

Check check_rank(const Schedule& schedule, RankId rank, const std::vector<SlotUse>& slots) {
  const RankBinding& binding = schedule.ranks[rank.index()];
  const std::string place = fmt::format("/ranks/{}", rank.value());
  if (!lies_in(binding.program, schedule.programs)) {
    return outside(
        place + "/program", "program", binding.program.value(), schedule.programs.size());
  }
  if (binding.device.value() < 0) {
    return Wrong{place + "/device", "is negative"};
  }
  if (binding.replica < 0 || binding.replica >= schedule.replicas) {
    return outside(place + "/replica",
                   "replica",
                   binding.replica,
                   static_cast<std::size_t>(schedule.replicas));
  }
  if (binding.sequence_part < 0 || binding.sequence_part >= schedule.sequence_parts) {
    return outside(place + "/sequence_part",
                   "part",
                   binding.sequence_part,
                   static_cast<std::size_t>(schedule.sequence_parts));
  }
  if (Check wrong = check_memberships(schedule, rank, place)) {
    return wrong;
  }
  for (const RankId peer : binding.peers) {
    if (!lies_in(peer, schedule.ranks)) {
      return outside(place + "/peers", "rank", peer.value(), schedule.ranks.size());
    }
  }
  if (has_duplicates(binding.peers)) {
    return Wrong{place + "/peers", "two slots mean the same rank"};
  }
  const SlotUse& needed = slots[binding.program.index()];
  if (binding.groups.size() < needed.groups || binding.peers.size() < needed.peers) {
    return Wrong{place,
                 fmt::format("program {} uses {} group slots and {} peer slots; the rank has {} "
                             "and {}",
                             binding.program.value(),
                             needed.groups,
                             needed.peers,
                             binding.groups.size(),
                             binding.peers.size())};
  }
  return std::nullopt;
}

Check check_ranks(const Schedule& schedule, const std::vector<SlotUse>& slots) {
  std::vector<bool> runs(schedule.programs.size());
  for (std::size_t i = 0; i < schedule.ranks.size(); ++i) {
    if (Check wrong = check_rank(schedule, RankId(i), slots)) {
      return wrong;
    }
    runs[schedule.ranks[i].program.index()] = true;
  }
  if (const auto idle = std::ranges::find(runs, false); idle != runs.end()) {
    return Wrong{fmt::format("/programs/{}", idle - runs.begin()), "no rank runs this program"};
  }
  return std::nullopt;
}

Check first_wrong(const Schedule& schedule) {
  if (Check wrong = check_sizes(schedule)) {
    return wrong;
  }
  std::vector<SlotUse> slots(schedule.programs.size());
  for (std::size_t i = 0; i < schedule.programs.size(); ++i) {
    if (Check wrong = check_program_indices(schedule, ProgramId(i), slots[i])) {
      return wrong;
    }
  }
  if (Check wrong = check_groups(schedule)) {
    return wrong;
  }
  return check_ranks(schedule, slots);
}

}  // namespace

Result<void> check_indices(const Schedule& schedule, std::string_view where) {
  if (auto wrong = first_wrong(schedule)) {
    return fail(ErrorCode::kInvalidInput,
                std::move(wrong->message),
                fmt::format("{}{}", where, wrong->place));
  }
  return {};
}

}  // namespace stagewright
