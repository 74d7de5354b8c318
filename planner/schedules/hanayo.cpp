#include "planner/schedules/hanayo.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "planner/schedules/stage_layout.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 1> kAliases{"wave"};
constexpr std::int64_t kForwardTime = 1;
constexpr std::int64_t kBackwardTime = 2;

/// Micro-batches under way at once, in units of the ranks: one unit is in its waves down to the
/// last backward while the next one fills the gaps behind it.
constexpr std::int32_t kUnitsUnderWay = 2;

/// Runs the waves slot by slot.
class WaveReplay {
 public:
  explicit WaveReplay(const PipelineShape& shape)
      : shape_(shape),
        order_(wave_layout(shape)),
        free_(order_.ranks.size()),
        waiting_(order_.ranks.size()) {
    const auto m = static_cast<std::size_t>(shape.micro_batches);
    step_.resize(m);
    ready_.resize(m);
    let_in();
  }

  PipelineOrder run() {
    const std::int64_t total = std::int64_t{2} * order_.stages * order_.micro_batches;
    std::int64_t done = 0;
    for (std::int64_t now = 0; done < total; ++now) {
      for (std::size_t rank = 0; rank < free_.size(); ++rank) {
        if (free_[rank] <= now && start_on(rank, now)) {
          ++done;
        }
      }
    }
    return std::move(order_);
  }

 private:
  /// A micro-batch's way: stages 0 .. S - 1 forward, then S - 1 .. 0 backward.
  [[nodiscard]] bool backward(std::int32_t step) const { return step >= order_.stages; }
  [[nodiscard]] std::int32_t stage_of(std::int32_t step) const {
    return backward(step) ? 2 * order_.stages - 1 - step : step;
  }

  /// When a step would be run if units of P micro-batches followed each other without a pause, each
  /// micro-batch one forward and backward of a stage behind the one before.
  [[nodiscard]] std::int64_t virtual_time(std::size_t m, std::int32_t step) const {
    constexpr std::int64_t kBoth = kForwardTime + kBackwardTime;
    const auto unit = static_cast<std::int64_t>(m) / shape_.ranks;
    const auto within = static_cast<std::int64_t>(m) % shape_.ranks;
    const std::int64_t way =
        backward(step) ? kForwardTime * order_.stages + kBackwardTime * (step - order_.stages)
                       : kForwardTime * step;
    return unit * kBoth * order_.stages + within * kBoth + way;
  }

  /// The rank that a micro-batch's next step lies on.
  [[nodiscard]] std::size_t rank_of(std::size_t m) const {
    return static_cast<std::size_t>(
        order_.placement[0][static_cast<std::size_t>(stage_of(step_[m]))]);
  }

  /// Micro-batches that may be under way.
  void let_in() {
    const std::int32_t last =
        std::min(finished_ + kUnitsUnderWay * shape_.ranks, shape_.micro_batches);
    for (; let_in_ < last; ++let_in_) {
      const auto m = static_cast<std::size_t>(let_in_);
      waiting_[rank_of(m)].push_back(m);
    }
  }

  /// Whether a rank has begun something; its choice is by virtual time, then by number.
  bool start_on(std::size_t rank, std::int64_t now) {
    std::vector<std::size_t>& waiting = waiting_[rank];
    const auto key = [this](std::size_t m) { return std::pair(virtual_time(m, step_[m]), m); };
    auto best = waiting.end();
    for (auto m = waiting.begin(); m != waiting.end(); ++m) {
      if (ready_[*m] <= now && (best == waiting.end() || key(*m) < key(*best))) {
        best = m;
      }
    }
    if (best == waiting.end()) {
      return false;
    }
    const std::size_t m = *best;
    *best = waiting.back();
    waiting.pop_back();
    const std::int32_t step = step_[m]++;
    order_.ranks[rank].push_back(
        compute_action(backward(step) ? ActionKind::kBackward : ActionKind::kForward,
                       stage_of(step),
                       static_cast<std::int32_t>(m)));
    ready_[m] = now + (backward(step) ? kBackwardTime : kForwardTime);
    free_[rank] = ready_[m];
    if (step_[m] < 2 * order_.stages) {
      waiting_[rank_of(m)].push_back(m);
    }
    while (finished_ < shape_.micro_batches &&
           step_[static_cast<std::size_t>(finished_)] == 2 * order_.stages) {
      ++finished_;
    }
    let_in();
    return true;
  }

  const PipelineShape& shape_;
  PipelineOrder order_;
  std::vector<std::int64_t> free_;  ///< by rank
  std::vector<std::vector<std::size_t>>
      waiting_;                      ///< by rank, micro-batches whose next step is its
  std::vector<std::int32_t> step_;   ///< by micro-batch, the next one of its way
  std::vector<std::int64_t> ready_;  ///< by micro-batch
  std::int32_t finished_ = 0;        ///< micro-batches from the first on that are all done
  std::int32_t let_in_ = 0;          ///< from the first on that are or were under way
};

Result<PipelineOrder> generate(const PipelineShape& shape) {
  if (shape.virtual_stages % 2 != 0) {
    return fail(
        ErrorCode::kInfeasible,
        fmt::format("schedule 'hanayo' has two virtual stages per wave, but virtual_stages "
                    "is {}; {}{} would work",
                    shape.virtual_stages,
                    shape.virtual_stages > 1 ? fmt::format("{} or ", shape.virtual_stages - 1)
                                             : std::string(),
                    shape.virtual_stages + 1),
        "plan:/virtual_stages");
  }
  return WaveReplay(shape).run();
}

}  // namespace

ScheduleGenerator hanayo_schedule() {
  return {.name = "hanayo",
          .aliases = kAliases,
          .summary = "waves down and up the ranks; a shorter bubble with one copy of the weights",
          .figures = {.bubble = "1.3 to 2.3 (P-1)(F+B) for M = P, 1.6 to 3.5 for 8P",
                      .peak = "V*P for M = P, about (V+1)*P above",
                      .weights = "1",
                      .constraints = "V even"},
          .parameters = {},
          .default_virtual_stages = 2,
          .layout = wave_layout,
          .accepts = [](const PipelineShape& shape) { return shape.virtual_stages % 2 == 0; },
          .generate = generate};
}

}  // namespace stagewright
