#pragma once

#include <utility>
#include <vector>

namespace stagewright {

/// The middle of the sorted values, or the mean of the two in the middle.  REQUIRES: not empty.
[[nodiscard]] double median(std::vector<double> values);
/// REQUIRES: not empty.
[[nodiscard]] double mean(const std::vector<double>& values);

/// Spearman's: 1 where both put everything in the same order, -1 in opposite ones, 0 where one of
/// them is constant.  REQUIRES: equally many, at least one.
[[nodiscard]] double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

/// 95 % confidence interval of a proportion of which `successes` of `count` were seen (Clopper and
/// Pearson 1934: the proportions at which so many, or so few, would have 2.5 % of the probability).
/// REQUIRES: 0 <= successes <= count, count > 0.
[[nodiscard]] std::pair<double, double> proportion_interval(int successes, int count);

/// Half-width of an 80 % band of a normal distribution in standard deviations.
inline constexpr double kBandHalfWidth = 1.2816;

}  // namespace stagewright
