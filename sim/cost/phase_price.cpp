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

bool is_collective(const Operation& op) {
  return class_of(op.kind) == OpClass::kCollective;
}

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
    if (ops_.size() == selection.ops.size()) {
      contiguous_ = selection.ops;
    } else {
      for (const Operation* op : ops_) {
        copies_.push_back(*op);
      }
      contiguous_ = copies_;
    }
  }

  [[nodiscard]] PricedOperations run() && {
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const Price price = price_of(*ops_[i]);
      result_.ops[i].duration = price.time;
      result_.ops[i].source = price.source;
      result_.seconds += to_seconds(price.time);
    }
    if (result_.seconds > kLongestSeconds) {
      for (PricedOperation& op : result_.ops) {
        op.duration = {};
      }
      return std::move(result_);
    }
    price_run(0, ops_.size(), RunLevel::kWhole);
    return std::move(result_);
  }

 private:
  [[nodiscard]] Price price_of(const Operation& op) const {
    if (!is_collective(op)) {
      return cost_.operation(op, *place_.device);
    }
    SW_CHECK(op.group && op.group->index() < place_.groups.size(),
             "a collective over a known group");
    return cost_.collective(op, place_.groups[op.group->index()]);
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
    return run_operations(program_, std::span(ops_).subspan(begin, end - begin), durations).end;
  }

  const RankProgram& program_;
  const RankPlace& place_;
  const CostModel& cost_;
  std::vector<const Operation*> ops_;  ///< the selected ones
  std::vector<Operation> copies_;      ///< of them, where they do not stand side by side
  std::span<const Operation> contiguous_;
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
  std::vector<const Operation*> ops;
  std::vector<Duration> durations;
  for (const PricedOperation& op : price.ops) {
    ops.push_back(&selection.ops[static_cast<std::size_t>(op.op)]);
    durations.push_back(op.duration);
  }
  const OperationRun run = run_operations(program, ops, durations);
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
