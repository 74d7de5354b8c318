#include "planner/explain/rules_of_thumb.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/counted.h"
#include "core/base/units.h"

namespace stagewright {
namespace {

constexpr double kStageSpread = 0.10;
constexpr double kMemoryShare = 0.90;
constexpr double kUtilisation = 0.80;
constexpr std::int64_t kLeastPerStage = 2;
constexpr std::int64_t kPlentyPerStage = 4;

/// How many micro-batches models of a size are usually given.
struct UsualMicroBatches {
  double parameters = 0;  ///< up to so many
  std::int64_t low = 0;
  std::int64_t high = 0;
};
constexpr UsualMicroBatches kUsual[] = {
    {10e9, 4, 8}, {100e9, 16, 32}, {std::numeric_limits<double>::infinity(), 64, 128}};

Verdict verdict(bool kept) {
  return kept ? Verdict::kKept : Verdict::kBroken;
}

double bubble(const PricedPlan& priced, BubbleCause cause) {
  return priced.use.mean.bubble[static_cast<std::size_t>(cause)];
}

double fill_and_drain(const PricedPlan& priced) {
  return bubble(priced, BubbleCause::kWarmUp) + bubble(priced, BubbleCause::kCoolDown);
}

/// Neighbours in a tensor-parallel group are so many places apart on the cluster.
std::int64_t tensor_stride(const Plan& plan) {
  const StagePlan& stage = plan.stages.front();
  std::int64_t stride = 1;
  for (const std::string& axis : plan.rank_order) {
    if (axis == "tp") {
      break;
    }
    stride *= axis == "cp" ? plan.cp : axis == "dp" ? stage.dp : plan.pp();
  }
  return stride;
}

RuleOfThumb tensor_in_node(const ExplainJob& job, const PricedPlan& priced) {
  const std::int64_t tp = priced.plan.stages.front().tp;
  const auto node = static_cast<std::int64_t>(job.cluster.nodes.front().devices.size());
  RuleOfThumb rule{.rule = "tensor parallelism stays within the node",
                   .verdict = Verdict::kNoMatter,
                   .figures = "tp 1",
                   .at_stake = 0};
  if (tp > 1) {
    const std::int64_t span = tp * tensor_stride(priced.plan);
    rule.verdict = verdict(span <= node && node % span == 0);
    const auto exposed = priced.use.mean.exposed.find("tensor");
    rule.at_stake = exposed == priced.use.mean.exposed.end() ? 0 : exposed->second;
    rule.figures = fmt::format("tp {} spans {} devices in order, a node has {}", tp, span, node);
  }
  return rule;
}

RuleOfThumb micro_batches_by_stages(const PricedPlan& priced) {
  const std::int64_t pp = priced.plan.pp();
  const std::int64_t chunks = priced.plan.micro_batches / priced.plan.flushes;
  RuleOfThumb rule{.rule = "micro-batches are at least 2 to 4 times the pipeline's stages",
                   .verdict = Verdict::kNoMatter,
                   .figures = "no pipeline",
                   .at_stake = 0};
  if (pp > 1) {
    rule.verdict = verdict(chunks >= kLeastPerStage * pp);
    rule.at_stake = fill_and_drain(priced);
    rule.figures = fmt::format("{} over {} stages: {:.1f} times{}",
                               counted(chunks, "micro-batch"),
                               pp,
                               static_cast<double>(chunks) / static_cast<double>(pp),
                               chunks >= kPlentyPerStage * pp  ? ""
                               : chunks >= kLeastPerStage * pp ? ", at the lower end"
                                                               : "");
  }
  return rule;
}

RuleOfThumb micro_batches_by_size(const ExplainJob& job, const PricedPlan& priced) {
  const auto parameters = static_cast<double>(parameter_count(job.model));
  const UsualMicroBatches& usual = *std::ranges::find_if(
      kUsual, [&](const UsualMicroBatches& entry) { return parameters <= entry.parameters; });
  RuleOfThumb rule{
      .rule =
          "4 to 8 micro-batches up to 10 billion parameters, 16 to 32 up to 100, then 64 to 128",
      .verdict = Verdict::kNoMatter,
      .figures = "no pipeline",
      .at_stake = 0};
  if (priced.plan.pp() > 1) {
    const std::int64_t chunks = priced.plan.micro_batches;
    rule.verdict = verdict(chunks >= usual.low && chunks <= usual.high);
    rule.at_stake = fill_and_drain(priced);
    rule.figures = fmt::format("{}; usual for {:.3g} billion parameters: {} to {}",
                               counted(chunks, "micro-batch"),
                               parameters / 1e9,
                               usual.low,
                               usual.high);
  }
  return rule;
}

RuleOfThumb stage_times(const PricedPlan& priced) {
  RuleOfThumb rule{.rule = "stages take the same within 10 %",
                   .verdict = Verdict::kNoMatter,
                   .figures = "no pipeline",
                   .at_stake = 0};
  if (priced.plan.pp() > 1) {
    const auto [least, most] = std::ranges::minmax(
        priced.use.ranks, {}, [](const RankTimeUse& rank) { return rank.use.computing(); });
    const double low = least.use.computing();
    const double high = most.use.computing();
    rule.verdict = verdict(high <= low * (1 + kStageSpread));
    rule.at_stake = bubble(priced, BubbleCause::kImbalance);
    rule.figures = fmt::format("ranks compute for {:.4g} to {:.4g} s: {:.1f} % apart",
                               low,
                               high,
                               low > 0 ? 100 * (high / low - 1) : 0);
  }
  return rule;
}

RuleOfThumb memory(const PricedPlan& priced) {
  const RankMemory& rank = priced.fullest();
  const double share = rank.total / rank.capacity;
  return {.rule = "memory is filled below 90 %",
          .verdict = verdict(share < kMemoryShare),
          .figures = fmt::format("{} of {} on rank {}: {:.1f} %",
                                 to_string(rank.total),
                                 to_string(rank.capacity),
                                 rank.rank.value(),
                                 100 * share),
          .at_stake = 0};
}

RuleOfThumb utilisation(const PricedPlan& priced) {
  const double step = to_seconds(priced.summary.step_time);
  const double busy = priced.use.mean.computing() + priced.use.mean.optimizer;
  const double share = step > 0 ? busy / step : 0;
  return {.rule = "devices compute for more than 80 % of the step",
          .verdict = verdict(share > kUtilisation),
          .figures = fmt::format("{:.1f} %", 100 * share),
          .at_stake = std::max(0.0, step - busy)};
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kKept:
      return "kept";
    case Verdict::kBroken:
      return "broken";
    case Verdict::kNoMatter:
      return "no matter";
  }
  SW_CHECK(false, "a listed verdict");
}

std::vector<RuleOfThumb> rules_of_thumb(const ExplainJob& job, const PricedPlan& priced) {
  return {tensor_in_node(job, priced),
          micro_batches_by_stages(priced),
          micro_batches_by_size(job, priced),
          stage_times(priced),
          memory(priced),
          utilisation(priced)};
}

}  // namespace stagewright
