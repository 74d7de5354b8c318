#include "tests/support/toy_schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "core/base/check.h"
#include "core/schedule/channels.h"

namespace stagewright {
namespace {

using Lists = std::vector<std::vector<Action>>;

std::vector<Action> parse_list(const std::string& line) {
  std::istringstream tokens(line);
  std::vector<Action> list;
  for (std::string token; tokens >> token;) {
    const auto action = parse_action(token);
    SW_CHECK(action.has_value(), "a known token, found " + token);
    list.push_back(*action);
  }
  return list;
}

Lists parse_lists(const std::vector<std::string>& lines) {
  Lists lists;
  for (const std::string& line : lines) {
    lists.push_back(parse_list(line));
  }
  return lists;
}

/// Which pipeline rank computes (stage, micro-batch).
using Placement = std::map<std::pair<StageId, MicroBatchId>, std::int32_t>;

Placement placement_of(const Lists& lists) {
  Placement placement;
  for (std::size_t rank = 0; rank < lists.size(); ++rank) {
    for (const Action& action : lists[rank]) {
      if (is_compute(action.kind)) {
        placement.try_emplace({action.stage, action.micro_batch}, static_cast<std::int32_t>(rank));
      }
    }
  }
  return placement;
}

/// The pipeline rank at the other side of a message.
std::int32_t partner(const Placement& placement, const Action& action, std::int32_t self) {
  const StageId below = message_border(action);
  const StageId other = action.stage == below ? StageId(below.value() + 1) : below;
  const auto found = placement.find({other, action.micro_batch});
  return found == placement.end() ? self : found->second;
}

/// Numbers the peers in the order in which the list names them.
std::vector<std::int32_t> assign_peers(const Placement& placement,
                                       std::int32_t self,
                                       std::vector<Action>& list) {
  std::vector<std::int32_t> peers;
  for (Action& action : list) {
    if (is_send(action.kind) || is_receive(action.kind)) {
      const std::int32_t peer = partner(placement, action, self);
      auto slot = std::ranges::find(peers, peer);
      if (slot == peers.end()) {
        peers.push_back(peer);
        slot = peers.end() - 1;
      }
      action.peer = PeerSlot(static_cast<std::size_t>(slot - peers.begin()));
    }
  }
  return peers;
}

/// Builds the program of one rank.
class ProgramBuilder {
 public:
  ProgramBuilder(std::int32_t stages, const ToyOptions& options)
      : stages_(stages), options_(options) {}

  RankProgram build(const std::vector<Action>& list) {
    std::set<StageId> held;
    for (const Action& action : list) {
      if (is_compute(action.kind) || is_send(action.kind) || is_receive(action.kind)) {
        held.insert(action.stage);
      }
    }
    for (const StageId stage : held) {
      add_stage(stage, list);
    }
    program_.actions = list;
    return std::move(program_);
  }

 private:
  TensorId tensor(const std::string& name,
                  std::vector<std::int64_t> shape,
                  TensorClass tensor_class,
                  TensorScope scope) {
    program_.tensors.push_back(
        {name, DType::kFloat32, std::move(shape), tensor_class, scope, std::nullopt});
    return TensorId(program_.tensors.size() - 1);
  }

  /// An activation or its gradient at the border above stage `below`: shared by both stages where
  /// both are here.  Beyond the ends of the pipeline it is there all the time.
  TensorId border(const std::string& name, std::int32_t below) {
    const auto [found, is_new] = borders_.try_emplace({name, below});
    if (is_new) {
      const bool inside = below >= 0 && below + 1 < stages_;
      found->second = tensor(name + std::to_string(below),
                             {options_.rows, options_.width},
                             inside ? TensorClass::kCommunication : TensorClass::kInput,
                             inside ? TensorScope::kMicroBatch : TensorScope::kPersistent);
    }
    return found->second;
  }

  [[nodiscard]] Operation gemm(StageId stage, std::vector<TensorId> inputs, TensorId output) const {
    Operation op;
    op.kind = OpKind::kGemm;
    op.shape.rows = options_.rows;
    op.shape.cols = op.shape.inner = options_.width;
    op.inputs = std::move(inputs);
    op.outputs = {output};
    op.layer = LayerId(stage.value());
    return op;
  }

  void add_stage(StageId stage, const std::vector<Action>& list) {
    const std::string number = std::to_string(stage.value());
    const std::vector<std::int64_t> square{options_.width, options_.width};
    const std::vector<std::int64_t> rows{options_.rows, options_.width};
    const bool is_first = stage.value() == 0;
    const bool is_last = stage.value() + 1 == stages_;
    const TensorId w =
        tensor("w" + number, square, TensorClass::kParameter, TensorScope::kPersistent);
    const TensorId dw =
        tensor("dw" + number, square, TensorClass::kGradient, TensorScope::kPersistent);
    const TensorId x = border("y", stage.value() - 1);
    const TensorId dy = border("dy", stage.value());
    const TensorId y = is_last
                           ? tensor("out", rows, TensorClass::kActivation, TensorScope::kMicroBatch)
                           : border("y", stage.value());
    const TensorId dx = is_first
                            ? tensor("dx", rows, TensorClass::kActivation, TensorScope::kMicroBatch)
                            : border("dy", stage.value() - 1);

    StageProgram program;
    program.stage = stage;
    program.forward = {gemm(stage, {x, w}, y)};
    Operation input_half = gemm(stage, {dy, w}, dx);
    input_half.transpose_b = true;
    Operation weight_half = gemm(stage, {x, dy}, dw);
    weight_half.transpose_a = weight_half.accumulate = weight_half.weight_gradient = true;
    weight_half.shape.rows = options_.width;
    weight_half.shape.inner = options_.rows;
    program.backward = {input_half, weight_half};
    if (uses(list, ActionKind::kRecompute, stage)) {
      program.recompute = {
          gemm(stage,
               {x, w},
               tensor("again" + number, rows, TensorClass::kActivation, TensorScope::kMicroBatch))};
    }
    if (uses(list, ActionKind::kLoadMicroBatch, stage)) {
      program.tokens =
          tensor("tokens" + number, {options_.rows}, TensorClass::kInput, TensorScope::kMicroBatch);
      program_.tensors.back().dtype = DType::kInt32;
    }
    if (!is_first) {
      program.input = x;
      program.input_gradient = dx;
    }
    if (!is_last) {
      program.output = y;
      program.output_gradient = dy;
    }
    program_.stages.push_back(std::move(program));
    add_bucket(stage, w, dw);
  }

