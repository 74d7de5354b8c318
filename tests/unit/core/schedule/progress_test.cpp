#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/schedule/channels.h"
#include "core/schedule/checks.h"
#include "core/schedule/lifetimes.h"
#include "core/schedule/semantics.h"
#include "core/schedule/wait_list.h"
#include "tests/support/toy_schedule.h"

namespace stagewright {
namespace {

/// One thing that a rank issues, for the literal reading of the rules.
struct Issued {
  const Operation* op = nullptr;  ///< null: a message
  ProgramPoint point{};
  std::int32_t queue = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> reads{};  ///< stretches of the arena
  std::vector<std::pair<std::int64_t, std::int64_t>> writes{};
  std::size_t ordinal = 0;  ///< among the collectives of its group or the messages of its queue
  bool done = false;
};

/// Rules 1 to 6 word by word: every rank for itself, every operation, every pair of operations that
/// touch the same bytes.
class LiteralRun {
 public:
  explicit LiteralRun(const Schedule& schedule) : schedule_(schedule) {
    for (std::size_t r = 0; r < schedule.ranks.size(); ++r) {
      ranks_.push_back(issue_list(RankId(r)));
      issued_.push_back(0);
    }
  }

  /// Whether some operation reads a tensor of a micro-batch before anything wrote it.
  [[nodiscard]] bool reads_unwritten() const { return reads_unwritten_; }

