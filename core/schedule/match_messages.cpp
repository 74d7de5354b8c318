#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/schedule/channels.h"
#include "core/schedule/checks.h"
#include "core/schedule/semantics.h"

namespace stagewright {
namespace {

/// What a message is about: equal on both sides.
using Subject = std::pair<StageId, MicroBatchId>;

Subject subject_of(const Action& action) {
  return {message_border(action), action.micro_batch};
}

/// One direction between two ranks: the actions that send and those that receive.
struct Lane {
  RankId from;
  RankId to;
  const std::vector<std::int32_t>* sends;
  const std::vector<std::int32_t>* receives;
};

class Matcher {
 public:
  explicit Matcher(const Schedule& schedule) : schedule_(schedule) {
    for (const RankProgram& program : schedule.programs) {
      traffic_.push_back(peer_traffic(program.actions));
    }
  }

  /// Calls `visit(lane)` for every lane of the schedule on which something is sent or received,
  /// until one fails.
  template <class Visit>
  [[nodiscard]] Result<void> for_each_lane(Visit visit) const {
    for (std::size_t i = 0; i < schedule_.ranks.size(); ++i) {
      for (const Lane& lane : lanes_of(RankId(i))) {
        if (auto done = visit(lane); !done) {
          return done;
        }
      }
    }
    return {};
  }

  /// Whether the lists of a lane fit together, message by message.
  [[nodiscard]] Result<void> check(const Lane& lane) const {
    const std::size_t common = std::min(lane.sends->size(), lane.receives->size());
    for (std::size_t i = 0; i < common; ++i) {
      const Action& send = action(lane.from, (*lane.sends)[i]);
      const Action& receive = action(lane.to, (*lane.receives)[i]);
      if (subject_of(send) != subject_of(receive)) {
        return explain(lane, i);
      }
      const Bytes sent = message_bytes(program(lane.from), send);
      const Bytes received = message_bytes(program(lane.to), receive);
      if (sent != received) {
        return fail(ErrorCode::kInvalidInput,
                    fmt::format("sends {} bytes, but {} expects {}",
                                sent.count(),
                                name(lane.to, (*lane.receives)[i]),
                                received.count()),
                    name(lane.from, (*lane.sends)[i]));
      }
    }
    if (lane.sends->size() != lane.receives->size()) {
      return explain(lane, common);
    }
    return {};
  }

 private:
  static inline const std::vector<std::int32_t> kNothing;

