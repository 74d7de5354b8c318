#include "sim/cost/phase_price.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "core/base/check.h"
#include "core/base/longest_time.h"
#include "sim/cost/operation_run.h"

namespace stagewright {
namespace {

/// Lengths of runs that may have been measured as a whole, longest first.
enum class RunLevel : std::uint8_t {
  kWhole,
  kLayer,
  kBetweenCollectives,
  kOperation
};

RunLevel shorter(RunLevel level) {
  return static_cast<RunLevel>(static_cast<int>(level) + 1);
}

class Pricer {
 public:
  Pricer(const RankProgram& program,
         const ActionOperations& selection,
         const RankPlace& place,
         const CostModel& cost)
      : program_(program), place_(place), cost_(cost) {
    for (std::size_t i = 0; i < selection.ops.size(); ++i) {
      if (selection.includes(selection.ops[i])) {
        ops_.push_back(&selection.ops[i]);
        result_.ops.push_back({.op = static_cast<std::int32_t>(i)});
      }
    }
    latency_.resize(ops_.size());
    if (ops_.size() == selection.ops.size()) {
      contiguous_ = selection.ops;
    } else {
      for (const Operation* op : ops_) {
        copies_.push_back(*op);
      }
      contiguous_ = copies_;
    }
    is_step_ = is(selection, program.optimizer_step);
    message_ = message_before(selection);
    for (std::size_t b = 0; b < place.exposed.size(); ++b) {
      if (is(selection, program.buckets[b].reduce)) {
        bucket_share_ = place.exposed[b].reduce;
      } else if (is(selection, program.buckets[b].gather)) {
        bucket_share_ = place.exposed[b].gather;
        owners_ = b == 0;
      }
    }
  }

  [[nodiscard]] PricedOperations run() && {
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const Price price = price_of(i);
      result_.ops[i].duration = price.time;
      result_.ops[i].source = price.source;
      result_.ops[i].blocks = blocks(*ops_[i]);
      result_.seconds += to_seconds(price.time);
    }
    if (result_.seconds > kLongestSeconds) {
      for (PricedOperation& op : result_.ops) {
        op.duration = {};
      }
      return std::move(result_);
    }
    price_run(0, ops_.size(), RunLevel::kWhole);
    if (place_.rules != ExecutionRules{}) {
      apply_rules();
    }
    return std::move(result_);
  }

 private:
  /// Whether a selection is the whole of a list.
  [[nodiscard]] static bool is(const ActionOperations& selection,
                               const std::vector<Operation>& list) {
    return !list.empty() && selection.ops.data() == list.data() &&
           selection.ops.size() == list.size();
  }

  /// The message that a pass of a stage waits for first.
  [[nodiscard]] Duration message_before(const ActionOperations& selection) const {
    if (place_.waits.empty()) {
      return {};
    }
    for (const StageProgram& stage : program_.stages) {
      const auto wait = place_.waits.find(stage.stage);
      if (wait == place_.waits.end()) {
        continue;
      }
      if (is(selection, stage.forward)) {
        return wait->second.forward;
      }
      if (is(selection, stage.backward) && selection.half != ActionOperations::Half::kWeight) {
        return wait->second.backward;
      }
    }
    return {};
  }

  /// Members of different programs come at different times: to hold up their computation until the
  /// last one is there would go beyond what the list says, and could wait for ever.
  /// A ring's shifts run beside the blocks of attention that the list puts there.
  [[nodiscard]] bool blocks(const Operation& op) const {
    return place_.rules.collectives_block && is_collective(op) && op.kind != OpKind::kRingShift &&
           place_.alike[op.group->index()];
  }

  /// Of a collective between kernels, its latency goes to `latency_`.
  [[nodiscard]] Price price_of(std::size_t i) {
    const Operation& op = *ops_[i];
    if (!is_collective(op)) {
      return computation(op);
    }
    SW_CHECK(op.group && op.group->index() < place_.groups.size(),
             "a collective over a known group");
    const GroupGeometry& group = place_.groups[op.group->index()];
    Price price = cost_.collective(op, group);
    if (between_kernels(i) && price.source == PriceSource::kAnalytical) {
      Operation smallest = op;
      smallest.shape = {};
      latency_[i] = std::min(price.time, cost_.collective(smallest, group).time);
      price.time -= latency_[i];
    }
    const double exposed = exposed_share(i);
    if (exposed != 1) {
      price.time = from_seconds(to_seconds(price.time) * exposed);
    }
    if (owners_) {
      price.time += place_.rules.owner * group.members;
    }
    return price;
  }

