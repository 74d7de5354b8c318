#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/schedule/channels.h"
#include "core/schedule/checks.h"
#include "core/schedule/rank_classes.h"
#include "core/schedule/semantics.h"
#include "core/schedule/touches.h"
#include "core/schedule/wait_list.h"

namespace stagewright {
namespace {

/// One thing that a rank issues, for the literal reading of the rules.
struct Issued {
  const Operation* op = nullptr;  ///< null: a message
  std::int32_t action = 0;
  std::int32_t queue = 0;
  std::set<std::pair<TensorId, std::int32_t>> reads;  ///< owner, micro-batch
  std::set<std::pair<TensorId, std::int32_t>> writes;
  std::size_t ordinal = 0;  ///< among the collectives of its group or the messages of its queue
  bool done = false;
};

/// Rules 1 to 6 word by word: every rank for itself, every operation, every pair of conflicts.
class LiteralRun {
 public:
  explicit LiteralRun(const Schedule& schedule) : schedule_(schedule) {
    for (std::size_t r = 0; r < schedule.ranks.size(); ++r) {
      ranks_.push_back(issue_list(RankId(r)));
      issued_.push_back(0);
    }
  }

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
  const RankProgram& program(std::size_t rank) const {
    return schedule_.programs[schedule_.ranks[rank].program.index()];
  }
  const Action& action(std::size_t rank, const Issued& x) const {
    return program(rank).actions[static_cast<std::size_t>(x.action)];
  }

  std::vector<Issued> issue_list(RankId rank) const {
    const RankProgram& own = program(rank.index());
    std::vector<Issued> list;
    const auto instance = [&](TensorId tensor, const Action& at) {
      const TensorId owner = memory_owner(own, tensor);
      const bool persistent = own.tensors[owner.index()].scope == TensorScope::kPersistent;
      return std::pair(owner, persistent ? -1 : at.micro_batch.value());
    };
    for (std::size_t i = 0; i < own.actions.size(); ++i) {
      const Action& at = own.actions[i];
      Issued x;
      x.action = static_cast<std::int32_t>(i);
      if (is_send(at.kind) || is_receive(at.kind)) {
        x.queue = message_queue(schedule_.streams.size(), at);
        for (const TensorId tensor : moved_tensors(own, at)) {
          (is_send(at.kind) ? x.reads : x.writes).insert(instance(tensor, at));
        }
        x.ordinal = static_cast<std::size_t>(std::ranges::count(list, x.queue, &Issued::queue));
        list.push_back(x);
      }
      const ActionOperations run = operations_of(own, at);
      for (const Operation& op : run.ops) {
        if (!run.includes(op)) {
          continue;
        }
        Issued y;
        y.op = &op;
        y.action = x.action;
        y.queue = op.stream.value();
        for (const TensorId tensor : op.inputs) {
          y.reads.insert(instance(tensor, at));
        }
        for (const TensorId tensor : op.outputs) {
          y.writes.insert(instance(tensor, at));
        }
        if (is_collective(y)) {
          y.ordinal = static_cast<std::size_t>(std::ranges::count_if(
              list, [&](const Issued& z) { return is_collective(z) && z.op->group == op.group; }));
        }
        list.push_back(y);
      }
    }
    return list;
  }

  static bool is_collective(const Issued& x) {
    return x.op != nullptr && class_of(x.op->kind) == OpClass::kCollective;
  }

  bool may_issue(std::size_t rank) const {
    const Issued& next = ranks_[rank][issued_[rank]];
    if (next.op != nullptr || !is_send(action(rank, next).kind)) {
      return true;
    }
    return std::all_of(ranks_[rank].begin(),
                       ranks_[rank].begin() + static_cast<std::ptrdiff_t>(issued_[rank]),
                       [&](const Issued& x) { return x.queue != next.queue || x.done; });
  }

  static bool overlap(const auto& a, const auto& b) {
    return std::ranges::any_of(a, [&](const auto& x) { return b.contains(x); });
  }

  bool ready(std::size_t rank, std::size_t index) const {
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

  std::pair<std::size_t, std::size_t> message_partner(std::size_t rank, const Issued& x) const {
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

  std::size_t call_of(std::size_t rank, GroupId group, std::size_t ordinal) const {
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
    stage.forward = {random_compute()};
    stage.backward = {random_compute()};
    stage.input = stage.output = tensor();
    stage.input_gradient = stage.output_gradient = tensor();
    program.stages.push_back(stage);
    schedule_.programs.push_back(program);
  }

  TensorId tensor() { return TensorId(number(0, 3)); }

  Operation random_compute() {
    Operation op;
    op.kind = OpKind::kAdd;
    op.inputs = {tensor()};
    op.outputs = {tensor()};
    op.stream = StreamId(number(0, 3) == 0 ? 1 : 0);
    return op;
  }

  void add_collective(RankProgram& program, GroupSlot slot) {
    Operation call = random_compute();
    call.kind = OpKind::kAllReduce;
    call.group = slot;
    call.stream = StreamId(number(0, 4) == 0 ? 2 : number(0, 1));
    GradientBucket bucket{tensor(), program.stages[0].stage, {call}, {}};
    if (number(0, 1) == 0) {
      bucket.reduce.insert(bucket.reduce.begin(), random_compute());
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
        program.actions.push_back(
            Action{.kind = number(0, 1) == 0 ? ActionKind::kForward : ActionKind::kBackward,
                   .stage = StageId(s),
                   .micro_batch = MicroBatchId(number(0, i))});
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
    // Slot 0: the stage above; slot 1: the stage below.
    below.actions.push_back(
        Action{.kind = forward ? ActionKind::kSendActivation : ActionKind::kRecvGradient,
               .stage = StageId(s),
               .micro_batch = m,
               .peer = PeerSlot(0)});
    above.actions.push_back(
        Action{.kind = forward ? ActionKind::kRecvActivation : ActionKind::kSendGradient,
               .stage = StageId(s + 1),
               .micro_batch = m,
               .peer = PeerSlot(1)});
  }

  /// What keeps its order among itself: the messages of a channel, the collectives of a group.
  static std::pair<int, std::int32_t> lane(const RankProgram& program, const Action& action) {
    if (action.kind == ActionKind::kReduceGradients) {
      return {-1, program.buckets[action.bucket.index()].reduce.back().group->value()};
    }
    return {static_cast<int>(action.kind), action.peer.value()};
  }

  void shuffle(RankProgram& program) {
    std::vector<Action>& actions = program.actions;
    for (std::int32_t swaps = number(0, 80); swaps > 0 && actions.size() > 1; --swaps) {
      const auto i =
          static_cast<std::size_t>(number(0, static_cast<std::int32_t>(actions.size()) - 2));
      if (lane(program, actions[i]) != lane(program, actions[i + 1])) {
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

TEST(Progress, AgreesWithTheRulesWordByWordOnRandomSchedules) {
  int finished = 0;
  int stuck = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const Schedule schedule = RandomSchedule(seed).make();
    ASSERT_TRUE(check_messages(schedule).has_value() && check_collectives(schedule).has_value());
    const auto checked = check_progress(schedule);
    const bool finishes = LiteralRun(schedule).finishes();
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