  [[nodiscard]] const RankProgram& program(RankId rank) const {
    return schedule_.programs[schedule_.ranks[rank.index()].program.index()];
  }
  [[nodiscard]] const Action& action(RankId rank, std::int32_t index) const {
    return program(rank).actions[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] std::string name(RankId rank, std::int32_t index) const {
    return action_name(schedule_, rank, index);
  }

  /// What the rank sends, and what it receives that its peer does not send: the other lanes that
  /// come from a peer are the peer's to name.
  [[nodiscard]] std::vector<Lane> lanes_of(RankId rank) const {
    const RankBinding& binding = schedule_.ranks[rank.index()];
    const auto& traffic = traffic_[binding.program.index()];
    std::vector<Lane> lanes;
    for (std::size_t slot = 0; slot < traffic.size(); ++slot) {
      const RankId peer = binding.peers[slot];
      const PeerTraffic* back = traffic_back(rank, peer);
      for (std::size_t kind = 0; kind < kMessageKindCount; ++kind) {
        const auto& receives = back != nullptr ? back->receives[kind] : kNothing;
        lanes.push_back({rank, peer, &traffic[slot].sends[kind], &receives});
        if (back == nullptr || back->sends[kind].empty()) {
          lanes.push_back({peer, rank, &kNothing, &traffic[slot].receives[kind]});
        }
      }
    }
    return lanes;
  }

  /// What `peer` exchanges with `rank`; null if nothing.
  [[nodiscard]] const PeerTraffic* traffic_back(RankId rank, RankId peer) const {
    const RankBinding& binding = schedule_.ranks[peer.index()];
    const auto found = std::ranges::find(binding.peers, rank);
    const auto slot = static_cast<std::size_t>(found - binding.peers.begin());
    const auto& traffic = traffic_[binding.program.index()];
    return slot < traffic.size() ? &traffic[slot] : nullptr;
  }

  /// How often a subject stands in a list.
  [[nodiscard]] std::ptrdiff_t count(RankId rank,
                                     const std::vector<std::int32_t>& list,
                                     const Subject& subject) const {
    return std::ranges::count_if(
        list, [&](std::int32_t i) { return subject_of(action(rank, i)) == subject; });
  }

  /// Says what is wrong with the messages at `position`, where the lists differ first.
  [[nodiscard]] tl::unexpected<Error> explain(const Lane& lane, std::size_t position) const {
    const auto complain = [](std::string place, std::string message) {
      return fail(ErrorCode::kInvalidInput, std::move(message), std::move(place));
    };
    if (position < lane.sends->size()) {
      const std::int32_t send = (*lane.sends)[position];
      const Subject subject = subject_of(action(lane.from, send));
      const auto sent = count(lane.from, *lane.sends, subject);
      const auto received = count(lane.to, *lane.receives, subject);
      if (received < sent) {
        return complain(name(lane.from, send),
                        fmt::format("is sent {} to rank {}, which receives it {}",
                                    times(sent),
                                    lane.to.value(),
                                    times(received)));
      }
    }
    if (position < lane.receives->size()) {
      const std::int32_t receive = (*lane.receives)[position];
      const Subject subject = subject_of(action(lane.to, receive));
      const auto sent = count(lane.from, *lane.sends, subject);
      const auto received = count(lane.to, *lane.receives, subject);
      if (sent < received) {
        return complain(name(lane.to, receive),
                        fmt::format("is received {} from rank {}, which sends it {}",
                                    times(received),
                                    lane.from.value(),
                                    times(sent)));
      }
    }
    // Nothing is missing from here on at this place, so the order differs.
    return complain(name(lane.from, (*lane.sends)[position]),
                    fmt::format("is message {} from rank {} to rank {}, which receives {} as its "
                                "message {}; use one order on both sides",
                                position,
                                lane.from.value(),
                                lane.to.value(),
                                to_string(action(lane.to, (*lane.receives)[position])),
                                position));
  }

  static std::string times(std::ptrdiff_t count) {
    return count == 0 ? "never" : count == 1 ? "once" : fmt::format("{} times", count);
  }

  const Schedule& schedule_;
  std::vector<std::vector<PeerTraffic>> traffic_;  ///< by program, by peer slot
};

}  // namespace

Result<void> check_messages(const Schedule& schedule) {
  const Matcher matcher(schedule);
  // Ranks that run equal programs have the very same lists.
  std::set<std::tuple<ProgramId,
                      ProgramId,
                      const std::vector<std::int32_t>*,
                      const std::vector<std::int32_t>*>>
      known;
  return matcher.for_each_lane([&](const Lane& lane) -> Result<void> {
    const bool is_new = known
                            .emplace(schedule.ranks[lane.from.index()].program,
                                     schedule.ranks[lane.to.index()].program,
                                     lane.sends,
                                     lane.receives)
                            .second;
    return is_new ? matcher.check(lane) : Result<void>();
  });
}

Result<std::vector<std::vector<std::optional<Match>>>> match_messages(const Schedule& schedule) {
  if (auto checked = check_messages(schedule); !checked) {
    return pass_on(std::move(checked));
  }
  std::vector<std::vector<std::optional<Match>>> matches;
  for (const RankBinding& binding : schedule.ranks) {
    matches.emplace_back(schedule.programs[binding.program.index()].actions.size());
  }
  const auto done = Matcher(schedule).for_each_lane([&](const Lane& lane) -> Result<void> {
    for (std::size_t i = 0; i < lane.sends->size(); ++i) {
      const std::int32_t send = (*lane.sends)[i];
      const std::int32_t receive = (*lane.receives)[i];
      matches[lane.from.index()][static_cast<std::size_t>(send)] = Match{lane.to, receive};
      matches[lane.to.index()][static_cast<std::size_t>(receive)] = Match{lane.from, send};
    }
    return {};
  });
  SW_CHECK(done.has_value(), "lanes that were checked");
  return matches;
}

}  // namespace stagewright