  /// Whether the kernels of a pass wait for this collective, by rules that say what that costs.
  [[nodiscard]] bool between_kernels(std::size_t i) const {
    return is_collective(*ops_[i]) && ops_[i]->kind != OpKind::kRingShift &&
           ops_[i]->kind != OpKind::kAllToAll && !bucket_share_ && !is_step_ &&
           place_.rules != ExecutionRules{};
  }

  [[nodiscard]] Price computation(const Operation& op) const {
    if (place_.rules.fresh_gradients && op.weight_gradient && !op.outputs.empty()) {
      const TensorSpec& output = program_.tensors[op.outputs.front().index()];
      if (output.tensor_class == TensorClass::kGradient &&
          output.scope == TensorScope::kMicroBatch) {
        if (op.kind == OpKind::kFill) {
          return {};
        }
        Operation written = op;
        written.accumulate = false;
        return cost_.operation(written, *place_.device);
      }
    }
    return cost_.operation(op, *place_.device);
  }

  /// Of a collective's time, what is not hidden by computation.
  [[nodiscard]] double exposed_share(std::size_t i) const {
    if (bucket_share_) {
      // What several holders of one weight sum comes first, and nothing hides it.
      return i + 1 == ops_.size() ? *bucket_share_ : 1;
    }
    if (ops_[i]->kind == OpKind::kAllToAll) {
      return place_.rules.exchange_exposed;
    }
    if (ops_[i]->kind == OpKind::kRingShift) {
      return 1;
    }
    // What sums an input gradient runs under the weight gradient behind it; what gathers an input
    // for a weight gradient, under the input gradient before that.
    const bool under_weights =
        ops_[i]->weight_gradient || (i + 1 < ops_.size() && ops_[i + 1]->weight_gradient);
    return 1 - (under_weights ? place_.rules.hidden_under_weights : place_.rules.hidden);
  }

  void apply_rules() {
    for (std::size_t next = 0; next < ops_.size();) {
      const std::size_t first = next;
      ++next;
      while (next < ops_.size() && ops_[next]->layer == ops_[first]->layer) {
        ++next;
      }
      wait_for_host(first, next);
    }
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      if (between_kernels(i)) {
        result_.ops[i].duration += place_.rules.collective_skew + latency_[i];
      }
    }
    if (is_step_) {
      result_.ops.back().duration += place_.rules.once_a_step;
    }
    for (PricedOperation& op : result_.ops) {
      if (place_.stretch != 1) {
        op.duration = from_seconds(to_seconds(op.duration) * place_.stretch);
      }
    }
    if (!result_.ops.empty()) {
      result_.ops.front().duration += message_;
    }
    result_.seconds = 0;
    for (const PricedOperation& op : result_.ops) {
      result_.seconds += to_seconds(op.duration);
    }
  }

  /// A layer's pass lasts at least as long as the host issues its kernels; what was measured has
  /// its waiting in it.
  void wait_for_host(std::size_t begin, std::size_t end) {
    Duration host{};
    Duration busy{};
    Duration computed{};
    for (std::size_t i = begin; i < end; ++i) {
      const PricedOperation& priced = result_.ops[i];
      busy += priced.duration;
      if (!is_collective(*ops_[i]) && priced.source != PriceSource::kMeasured) {
        host += cost_.issue(*ops_[i], *place_.device);
        computed += priced.duration;
      } else if (between_kernels(i)) {
        host += cost_.issue(*ops_[i], *place_.device);
      }
    }
    if (host <= busy || computed == Duration{}) {
      return;
    }
    const double factor = to_seconds(computed + (host - busy)) / to_seconds(computed);
    for (std::size_t i = begin; i < end; ++i) {
      PricedOperation& priced = result_.ops[i];
      if (!is_collective(*ops_[i]) && priced.source != PriceSource::kMeasured) {
        priced.duration = from_seconds(to_seconds(priced.duration) * factor);
      }
    }
  }

  void price_run(std::size_t begin, std::size_t end, RunLevel level) {
    if (level == RunLevel::kOperation || end - begin < 2) {
      return;
    }
    if (const auto segment =
            cost_.segment(contiguous_.subspan(begin, end - begin), *place_.device)) {
      spread(begin, end, *segment);
      return;
    }
    for (std::size_t next = begin; next < end;) {
      const std::size_t first = next;
      ++next;
      while (next < end && same_run(*ops_[next - 1], *ops_[next], shorter(level))) {
        ++next;
      }
      price_run(first, next, shorter(level));
    }
  }

  [[nodiscard]] static bool same_run(const Operation& a, const Operation& b, RunLevel level) {
    return level == RunLevel::kLayer
               ? a.layer == b.layer
               : level == RunLevel::kBetweenCollectives && !is_collective(a) && !is_collective(b);
  }