  void add_bucket(StageId stage, TensorId w, TensorId dw) {
    Operation reduce;
    reduce.kind = OpKind::kAllReduce;
    reduce.variant = OpVariant::kSum;
    reduce.stream = StreamId(1);
    reduce.shape.cols = options_.width * options_.width;
    reduce.inputs = reduce.outputs = {dw};
    reduce.group = GroupSlot(0);
    program_.buckets.push_back({dw, stage, {reduce}, {}});
    Operation step;
    step.kind = OpKind::kSgdStep;
    step.shape.cols = options_.width * options_.width;
    step.inputs = {dw};
    step.outputs = {w};
    program_.optimizer_step.push_back(step);
  }

  static bool uses(const std::vector<Action>& list, ActionKind kind, StageId stage) {
    return std::ranges::any_of(
        list, [&](const Action& action) { return action.kind == kind && action.stage == stage; });
  }

  std::int32_t stages_;
  ToyOptions options_;
  RankProgram program_;
  std::map<std::pair<std::string, std::int32_t>, TensorId> borders_;
};

void bind_ranks(Schedule& schedule, const std::vector<std::vector<std::int32_t>>& peers) {
  const auto pipeline = static_cast<std::int32_t>(peers.size());
  for (std::int32_t p = 0; p < pipeline; ++p) {
    Group group{"data", {}};
    for (std::int32_t replica = 0; replica < schedule.replicas; ++replica) {
      group.members.emplace_back(replica * pipeline + p);
    }
    schedule.groups.push_back(std::move(group));
  }
  for (std::int32_t replica = 0; replica < schedule.replicas; ++replica) {
    for (std::int32_t p = 0; p < pipeline; ++p) {
      RankBinding binding;
      binding.program = ProgramId(p);
      binding.device = DeviceId(replica * pipeline + p);
      binding.groups = {GroupId(p)};
      binding.positions = {replica};
      for (const std::int32_t peer : peers[static_cast<std::size_t>(p)]) {
        binding.peers.emplace_back(replica * pipeline + peer);
      }
      binding.replica = replica;
      schedule.ranks.push_back(std::move(binding));
    }
  }
}

}  // namespace

Schedule toy_schedule(const std::vector<std::string>& ranks, const ToyOptions& options) {
  Lists lists = parse_lists(ranks);
  Schedule schedule;
  schedule.model_name = "toy";
  schedule.schedule_name = "by hand";
  for (const auto& list : lists) {
    for (const Action& action : list) {
      schedule.stages = std::max(schedule.stages, action.stage.value() + 1);
      schedule.micro_batches = std::max(schedule.micro_batches, action.micro_batch.value() + 1);
    }
  }
  schedule.sequence = static_cast<std::int32_t>(options.rows);
  schedule.replicas = options.replicas;
  schedule.streams = {"compute", "reduce"};

  const Placement placement = placement_of(lists);
  std::vector<std::vector<std::int32_t>> peers;
  for (std::size_t p = 0; p < lists.size(); ++p) {
    peers.push_back(assign_peers(placement, static_cast<std::int32_t>(p), lists[p]));
    schedule.programs.push_back(ProgramBuilder(schedule.stages, options).build(lists[p]));
  }
  bind_ranks(schedule, peers);
  return schedule;
}

std::vector<std::string> toy_1f1b(std::int32_t stages, std::int32_t micro_batches) {
  std::vector<std::string> ranks;
  for (std::int32_t s = 0; s < stages; ++s) {
    std::ostringstream line;
    const auto forward = [&](std::int32_t m) {
      if (s > 0) {
        line << s << "RECV_F" << m << ' ';
      }
      line << s << 'F' << m << ' ';
      if (s + 1 < stages) {
        line << s << "SEND_F" << m << ' ';
      }
    };
    const auto backward = [&](std::int32_t m) {
      if (s + 1 < stages) {
        line << s << "RECV_B" << m << ' ';
      }
      line << s << 'B' << m << ' ';
      if (s > 0) {
        line << s << "SEND_B" << m << ' ';
      }
    };
    const std::int32_t warm_up = std::min(stages - 1 - s, micro_batches);
    for (std::int32_t m = 0; m < warm_up; ++m) {
      forward(m);
    }
    for (std::int32_t m = warm_up; m < micro_batches; ++m) {
      forward(m);
      backward(m - warm_up);
    }
    for (std::int32_t m = micro_batches - warm_up; m < micro_batches; ++m) {
      backward(m);
    }
    ranks.push_back(line.str());
  }
  return ranks;
}

}  // namespace stagewright
