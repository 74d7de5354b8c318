#include "study/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/check.h"

namespace stagewright {
namespace {

/// Probability of `least` or more successes of `count`.
double upper_tail(int least, int count, double proportion) {
  if (least == 0) {
    return 1;
  }
  if (proportion <= 0 || proportion >= 1) {
    return proportion <= 0 ? 0 : 1;
  }
  double sum = 0;
  for (int k = least; k <= count; ++k) {
    sum += std::exp(std::lgamma(count + 1.0) - std::lgamma(k + 1.0) - std::lgamma(count - k + 1.0) +
                    k * std::log(proportion) + (count - k) * std::log1p(-proportion));
  }
  return sum;
}

/// The proportion at which the upper tail, which grows with it, is `wanted`.
double proportion_where(int least, int count, double wanted) {
  double low = 0;
  double high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (upper_tail(least, count, middle) < wanted ? low : high) = middle;
  }
  return (low + high) / 2;
}

/// Ranks of values, equal ones sharing their mean rank.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<double> ranks(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (const double other : values) {
      ranks[i] += other < values[i] ? 1 : (other == values[i] ? 0.5 : 0);
    }
  }
  return ranks;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean(a);
  const double mean_b = mean(b);
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

}  // namespace

double median(std::vector<double> values) {
  SW_CHECK(!values.empty(), "values");
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double mean(const std::vector<double>& values) {
  SW_CHECK(!values.empty(), "values");
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::pair<double, double> proportion_interval(int successes, int count) {
  SW_CHECK(count > 0 && successes >= 0 && successes <= count, "a share of some trials");
  constexpr double kTail = 0.025;
  const double low = successes == 0 ? 0 : proportion_where(successes, count, kTail);
  const double high = successes == count ? 1 : proportion_where(successes + 1, count, 1 - kTail);
  return {low, high};
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  return correlation(ranks_of(a), ranks_of(b));
}

}  // namespace stagewright