  /// Whether everything comes to an end.
  bool finishes() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < ranks_.size(); ++r) {
        while (issued_[r] < ranks_[r].size() && may_issue(r)) {
          ++issued_[r];
          moved = true;
        }
        for (std::size_t i = 0; i < issued_[r]; ++i) {
          moved = try_complete(r, i) || moved;
        }
      }
    }
    return std::ranges::all_of(ranks_, [](const auto& list) {
      return std::ranges::all_of(list, [](const Issued& x) { return x.done; });
    });
  }

 private:
  [[nodiscard]] const RankProgram& program(std::size_t rank) const {
    return schedule_.programs[schedule_.ranks[rank].program.index()];
  }
  [[nodiscard]] const Action& action(std::size_t rank, const Issued& x) const {
    return program(rank).actions[static_cast<std::size_t>(x.point.action)];
  }

  /// Memory of a program by its lifetimes.
  struct Memory {
    std::vector<Lifetime> lifetimes;
    ArenaPlan arena;
  };

  void touch(Issued& x, const Memory& memory, TensorId tensor, const Action& at, bool writes) {
    const std::vector<Lifetime>& all = memory.lifetimes;
    std::size_t found = all.size();
    for (std::size_t l = 0; l < all.size() && all[l].first <= x.point; ++l) {
      if (all[l].tensor == tensor &&
          all[l].micro_batch.value_or(at.micro_batch) == at.micro_batch) {
        found = l;
      }
    }
    const std::int64_t offset = memory.arena.offsets.at(found);
    (writes ? x.writes : x.reads).emplace_back(offset, offset + all[found].bytes.count());
    const bool begins = all[found].first == x.point && all[found].micro_batch.has_value();
    reads_unwritten_ = reads_unwritten_ || (begins && !writes);
  }

  std::vector<Issued> issue_list(RankId rank) {
    const RankProgram& own = program(rank.index());
    Memory memory{lifetimes(own), {}};
    memory.arena = plan_arena(memory.lifetimes);
    std::vector<Issued> list;
    for (std::size_t i = 0; i < own.actions.size(); ++i) {
      const Action& at = own.actions[i];
      const auto index = static_cast<std::int32_t>(i);
      if (is_send(at.kind) || is_receive(at.kind)) {
        Issued x{.point = {index, 0}, .queue = message_queue(schedule_.streams.size(), at)};
        for (const TensorId tensor : moved_tensors(own, at)) {
          touch(x, memory, tensor, at, !is_send(at.kind));
        }
        x.ordinal = static_cast<std::size_t>(std::ranges::count(list, x.queue, &Issued::queue));
        list.push_back(x);
      }
      const ActionOperations run = operations_of(own, at);
      for (std::size_t o = 0; o < run.ops.size(); ++o) {
        if (run.includes(run.ops[o])) {
          list.push_back(
              issue(run.ops[o], {index, static_cast<std::int32_t>(o)}, at, memory, list));
        }
      }
    }
    return list;
  }

  [[nodiscard]] Issued issue(const Operation& op,
                             ProgramPoint point,
                             const Action& at,
                             const Memory& memory,
                             const std::vector<Issued>& before) {
    Issued x{.op = &op, .point = point, .queue = op.stream.value()};
    for (const TensorId tensor : op.inputs) {
      touch(x, memory, tensor, at, false);
    }
    for (const TensorId tensor : op.outputs) {
      touch(x, memory, tensor, at, true);
    }
    if (is_collective(x)) {
      x.ordinal = static_cast<std::size_t>(std::ranges::count_if(
          before, [&](const Issued& y) { return is_collective(y) && y.op->group == op.group; }));
    }
    return x;
  }

  static bool is_collective(const Issued& x) {
    return x.op != nullptr && class_of(x.op->kind) == OpClass::kCollective;
  }

  [[nodiscard]] bool may_issue(std::size_t rank) const {
    const Issued& next = ranks_[rank][issued_[rank]];
    if (next.op != nullptr || !is_send(action(rank, next).kind)) {
      return true;
    }
    return std::all_of(ranks_[rank].begin(),
                       ranks_[rank].begin() + static_cast<std::ptrdiff_t>(issued_[rank]),
                       [&](const Issued& x) { return x.queue != next.queue || x.done; });
  }

  static bool overlap(const auto& a, const auto& b) {
    return std::ranges::any_of(a, [&](const auto& x) {
      return std::ranges::any_of(
          b, [&](const auto& y) { return x.first < y.second && y.first < x.second; });
    });
  }

  [[nodiscard]] bool ready(std::size_t rank, std::size_t index) const {
    const Issued& x = ranks_[rank][index];
    if (index >= issued_[rank] || x.done) {
      return false;
    }
    for (std::size_t i = 0; i < index; ++i) {
      const Issued& before = ranks_[rank][i];
      const bool conflicts = before.queue == x.queue || overlap(before.writes, x.reads) ||
                             overlap(before.writes, x.writes) || overlap(before.reads, x.writes);
      if (!before.done && conflicts) {
        return false;
      }
    }
    return true;
  }

  bool try_complete(std::size_t rank, std::size_t index) {
    if (!ready(rank, index)) {
      return false;
    }
    std::vector<std::pair<std::size_t, std::size_t>> sides;
    const Issued& x = ranks_[rank][index];
    if (x.op == nullptr) {
      sides = {{rank, index}, message_partner(rank, x)};
    } else if (is_collective(x)) {
      const GroupId group = schedule_.ranks[rank].groups[x.op->group->index()];
      for (const RankId member : schedule_.groups[group.index()].members) {
        sides.emplace_back(member.index(), call_of(member.index(), group, x.ordinal));
      }
    } else {
      sides = {{rank, index}};
    }
    if (!std::ranges::all_of(sides,
                             [&](const auto& side) { return ready(side.first, side.second); })) {
      return false;
    }
    for (const auto& [r, i] : sides) {
      ranks_[r][i].done = true;
    }
    return true;
  }

  [[nodiscard]] std::pair<std::size_t, std::size_t> message_partner(std::size_t rank,
                                                                    const Issued& x) const {
    const Action& own = action(rank, x);
    const std::size_t peer = schedule_.ranks[rank].peers[own.peer.index()].index();
    for (std::size_t i = 0; i < ranks_[peer].size(); ++i) {
      const Issued& y = ranks_[peer][i];
      if (y.op == nullptr && y.ordinal == x.ordinal) {
        const Action& other = action(peer, y);
        if (is_send(other.kind) != is_send(own.kind) &&
            message_kind(other.kind) == message_kind(own.kind) &&
            schedule_.ranks[peer].peers[other.peer.index()] == RankId(rank)) {
          return {peer, i};
        }
      }
    }
    ADD_FAILURE() << "no partner";
    return {};
  }

  [[nodiscard]] std::size_t call_of(std::size_t rank, GroupId group, std::size_t ordinal) const {
    for (std::size_t i = 0; i < ranks_[rank].size(); ++i) {
      const Issued& x = ranks_[rank][i];
      if (is_collective(x) && x.ordinal == ordinal &&
          schedule_.ranks[rank].groups[x.op->group->index()] == group) {
        return i;
      }
    }
    ADD_FAILURE() << "no call";
    return 0;
  }

  const Schedule& schedule_;
  std::vector<std::vector<Issued>> ranks_;
  std::vector<std::size_t> issued_;
  bool reads_unwritten_ = false;
};

/// A random schedule that is only about waiting: a chain of stages, one a rank, in one or two
/// replicas.  Messages go both ways between neighbours, collectives run in a group over all ranks
/// and in one per stage, on any stream, over shared tensors, with computation in between.  Each
/// list is one order of all events, shuffled more or less; channels and groups keep theirs.
class RandomSchedule {
 public:
  explicit RandomSchedule(std::uint64_t seed) : random_(seed) {}

