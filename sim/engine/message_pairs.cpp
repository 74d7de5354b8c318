#include "sim/engine/message_pairs.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/schedule/channels.h"

namespace stagewright {
namespace {

class Pairing {
 public:
  Pairing(const Schedule& schedule, const RankClasses& classes)
      : schedule_(schedule), classes_(classes) {
    for (const RankProgram& program : schedule.programs) {
      traffic_.push_back(peer_traffic(program.actions));
    }
  }

  [[nodiscard]] Result<std::vector<std::optional<PairedReceive>>> of_rank(RankId sender) const {
    const RankBinding& binding = schedule_.ranks[sender.index()];
    const RankProgram& program = schedule_.programs[binding.program.index()];
    std::vector<std::optional<PairedReceive>> paired(program.actions.size());
    const std::vector<PeerTraffic>& traffic = traffic_[binding.program.index()];
    for (std::size_t slot = 0; slot < traffic.size(); ++slot) {
      for (std::size_t kind = 0; kind < kMessageKindCount; ++kind) {
        const std::vector<std::int32_t>& sends = traffic[slot].sends[kind];
        const RankId receiver = binding.peers[slot];
        const PeerTraffic& other_side = traffic_of(receiver, sender);
        if (traffic[slot].receives[kind].size() != other_side.sends[kind].size()) {
          return fail(ErrorCode::kInvalidInput,
                      fmt::format("it receives {} messages of a kind from rank {}, which sends {}",
                                  traffic[slot].receives[kind].size(),
                                  receiver.value(),
                                  other_side.sends[kind].size()),
                      fmt::format("rank {}", sender.value()));
        }
        const std::vector<std::int32_t>& receives = other_side.receives[kind];
        for (std::size_t k = 0; k < sends.size(); ++k) {
          if (k >= receives.size() || !same_message(sender, sends[k], receiver, receives[k])) {
            return fail(ErrorCode::kInvalidInput,
                        fmt::format("rank {} does not receive what it sends", receiver.value()),
                        place(sender, sends[k]));
          }
          paired[static_cast<std::size_t>(sends[k])] =
              PairedReceive{classes_.of_rank[receiver.index()], receives[k]};
        }
      }
    }
    return paired;
  }

 private:
  [[nodiscard]] const Action& action(RankId rank, std::int32_t index) const {
    const ProgramId program = schedule_.ranks[rank.index()].program;
    return schedule_.programs[program.index()].actions[static_cast<std::size_t>(index)];
  }

  [[nodiscard]] std::string place(RankId rank, std::int32_t index) const {
    return fmt::format(
        "rank {}, action {} ({})", rank.value(), index, to_string(action(rank, index)));
  }

  /// What `rank` sends to and receives from `peer`.
  [[nodiscard]] const PeerTraffic& traffic_of(RankId rank, RankId peer) const {
    static const PeerTraffic kNone;
    const RankBinding& binding = schedule_.ranks[rank.index()];
    const auto slot =
        static_cast<std::size_t>(std::ranges::find(binding.peers, peer) - binding.peers.begin());
    const std::vector<PeerTraffic>& traffic = traffic_[binding.program.index()];
    return slot < traffic.size() ? traffic[slot] : kNone;
  }

  [[nodiscard]] bool same_message(RankId sender,
                                  std::int32_t send,
                                  RankId receiver,
                                  std::int32_t receive) const {
    const Action& sent = action(sender, send);
    const Action& received = action(receiver, receive);
    return message_border(sent) == message_border(received) &&
           sent.micro_batch == received.micro_batch;
  }

  const Schedule& schedule_;
  const RankClasses& classes_;
  std::vector<std::vector<PeerTraffic>> traffic_;  ///< by program and peer slot
};

}  // namespace

Result<std::vector<std::vector<std::optional<PairedReceive>>>> pair_messages(
    const Schedule& schedule, const RankClasses& classes) {
  const Pairing pairing(schedule, classes);
  std::vector<std::vector<std::optional<PairedReceive>>> pairs;
  for (const RankClasses::Class& one : classes.classes) {
    auto paired = pairing.of_rank(one.first);
    if (!paired) {
      return pass_on(std::move(paired));
    }
    pairs.push_back(*std::move(paired));
  }
  return pairs;
}

}  // namespace stagewright
