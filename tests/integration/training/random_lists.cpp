#include "tests/integration/training/random_lists.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/schedule/semantics.h"

namespace stagewright {

namespace {

/// Messages in flight from one pipeline rank to the next or the one before.
struct Channel {
  std::deque<MicroBatchId> sent;      ///< and not yet received
  std::deque<MicroBatchId> expected;  ///< receives that were issued before their send
};

/// How far a micro-batch is on a rank.
struct Progress {
  bool loaded = false;
  bool received = false;
  bool forward = false;
  bool sent = false;
  bool gradient_received = false;
  bool split = false;  ///< its backward is in two halves
  bool input_half = false;
  bool weight_half = false;
  bool gradient_sent = false;
};

class RandomRun {
 public:
  RandomRun(const Schedule& schedule, std::mt19937_64& random)
      : schedule_(schedule), random_(random), ranks_(schedule.programs.size()) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].resize(static_cast<std::size_t>(schedule.micro_batches));
      for (Progress& progress : ranks_[rank]) {
        progress.split = chance(0.5);
        progress.received = rank == 0;
        progress.sent = rank + 1 == ranks_.size();
        progress.gradient_received = rank + 1 == ranks_.size();
        progress.gradient_sent = rank == 0;
        progress.loaded = rank > 0 && rank + 1 < ranks_.size();
      }
    }
  }

  /// The lists by rank, or nothing where the ranks got stuck.
  [[nodiscard]] std::optional<std::vector<std::vector<Action>>> run() {
    std::vector<std::vector<Action>> lists(ranks_.size());
    while (true) {
      std::vector<std::pair<std::size_t, Action>> possible;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        for (const Action& action : possible_actions(rank)) {
          possible.emplace_back(rank, action);
        }
      }
      if (possible.empty()) {
        break;
      }
      const auto& [rank, action] =
          possible[std::uniform_int_distribution<std::size_t>(0, possible.size() - 1)(random_)];
      perform(rank, action);
      lists[rank].push_back(action);
    }
    const bool done = std::ranges::all_of(ranks_, [](const std::vector<Progress>& rank) {
      return std::ranges::all_of(
          rank, [](const Progress& p) { return p.weight_half && p.sent && p.gradient_sent; });
    });
    return done ? std::optional(lists) : std::nullopt;
  }

 private:
  [[nodiscard]] bool chance(double share) { return std::bernoulli_distribution(share)(random_); }

  [[nodiscard]] Action action_of(ActionKind kind, std::size_t rank, std::size_t m) const {
    Action action;
    action.kind = kind;
    action.stage = StageId(rank);
    action.micro_batch = MicroBatchId(m);
    const bool after = kind == ActionKind::kSendActivation || kind == ActionKind::kRecvGradient;
    if (is_send(kind) || is_receive(kind)) {
      action.peer = peer_slot(rank, after ? rank + 1 : rank - 1);
    }
    return action;
  }

  /// Slots follow the order in which the lowered list's peers were made: look it up.
  [[nodiscard]] PeerSlot peer_slot(std::size_t rank, std::size_t other) const {
    const auto of_program = [this](std::size_t program) {
      return std::ranges::find(schedule_.ranks, ProgramId(program), &RankBinding::program);
    };
    const RankBinding& binding = *of_program(rank);
    const auto found = std::ranges::find_if(binding.peers, [&](RankId peer) {
      return schedule_.ranks[peer.index()].program == ProgramId(other);
    });
    SW_CHECK(found != binding.peers.end(), "a peer on the neighbouring stage");
    return PeerSlot(static_cast<std::size_t>(found - binding.peers.begin()));
  }

  [[nodiscard]] Channel& channel(std::size_t from, std::size_t to) { return channels_[{from, to}]; }

  /// Whether a rank may send this next: nothing else is expected, and the one before was taken.
  [[nodiscard]] bool may_send(std::size_t from, std::size_t to, MicroBatchId m) {
    const Channel& on = channel(from, to);
    return on.sent.empty() && (on.expected.empty() || on.expected.front() == m);
  }
  /// Whether a rank may receive this next.
  [[nodiscard]] bool may_receive(std::size_t from, std::size_t to, MicroBatchId m) {
    const Channel& on = channel(from, to);
    return on.sent.empty() ? on.expected.empty() : on.sent.front() == m;
  }

  [[nodiscard]] std::vector<Action> possible_actions(std::size_t rank) {
    std::vector<Action> found;
    for (std::size_t m = 0; m < ranks_[rank].size(); ++m) {
      const Progress& p = ranks_[rank][m];
      const MicroBatchId id(m);
      const auto add = [&](bool possible, ActionKind kind) {
        if (possible) {
          found.push_back(action_of(kind, rank, m));
        }
      };
      add(!p.loaded, ActionKind::kLoadMicroBatch);
      add(!p.received && may_receive(rank - 1, rank, id), ActionKind::kRecvActivation);
      add(p.loaded && p.received && !p.forward, ActionKind::kForward);
      add(p.forward && !p.sent && may_send(rank, rank + 1, id), ActionKind::kSendActivation);
      add(p.sent && !p.gradient_received && may_receive(rank + 1, rank, id),
          ActionKind::kRecvGradient);
      const bool ready = p.forward && p.gradient_received;
      add(ready && !p.split && !p.weight_half, ActionKind::kBackward);
      add(ready && p.split && !p.input_half, ActionKind::kBackwardInput);
      add(p.split && p.input_half && !p.weight_half, ActionKind::kBackwardWeight);
      add(p.input_half && !p.gradient_sent && may_send(rank, rank - 1, id),
          ActionKind::kSendGradient);
    }
    return found;
  }

  void perform(std::size_t rank, const Action& action) {
    Progress& p = ranks_[rank][action.micro_batch.index()];
    switch (action.kind) {
      case ActionKind::kLoadMicroBatch:
        p.loaded = true;
        break;
      case ActionKind::kForward:
        p.forward = true;
        break;
      case ActionKind::kBackward:
        p.input_half = p.weight_half = true;
        break;
      case ActionKind::kBackwardInput:
        p.input_half = true;
        break;
      case ActionKind::kBackwardWeight:
        p.weight_half = true;
        break;
      case ActionKind::kSendActivation:
        p.sent = true;
        send(channel(rank, rank + 1), action.micro_batch);
        break;
      case ActionKind::kSendGradient:
        p.gradient_sent = true;
        send(channel(rank, rank - 1), action.micro_batch);
        break;
      case ActionKind::kRecvActivation:
        p.received = true;
        receive(channel(rank - 1, rank), action.micro_batch);
        break;
      case ActionKind::kRecvGradient:
        p.gradient_received = true;
        receive(channel(rank + 1, rank), action.micro_batch);
        break;
      case ActionKind::kRecompute:
      case ActionKind::kReduceGradients:
      case ActionKind::kGatherParameters:
      case ActionKind::kOptimizerStep:
      case ActionKind::kUpdateParameters:
        break;
    }
  }

  static void send(Channel& on, MicroBatchId m) {
    if (on.expected.empty()) {
      on.sent.push_back(m);
    } else {
      on.expected.pop_front();
    }
  }
  static void receive(Channel& on, MicroBatchId m) {
    if (on.sent.empty()) {
      on.expected.push_back(m);
    } else {
      on.sent.pop_front();
    }
  }

  const Schedule& schedule_;
  std::mt19937_64& random_;
  std::vector<std::vector<Progress>> ranks_;
  std::map<std::pair<std::size_t, std::size_t>, Channel> channels_;
};

std::optional<Schedule> random_lists(const Schedule& schedule, std::mt19937_64& random) {
  const auto lists = RandomRun(schedule, random).run();
  if (!lists) {
    return std::nullopt;
  }
  Schedule result = schedule;
  result.schedule_name = "random";
  for (std::size_t i = 0; i < result.programs.size(); ++i) {
    std::vector<Action>& actions = result.programs[i].actions;
    std::vector<Action> end;
    std::ranges::copy_if(actions, std::back_inserter(end), [](const Action& action) {
      return action.kind == ActionKind::kReduceGradients ||
             action.kind == ActionKind::kOptimizerStep;
    });
    actions = (*lists)[i];
    actions.insert(actions.end(), end.begin(), end.end());
  }
  return result;
}

}  // namespace

Schedule with_random_lists(const Schedule& schedule, std::mt19937_64& random) {
  // Some receives are issued so early that no queue could run the list.
  while (true) {
    const std::optional<Schedule> found = random_lists(schedule, random);
    if (found && validate(*found)) {
      return *found;
    }
  }
}

}  // namespace stagewright