  Schedule make() {
    stages_ = number(2, 3);
    schedule_.stages = stages_;
    schedule_.replicas = number(1, 2);
    schedule_.streams = {"compute", "a", "b"};
    schedule_.micro_batches = 1000;
    for (std::int32_t s = 0; s < stages_; ++s) {
      add_program(s);
    }
    const std::int32_t events = number(4, 24);
    for (std::int32_t i = 0; i < events; ++i) {
      add_event(i);
    }
    for (RankProgram& program : schedule_.programs) {
      shuffle(program);
    }
    bind();
    return std::move(schedule_);
  }

 private:
  std::int32_t number(std::int32_t low, std::int32_t high) {
    return std::uniform_int_distribution<std::int32_t>(low, high)(random_);
  }

  void add_program(std::int32_t s) {
    RankProgram program;
    for (int i = 0; i < 4; ++i) {
      TensorSpec spec;
      spec.shape = {4};
      spec.scope = i < 2 ? TensorScope::kPersistent : TensorScope::kMicroBatch;
      program.tensors.push_back(spec);
    }
    StageProgram stage;
    stage.stage = StageId(s);
    stage.output = stage.input_gradient = kSent;
    stage.input = stage.output_gradient = kReceived;
    stage.forward = {compute(persistent(), kSent), compute(kSent, anything())};
    stage.backward = {compute(kReceived, anything())};
    program.stages.push_back(stage);
    schedule_.programs.push_back(program);
  }

  // Tensors 0 and 1 are persistent, 2 and 3 those of micro-batches that messages move.
  static constexpr TensorId kSent{2};
  static constexpr TensorId kReceived{3};
  TensorId persistent() { return TensorId(number(0, 1)); }
  TensorId anything() { return TensorId(number(0, 3)); }

  Operation compute(TensorId input, TensorId output) {
    Operation op;
    op.kind = OpKind::kAdd;
    op.inputs = {input};
    op.outputs = {output};
    op.stream = StreamId(number(0, 3) == 0 ? 1 : 0);
    return op;
  }

  void add_collective(RankProgram& program, GroupSlot slot) {
    const Operation before = compute(persistent(), anything());
    Operation call = compute(before.outputs[0], anything());
    call.kind = OpKind::kAllReduce;
    call.group = slot;
    call.stream = StreamId(number(0, 4) == 0 ? 2 : number(0, 1));
    GradientBucket bucket{call.outputs[0], program.stages[0].stage, {before, call}, {}};
    if (number(0, 3) != 0) {
      bucket.reduce.push_back(compute(call.outputs[0], anything()));
    }
    program.actions.push_back(
        Action{.kind = ActionKind::kReduceGradients, .bucket = BucketId(program.buckets.size())});
    program.buckets.push_back(bucket);
  }

  void add_event(std::int32_t i) {
    const std::int32_t s = number(0, stages_ - 1);
    RankProgram& program = schedule_.programs[static_cast<std::size_t>(s)];
    switch (number(0, 3)) {
      case 0:
        for (RankProgram& all : schedule_.programs) {
          add_collective(all, GroupSlot(0));
        }
        break;
      case 1:
        add_collective(program, GroupSlot(1));
        break;
      case 2:
        program.actions.push_back(Action{.kind = ActionKind::kForward,
                                         .stage = StageId(s),
                                         .micro_batch = MicroBatchId(100 + i)});
        break;
      default:
        if (s + 1 < stages_) {
          add_message(s, MicroBatchId(i));
        }
    }
  }

  void add_message(std::int32_t s, MicroBatchId m) {
    RankProgram& below = schedule_.programs[static_cast<std::size_t>(s)];
    RankProgram& above = schedule_.programs[static_cast<std::size_t>(s) + 1];
    const bool forward = number(0, 1) == 0;
    const auto add = [m](RankProgram& program, ActionKind kind, PeerSlot peer) {
      program.actions.push_back(
          Action{.kind = kind, .stage = program.stages[0].stage, .micro_batch = m, .peer = peer});
    };
    const PeerSlot up(0);
    const PeerSlot down(1);
    add(forward ? below : above, ActionKind::kForward, PeerSlot());
    if (forward) {
      add(below, ActionKind::kSendActivation, up);
      add(above, ActionKind::kRecvActivation, down);
    } else {
      add(above, ActionKind::kSendGradient, down);
      add(below, ActionKind::kRecvGradient, up);
    }
    add(forward ? above : below, ActionKind::kBackward, PeerSlot());
  }

