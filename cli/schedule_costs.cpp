#include "cli/schedule_costs.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/comma_list.h"
#include "cli/number_check.h"
#include "cli/path_check.h"

namespace stagewright {
namespace {

std::optional<double> cost_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) ||
      value < 0) {
    return std::nullopt;
  }
  return value;
}

struct NamedNumber {
  std::string name;
  double value = 0;
};

/// "F=1.5".
std::optional<NamedNumber> named_number(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return std::nullopt;
  }
  const auto value = cost_number(text.substr(equals + 1));
  if (!value) {
    return std::nullopt;
  }
  return NamedNumber{std::string(text.substr(0, equals)), *value};
}

using CostMap = std::map<std::string, double, std::less<>>;

Result<CostMap> read_costs(std::string_view text) {
  CostMap costs;
  for (const std::string_view part : comma_list(text)) {
    const auto cost = named_number(part);
    if (!cost || cost->name.size() != 1 ||
        std::string_view("FBIWR").find(cost->name) == std::string_view::npos) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' is no cost; write F=1,I=1,W=1,B=2,R=1 or some of them", part),
                  "--costs");
    }
    if (!costs.emplace(cost->name, cost->value).second) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{} stands twice in '{}'; give each cost once", cost->name, text),
                  "--costs");
    }
  }
  costs.emplace("F", 1);
  const bool halves = costs.contains("I") || costs.contains("W") || !costs.contains("B");
  costs.emplace("I", halves ? costs["F"] : costs["B"] / 2);
  costs.emplace("W", halves ? costs["F"] : costs["B"] / 2);
  costs.emplace("B", costs["I"] + costs["W"]);
  costs.emplace("R", costs["F"]);
  return costs;
}

Result<std::vector<double>> read_scales(const std::vector<std::string>& texts,
                                        std::int32_t stages) {
  std::vector<double> scales(static_cast<std::size_t>(stages), 1.0);
  std::vector<bool> scaled(scales.size());
  for (const std::string& text : texts) {
    const auto scale = named_number(text);
    std::int32_t stage = stages - 1;
    bool known = scale.has_value();
    if (known && scale->name != "last") {
      const char* const begin = scale->name.data();
      const char* const end = begin + scale->name.size();
      const auto [stop, error] = std::from_chars(begin, end, stage);
      known = error == std::errc{} && stop == end && stage >= 0 && stage < stages;
    }
    if (!known) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' scales no stage; write STAGE=FACTOR with a stage from 0 to {} "
                              "or 'last'",
                              text,
                              stages - 1),
                  "--scale-stage");
    }
    if (scaled[static_cast<std::size_t>(stage)]) {
      return fail(
          ErrorCode::kInvalidInput,
          fmt::format("'{}' scales stage {} again; give each stage one factor", text, stage),
          "--scale-stage");
    }
    scaled[static_cast<std::size_t>(stage)] = true;
    scales[static_cast<std::size_t>(stage)] = scale->value;
  }
  return scales;
}

/// The longest of the times that the options give, and the option that makes it so long.
struct LongestCost {
  double time = 0;
  const char* option = "--costs";
};

LongestCost longest_cost(const CostMap& costs, double scale, double transfer) {
  double cost = 0;
  for (const auto& [name, value] : costs) {
    cost = std::max(cost, value);
  }
  if (transfer > cost * std::max(1.0, scale)) {
    return {transfer, "--transfer"};
  }
  return {cost * std::max(1.0, scale), scale > cost ? "--scale-stage" : "--costs"};
}

/// A second for a unit; a larger power of ten for tiny costs, a smaller one where the sum of all
/// work would not fit.
Result<double> unit_for(double actions, const CostMap& costs, double scale, double transfer) {
  constexpr double kLongestSeconds = 4e6;  // a Duration holds 9.2e6
  constexpr double kSmallestUnit = 1e-9;   // a thousand picoseconds
  const auto [longest, option] = longest_cost(costs, scale, transfer);
  double unit = 1;
  // Tiny costs keep their digits.
  while (longest > 0 && longest * unit < 1e-3) {
    unit *= 10;
  }
  while (4 * actions * longest * unit > kLongestSeconds) {
    unit /= 10;
    if (unit < kSmallestUnit) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("makes a time of {:.6g}, but those of {:.6g} actions can be added up "
                              "to {:.3g} each at the most; use a larger unit for all times",
                              longest,
                              actions,
                              kLongestSeconds / (4 * actions * kSmallestUnit)),
                  option);
    }
  }
  return unit;
}

std::string text_of(const CostMap& costs, const CostOptions& options) {
  std::string text;
  for (const char* kind : {"F", "I", "W", "B", "R"}) {
    text += fmt::format("{}={:.6g}, ", kind, costs.find(kind)->second);
  }
  text += fmt::format("transfer {:.6g}", options.transfer);
  for (const std::string& scale : options.scaled_stages) {
    text += fmt::format(", stage {}", scale);
  }
  if (options.overlap != 1) {
    text += fmt::format(", overlap {:.6g}", options.overlap);
  }
  return text;
}

}  // namespace

void add_cost_options(CLI::App& command, CostOptions& options) {
  command
      .add_option("--costs",
                  options.costs,
                  "Cost of a stage's actions, in any unit: F=1,I=1,W=1,B=2,R=1 (B: I + W, R: F)")
      ->check(value_given);
  command.add_option("--transfer", options.transfer, "Time of a transfer between ranks")
      ->check(non_negative_number);
  command.add_option("--scale-stage",
                     options.scaled_stages,
                     "A stage that takes longer in everything: last=1.5 or STAGE=FACTOR");
  command
      .add_option("--overlap",
                  options.overlap,
                  "Share of F + B that an overlapped forward and backward take")
      ->check(share_number);
}

Result<ListPrices> prices_for(const CostOptions& options, const TokenList& list) {
  double items = 0;
  for (const auto& rank : list.ranks) {
    items += static_cast<double>(rank.size());
  }
  return prices_for(options, list.stages, items);
}

Result<ListPrices> prices_for(const CostOptions& options, std::int32_t stages, double actions) {
  Result<CostMap> costs = read_costs(options.costs);
  if (!costs) {
    return pass_on(std::move(costs));
  }
  Result<std::vector<double>> scales = read_scales(options.scaled_stages, stages);
  if (!scales) {
    return pass_on(std::move(scales));
  }
  Result<double> unit = unit_for(
      actions, *costs, *std::max_element(scales->begin(), scales->end()), options.transfer);
  if (!unit) {
    return pass_on(std::move(unit));
  }
  const auto by_stage = [&](std::string_view kind) {
    std::vector<Duration> times;
    for (const double scale : *scales) {
      times.push_back(from_seconds(costs->find(kind)->second * scale * *unit));
    }
    return times;
  };
  return ListPrices{.costs = {.forward = by_stage("F"),
                              .backward = by_stage("B"),
                              .backward_input = by_stage("I"),
                              .backward_weight = by_stage("W"),
                              .recompute = by_stage("R"),
                              .transfer = std::vector<Duration>(
                                  scales->size(), from_seconds(options.transfer * *unit)),
                              .overlap = options.overlap},
                    .unit_seconds = *unit,
                    .text = text_of(*costs, options)};
}

}  // namespace stagewright
