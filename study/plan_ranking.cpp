#include "study/plan_ranking.h"

#include <algorithm>
#include <map>
#include <utility>

#include "study/statistics.h"

namespace stagewright {
namespace {

constexpr double kApart = 1.05;
constexpr int kLeastPlans = 3;

struct RankedPlan {
  double predicted = 0;
  double measured = 0;
};

/// How many plans are left when each has to be slower than the one before by that much.
int plans_apart(const std::vector<RankedPlan>& plans) {
  std::vector<double> times;
  for (const RankedPlan& plan : plans) {
    times.push_back(plan.measured);
  }
  std::ranges::sort(times);
  int count = 0;
  double last = 0;
  for (const double time : times) {
    if (time >= last * kApart) {
      ++count;
      last = time;
    }
  }
  return count;
}

double rank_correlation_of(const std::vector<RankedPlan>& plans) {
  std::vector<double> predicted;
  std::vector<double> measured;
  for (const RankedPlan& plan : plans) {
    predicted.push_back(plan.predicted);
    measured.push_back(plan.measured);
  }
  return rank_correlation(predicted, measured);
}

double regret_of(const std::vector<RankedPlan>& plans) {
  const RankedPlan& chosen = *std::ranges::min_element(plans, {}, &RankedPlan::predicted);
  const RankedPlan& best = *std::ranges::min_element(plans, {}, &RankedPlan::measured);
  return chosen.measured / best.measured - 1;
}

/// By source, then group, the plans with all measured times of each.
using Groups =
    std::map<std::string,
             std::map<std::string, std::map<std::string, std::pair<double, std::vector<double>>>>>;

}  // namespace

std::vector<PlanRanking> plan_rankings(const std::vector<AccuracyRow>& rows) {
  Groups sources;
  for (const AccuracyRow& row : rows) {
    if (is_timed(row)) {
      auto& [predicted, measured] = sources[row.dataset][row.group][row.configuration];
      predicted = *row.predicted_seconds;
      measured.push_back(*row.measured_seconds);
    }
  }
  std::vector<PlanRanking> rankings;
  for (const auto& [source, groups] : sources) {
    std::vector<double> correlations;
    std::vector<double> regrets;
    for (const auto& [key, configurations] : groups) {
      std::vector<RankedPlan> plans;
      for (const auto& [configuration, times] : configurations) {
        plans.push_back({.predicted = times.first, .measured = median(times.second)});
      }
      if (plans_apart(plans) >= kLeastPlans) {
        correlations.push_back(rank_correlation_of(plans));
        regrets.push_back(regret_of(plans));
      }
    }
    if (!regrets.empty()) {
      rankings.push_back({.source = source,
                          .groups = static_cast<int>(regrets.size()),
                          .median_spearman = median(correlations),
                          .median_regret = median(regrets),
                          .mean_regret = mean(regrets),
                          .largest_regret = *std::ranges::max_element(regrets)});
    }
  }
  return rankings;
}

}  // namespace stagewright