  /// What keeps its order among itself: the messages of a channel, the collectives of a group.
  static std::pair<int, std::int32_t> lane(const RankProgram& program, const Action& action) {
    if (action.kind == ActionKind::kReduceGradients) {
      return {-1, program.buckets[action.bucket.index()].reduce[1].group->value()};
    }
    return {static_cast<int>(action.kind), action.peer.value()};
  }

  void shuffle(RankProgram& program) {
    std::vector<Action>& actions = program.actions;
    for (std::int32_t swaps = number(0, 80); swaps > 0 && actions.size() > 1; --swaps) {
      const auto i =
          static_cast<std::size_t>(number(0, static_cast<std::int32_t>(actions.size()) - 2));
      // A micro-batch keeps its order, so that what is read was written; reductions write first.
      const bool in_order = actions[i].micro_batch == actions[i + 1].micro_batch &&
                            actions[i].kind != ActionKind::kReduceGradients;
      if (lane(program, actions[i]) != lane(program, actions[i + 1]) && !in_order) {
        std::swap(actions[i], actions[i + 1]);
      }
    }
  }

  void bind() {
    const std::int32_t ranks = stages_ * schedule_.replicas;
    Group world{"world", {}};
    for (std::int32_t r = 0; r < ranks; ++r) {
      world.members.emplace_back(r);
    }
    schedule_.groups.push_back(world);
    for (std::int32_t s = 0; s < stages_; ++s) {
      Group data{"data", {}};
      for (std::int32_t replica = 0; replica < schedule_.replicas; ++replica) {
        data.members.emplace_back(replica * stages_ + s);
      }
      schedule_.groups.push_back(data);
    }
    for (std::int32_t r = 0; r < ranks; ++r) {
      const std::int32_t s = r % stages_;
      RankBinding binding;
      binding.program = ProgramId(s);
      binding.groups = {GroupId(0), GroupId(1 + s)};
      binding.positions = {r, r / stages_};
      // An end of the chain has no neighbour there; messages never go that way.  The slot is
      // taken by a rank that the program does not talk to through it.
      const std::int32_t above = s + 1 < stages_ ? r + 1 : r;
      binding.peers = {RankId(above)};
      if (s > 0) {
        binding.peers.emplace_back(r - 1);
      }
      schedule_.ranks.push_back(binding);
    }
  }

  std::mt19937_64 random_;
  std::int32_t stages_ = 1;
  Schedule schedule_;
};

TEST(Progress, AReceiveWaitsForTheMemoryThatItTakesOver) {
  // Rank 1 receives activation 1 into the memory that stage 1 gave back after 1B0.  1B0 waits for
  // the gradient that rank 0 sends last, behind activation 2, which waits for activation 1.
  const std::vector<std::string> ranks{
      "0F0 0SEND_F0 0F1 0SEND_F1 0F2 0SEND_F2 2RECV_F0 2F0 2B0 2SEND_B0 "
      "2RECV_F1 2F1 2B1 2SEND_B1 2RECV_F2 2F2 2B2 2SEND_B2 "
      "0RECV_B0 0B0 0RECV_B1 0B1 0RECV_B2 0B2",
      "1RECV_F0 1F0 1SEND_F0 1RECV_B0 1B0 1SEND_B0 1RECV_F1 1F1 1SEND_F1 1RECV_B1 1B1 1SEND_B1 "
      "1RECV_F2 1F2 1SEND_F2 1RECV_B2 1B2 1SEND_B2"};
  const auto checked = check_progress(toy_schedule(ranks));
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().to_string(),
            "deadlock: rank 0 action 3 (0SEND_F1) waits for rank 1 action 6 (1RECV_F1), "
            "which waits for rank 1 action 3 (1RECV_B0), "
            "which waits for rank 0 action 9 (2SEND_B0), "
            "which waits for rank 0 action 5 (0SEND_F2), "
            "which waits for rank 0 action 3 (0SEND_F1)");
}

TEST(Progress, AgreesWithTheRulesWordByWordOnRandomSchedules) {
  int finished = 0;
  int stuck = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Schedule schedule = RandomSchedule(seed).make();
    ASSERT_TRUE(check_messages(schedule).has_value() && check_collectives(schedule).has_value());
    LiteralRun run(schedule);
    ASSERT_FALSE(run.reads_unwritten()) << "seed " << seed;
    const bool finishes = run.finishes();
    const auto checked = check_progress(schedule);
    ASSERT_EQ(checked.has_value(), finishes)
        << "seed " << seed << (checked ? "" : ": " + checked.error().to_string());
    ++(finishes ? finished : stuck);
  }
  // Both verdicts must be common for the comparison to mean something.
  EXPECT_GT(finished, 100);
  EXPECT_GT(stuck, 100);
}

}  // namespace
}  // namespace stagewright