  /// Stretches the operations of a run to what the whole run was measured to take.  Ends, not
  /// durations, are rounded, so that the sum is right to the picosecond.
  void spread(std::size_t begin, std::size_t end, const Price& segment) {
    const Duration alone = elapsed(begin, end);
    const std::span run(result_.ops.data() + begin, end - begin);
    if (std::ranges::all_of(
            run, [](const PricedOperation& op) { return op.source == PriceSource::kMeasured; })) {
      result_.glue += segment.time - alone;
    }
    if (alone == Duration{}) {
      run.back().duration = segment.time;
    } else {
      const double factor = to_seconds(segment.time) / to_seconds(alone);
      Duration before{};
      Duration stretched_before{};
      for (PricedOperation& op : run) {
        before += op.duration;
        const Duration stretched(std::llround(static_cast<double>(before.count()) * factor));
        op.duration = stretched - stretched_before;
        stretched_before = stretched;
      }
    }
    for (PricedOperation& op : run) {
      op.source = segment.source;
    }
  }

  [[nodiscard]] Duration elapsed(std::size_t begin, std::size_t end) const {
    std::vector<Duration> durations;
    for (std::size_t i = begin; i < end; ++i) {
      durations.push_back(result_.ops[i].duration);
    }
    return run_operations(program_, std::span(ops_).subspan(begin, end - begin), durations, {}).end;
  }

  const RankProgram& program_;
  const RankPlace& place_;
  const CostModel& cost_;
  std::vector<const Operation*> ops_;  ///< the selected ones
  std::vector<Operation> copies_;      ///< of them, where they do not stand side by side
  std::span<const Operation> contiguous_;
  std::optional<double> bucket_share_;  ///< exposed share of the bucket whose collectives these are
  bool owners_ = false;                 ///< the first that send parameters out
  bool is_step_ = false;                ///< the optimizer's
  Duration message_{};                  ///< that the first operation waits for
  std::vector<Duration> latency_;  ///< of collectives between kernels, not in their durations yet
  PricedOperations result_;
};

void add_totals(const ActionOperations& selection, PhasePrice& price) {
  for (const PricedOperation& priced : price.ops) {
    const Operation& op = selection.ops[static_cast<std::size_t>(priced.op)];
    price.by_source[priced.source] += priced.duration;
    price.flops += flops_of(op);
    if (!is_collective(op)) {
      price.bytes += bytes_moved(op);
    }
  }
}

}  // namespace

Duration message_time(Bytes size,
                      const GroupGeometry& ends,
                      const RankPlace& place,
                      const CostModel& cost) {
  return place.rules.transfers_block ? Duration{} : whole_message_time(size, ends, place, cost);
}

Duration whole_message_time(Bytes size,
                            const GroupGeometry& ends,
                            const RankPlace& place,
                            const CostModel& cost) {
  const ExecutionRules& rules = place.rules;
  if (rules.scatters_transfers && place.activation_copies > 1) {
    size = Bytes((size.count() + place.activation_copies - 1) / place.activation_copies);
  }
  const Duration whole = cost.transfer(size, ends).time;
  const double share = rules.transfer_exposed * place.stretch;
  return share == 1 ? whole : from_seconds(to_seconds(whole) * share);
}

PricedOperations price_operations(const RankProgram& program,
                                  const ActionOperations& selection,
                                  const RankPlace& place,
                                  const CostModel& cost) {
  return Pricer(program, selection, place, cost).run();
}

PhasePrice price_phase(const RankProgram& program,
                       const ActionOperations& selection,
                       const RankPlace& place,
                       const CostModel& cost) {
  PricedOperations priced = price_operations(program, selection, place, cost);
  PhasePrice price;
  price.ops = std::move(priced.ops);
  price.glue = priced.glue;
  price.seconds = priced.seconds;
  std::vector<const Operation*> ops;
  std::vector<Duration> durations;
  std::vector<bool> blocks;
  for (const PricedOperation& op : price.ops) {
    ops.push_back(&selection.ops[static_cast<std::size_t>(op.op)]);
    durations.push_back(op.duration);
    blocks.push_back(op.blocks);
  }
  const OperationRun run = run_operations(program, ops, durations, blocks);
  for (std::size_t i = 0; i < price.ops.size(); ++i) {
    price.ops[i].start = run.start[i];
  }
  for (const OperationRun::Wait& wait : run.waits) {
    const Operation& collective = *ops[wait.collective];
    if (collective.group) {
      price.exposed[place.group_kinds[collective.group->index()]] += wait.time;
    }
  }
  price.compute = run.compute_end;
  price.total = run.end;
  add_totals(selection, price);
  return price;
}

}  // namespace stagewright
