#include "sim/engine/message_pairs.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/schedule/channels.h"

namespace stagewright {
namespace {

using Paired = std::vector<std::optional<PairedReceive>>;

class Pairing {
 public:
  Pairing(const Schedule& schedule, const RankClasses& classes)
      : schedule_(schedule), classes_(classes) {
    for (const RankProgram& program : schedule.programs) {
      traffic_.push_back(peer_traffic(program.actions));
    }
  }

  [[nodiscard]] Result<Paired> of_class(std::size_t rank_class) const {
    const ProgramId program = program_of(rank_class);
    Paired paired(schedule_.programs[program.index()].actions.size());
    for (std::size_t slot = 0; slot < traffic_[program.index()].size(); ++slot) {
      for (std::size_t kind = 0; kind < kMessageKindCount; ++kind) {
        if (auto done = pair(rank_class, slot, kind, paired); !done) {
          return pass_on(std::move(done));
        }
      }
    }
    return paired;
  }

 private:
  [[nodiscard]] ProgramId program_of(std::size_t rank_class) const {
    return schedule_.ranks[classes_.lowest[rank_class].index()].program;
  }

  [[nodiscard]] const Action& action(std::size_t rank_class, std::int32_t index) const {
    return schedule_.programs[program_of(rank_class).index()]
        .actions[static_cast<std::size_t>(index)];
  }

  /// The same channels as the other side sees them.
  [[nodiscard]] const PeerTraffic& other_side(const RankClasses::Peer& peer) const {
    static const PeerTraffic kNone;
    const std::vector<PeerTraffic>& traffic = traffic_[program_of(peer.rank_class).index()];
    return peer.back && peer.back->index() < traffic.size() ? traffic[peer.back->index()] : kNone;
  }

  [[nodiscard]] Result<void> pair(std::size_t rank_class,
                                  std::size_t slot,
                                  std::size_t kind,
                                  Paired& paired) const {
    const PeerTraffic& own = traffic_[program_of(rank_class).index()][slot];
    const RankClasses::Peer& peer = classes_.peers[rank_class][slot];
    const std::vector<std::int32_t>& sends = own.sends[kind];
    const std::vector<std::int32_t>& receives = other_side(peer).receives[kind];
    for (std::size_t k = 0; k < sends.size(); ++k) {
      if (k >= receives.size() ||
          !same_message(action(rank_class, sends[k]), action(peer.rank_class, receives[k]))) {
        return fail(ErrorCode::kInvalidInput,
                    "the rank that it sends to does not receive this message",
                    place(rank_class, sends[k]));
      }
      paired[static_cast<std::size_t>(sends[k])] =
          PairedReceive{static_cast<std::uint32_t>(peer.rank_class), receives[k]};
    }
    const std::vector<std::int32_t>& own_receives = own.receives[kind];
    if (own_receives.size() > other_side(peer).sends[kind].size()) {
      return fail(ErrorCode::kInvalidInput,
                  "nobody sends this message",
                  place(rank_class, own_receives[other_side(peer).sends[kind].size()]));
    }
    return {};
  }

  [[nodiscard]] static bool same_message(const Action& sent, const Action& received) {
    return message_border(sent) == message_border(received) &&
           sent.micro_batch == received.micro_batch;
  }

  [[nodiscard]] std::string place(std::size_t rank_class, std::int32_t index) const {
    return fmt::format("rank {}, action {} ({})",
                       classes_.lowest[rank_class].value(),
                       index,
                       to_string(action(rank_class, index)));
  }

  const Schedule& schedule_;
  const RankClasses& classes_;
  std::vector<std::vector<PeerTraffic>> traffic_;  ///< by program and peer slot
};

}  // namespace

Result<std::vector<Paired>> pair_messages(const Schedule& schedule, const RankClasses& classes) {
  const Pairing pairing(schedule, classes);
  std::vector<Paired> pairs;
  for (std::size_t c = 0; c < classes.lowest.size(); ++c) {
    auto paired = pairing.of_class(c);
    if (!paired) {
      return pass_on(std::move(paired));
    }
    pairs.push_back(*std::move(paired));
  }
  return pairs;
}

}  // namespace stagewright
