#include "runtime/executor/schedule_world.h"

#include <set>
#include <span>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "runtime/backend_error.h"

namespace stagewright {

ChannelId channel_of(ActionKind transfer) {
  SW_CHECK(is_send(transfer) || is_receive(transfer), "a transfer");
  const bool activation =
      transfer == ActionKind::kSendActivation || transfer == ActionKind::kRecvActivation;
  return ChannelId(activation ? 0 : 1);
}

WorldSpec world_of(const Schedule& schedule) {
  WorldSpec world;
  world.ranks = static_cast<int>(schedule.ranks.size());
  for (std::size_t i = 0; i < schedule.groups.size(); ++i) {
    const Group& group = schedule.groups[i];
    world.groups.push_back({fmt::format("{} {}", group.kind, i), group.members});
  }
  std::set<std::tuple<RankId, RankId, ChannelId>> links;
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    const RankBinding& binding = schedule.ranks[rank];
    for (const Action& action : schedule.programs[binding.program.index()].actions) {
      if (is_send(action.kind)) {
        links.emplace(RankId(rank), binding.peers[action.peer.index()], channel_of(action.kind));
      }
    }
  }
  for (const auto& [source, destination, channel] : links) {
    world.links.push_back({source, destination, channel});
  }
  return world;
}

void require_same_schedule(HostValues& values, const std::string& hash) {
  const std::vector<std::byte> hashes = values.gather(std::as_bytes(std::span(hash)));
  const std::size_t ranks = hashes.size() / hash.size();
  const auto of_rank = [&](std::size_t rank) {
    return std::string(reinterpret_cast<const char*>(hashes.data()) + rank * hash.size(),
                       hash.size());
  };
  std::string others;
  for (std::size_t rank = 1; rank < ranks; ++rank) {
    if (of_rank(rank) != of_rank(0)) {
      others += fmt::format("{}rank {} has {}", others.empty() ? "" : ", ", rank, of_rank(rank));
    }
  }
  if (!others.empty()) {
    throw BackendError({ErrorCode::kInvalidInput,
                        fmt::format("the ranks were given different schedules: rank 0 has {}, {}; "
                                    "start all of them with the same schedule file",
                                    of_rank(0),
                                    others),
                        "schedule hash"});
  }
}

}  // namespace stagewright
