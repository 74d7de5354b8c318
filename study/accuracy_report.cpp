#include "study/accuracy_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "study/plan_ranking.h"
#include "study/statistics.h"

namespace stagewright {
namespace {

PlanGroup group_of(const std::string& key, const std::vector<const AccuracyRow*>& rows) {
  PlanGroup group{.key = key, .records = static_cast<int>(rows.size())};
  std::vector<double> predicted;
  std::vector<double> measured;
  for (const AccuracyRow* row : rows) {
    predicted.push_back(*row->predicted_seconds);
    measured.push_back(*row->measured_seconds);
  }
  group.spearman = rank_correlation(predicted, measured);
  const auto chosen = std::ranges::min_element(predicted) - predicted.begin();
  group.regret =
      measured[static_cast<std::size_t>(chosen)] / *std::ranges::min_element(measured) - 1;
  return group;
}

void add_groups(SourceAccuracy& source, const std::vector<const AccuracyRow*>& rows) {
  std::map<std::string, std::vector<const AccuracyRow*>> groups;
  std::map<std::string, std::vector<double>> repeats;
  for (const AccuracyRow* row : rows) {
    if (is_timed(*row)) {
      groups[row->group].push_back(row);
      repeats[row->configuration].push_back(*row->measured_seconds);
    }
  }
  for (const auto& [key, members] : groups) {
    if (members.size() >= 3) {
      source.groups.push_back(group_of(key, members));
    }
  }
  std::vector<double> spreads;
  for (auto& [key, times] : repeats) {
    if (times.size() >= 2) {
      const auto [least, most] = std::ranges::minmax(times);
      spreads.push_back(most / least - 1);
    }
  }
  if (!spreads.empty()) {
    source.noise_floor = median(spreads);
  }
}

void add_memory(SourceAccuracy& source, const std::vector<const AccuracyRow*>& rows) {
  std::vector<double> errors;
  for (const AccuracyRow* row : rows) {
    if (row->predicted_bytes && row->measured_bytes) {
      errors.push_back(std::abs(*row->predicted_bytes / *row->measured_bytes - 1));
    }
    if (!row->predicted_fits) {
      continue;
    }
    const bool right = row->out_of_memory != *row->predicted_fits;
    if (row->out_of_memory) {
      (right ? source.oom_right : source.oom_wrong) += 1;
    } else {
      source.fitting += 1;
      source.fits_called_oom += right ? 0 : 1;
      source.oom_wrong += right ? 0 : 1;
    }
  }
  source.memory_records = static_cast<int>(errors.size());
  if (!errors.empty()) {
    source.memory_median_ape = median(errors);
  }
}

SourceAccuracy source_of(const std::string& name, const std::vector<const AccuracyRow*>& rows) {
  SourceAccuracy source{.name = name, .records = static_cast<int>(rows.size())};
  std::vector<double> errors;
  std::vector<double> ratios;
  int within = 0;
  int covered = 0;
  for (const AccuracyRow* row : rows) {
    source.skipped += not_judged(*row).empty() ? 0 : 1;
    source.time_skipped += row->time_skipped.empty() ? 0 : 1;
    if (!is_timed(*row)) {
      continue;
    }
    const double error = std::abs(ratio(*row) - 1);
    errors.push_back(error);
    ratios.push_back(ratio(*row));
    within += error <= 0.1 ? 1 : 0;
    covered += std::abs(std::log(ratio(*row))) <= kBandHalfWidth * row->deviation ? 1 : 0;
  }
  source.time_records = static_cast<int>(errors.size());
  if (!errors.empty()) {
    const auto count = static_cast<double>(errors.size());
    source.time_median_ape = median(errors);
    source.time_mean_ape = mean(errors);
    source.time_within_10pct = within / count;
    source.time_bias = median(ratios) - 1;
    source.band_coverage = covered / count;
  }
  add_memory(source, rows);
  add_groups(source, rows);
  return source;
}

nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

nlohmann::ordered_json to_json(const SourceAccuracy& source) {
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (const PlanGroup& group : source.groups) {
    groups.push_back({{"key", group.key},
                      {"records", group.records},
                      {"spearman", group.spearman},
                      {"regret", group.regret}});
  }
  return {{"name", source.name},
          {"records", source.records},
          {"skipped", source.skipped},
          {"time_median_ape", number_or_null(source.time_median_ape)},
          {"time_mean_ape", number_or_null(source.time_mean_ape)},
          {"time_within_10pct", number_or_null(source.time_within_10pct)},
          {"memory_records", source.memory_records},
          {"memory_median_ape", number_or_null(source.memory_median_ape)},
          {"oom_right", source.oom_right},
          {"oom_wrong", source.oom_wrong},
          {"band_coverage", number_or_null(source.band_coverage)},
          {"groups", std::move(groups)}};
}

nlohmann::ordered_json to_json(const AccuracyRow& row) {
  constexpr double kGigabyte = 1e9;
  const auto gigabytes = [&](const std::optional<double>& bytes) {
    return bytes ? nlohmann::ordered_json(*bytes / kGigabyte) : nlohmann::ordered_json();
  };
  const std::string reason = not_judged(row);
  // A time that is not judged is not shown as a prediction either.
  nlohmann::ordered_json predicted;
  if (is_timed(row)) {
    predicted = *row.predicted_seconds;
  }
  return {{"id", row.id},
          {"predicted_s", std::move(predicted)},
          {"measured_s", number_or_null(row.measured_seconds)},
          {"price", row.price},
          {"predicted_gb", gigabytes(row.predicted_bytes)},
          {"measured_gb", gigabytes(row.measured_bytes)},
          {"skipped", reason.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(reason)}};
}

}  // namespace

double ratio(const AccuracyRow& row) {
  return *row.predicted_seconds / *row.measured_seconds;
}

bool is_timed(const AccuracyRow& row) {
  return row.predicted_seconds && row.measured_seconds && row.skipped.empty() &&
         row.time_skipped.empty();
}

std::string not_judged(const AccuracyRow& row) {
  if (!row.skipped.empty() || row.time_skipped.empty()) {
    return row.skipped;
  }
  return "time: " + row.time_skipped;
}

AccuracyReport summarize(std::vector<AccuracyRow> rows) {
  AccuracyReport report{.rows = std::move(rows)};
  std::vector<std::string> order;
  std::map<std::string, std::vector<const AccuracyRow*>> by_source;
  for (const AccuracyRow& row : report.rows) {
    auto& members = by_source[row.dataset];
    if (members.empty()) {
      order.push_back(row.dataset);
    }
    members.push_back(&row);
  }
  for (const std::string& name : order) {
    report.sources.push_back(source_of(name.empty() ? "(no source)" : name, by_source[name]));
  }
  return report;
}

std::string to_json_text(const AccuracyReport& report) {
  nlohmann::ordered_json json = {{"sources", nlohmann::ordered_json::array()},
                                 {"ranking", nlohmann::ordered_json::array()},
                                 {"rows", nlohmann::ordered_json::array()}};
  for (const SourceAccuracy& source : report.sources) {
    json["sources"].push_back(to_json(source));
  }
  for (const PlanRanking& ranking : plan_rankings(report.rows)) {
    json["ranking"].push_back({{"source", ranking.source},
                               {"groups", ranking.groups},
                               {"median_spearman", ranking.median_spearman},
                               {"median_regret", ranking.median_regret},
                               {"mean_regret", ranking.mean_regret},
                               {"largest_regret", ranking.largest_regret}});
  }
  for (const AccuracyRow& row : report.rows) {
    json["rows"].push_back(to_json(row));
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<std::pair<std::string, int>> assumption_counts(const AccuracyReport& report) {
  std::map<std::string, int> counts;
  for (const AccuracyRow& row : report.rows) {
    for (const std::string& assumption : row.assumed) {
      ++counts[assumption];
    }
  }
  std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted,
                           [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

std::string largest_terms(const AccuracyRow& row, std::size_t count) {
  std::vector<std::size_t> order(kStepTermCount);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return row.terms.at(a) > row.terms.at(b); });
  std::string text;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) {
    const double share = row.terms.at(order[i]) / row.predicted_seconds.value_or(1);
    if (share < 0.005) {
      break;
    }
    text += fmt::format(
        "{}{} {:.0f}", i == 0 ? "" : ", ", name_of(static_cast<StepTerm>(order[i])), 100 * share);
  }
  return text;
}

std::vector<const AccuracyRow*> worst_rows(const AccuracyReport& report, std::size_t count) {
  std::vector<const AccuracyRow*> rows;
  for (const AccuracyRow& row : report.rows) {
    if (is_timed(row)) {
      rows.push_back(&row);
    }
  }
  std::ranges::stable_sort(rows, [](const AccuracyRow* a, const AccuracyRow* b) {
    return std::abs(std::log(ratio(*a))) > std::abs(std::log(ratio(*b)));
  });
  rows.resize(std::min(count, rows.size()));
  return rows;
}

}  // namespace stagewright
