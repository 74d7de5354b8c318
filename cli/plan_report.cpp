#include "cli/plan_report.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/memory_report.h"
#include "cli/table.h"

namespace stagewright {
namespace {

constexpr double kSecondsOfDay = 86'400;
constexpr std::size_t kShownPareto = 8;

PlanFigures figures_of(const Searched& searched, const Candidate& candidate) {
  return {.step_time = candidate.step_time,
          .memory = candidate.peak_memory,
          .devices = candidate.point.devices(),
          .tokens = searched.step_tokens};
}

/// Whole training: days, and cost where a price is known.
struct Training {
  double days = 0;
  std::optional<double> cost;
};

std::optional<Training> training_of(const Searched& searched, const Candidate& candidate) {
  if (!searched.tokens || candidate.tokens_per_s <= 0) {
    return std::nullopt;
  }
  Training training{.days = *searched.tokens / candidate.tokens_per_s / kSecondsOfDay, .cost = {}};
  if (const auto price =
          cost_per_million_tokens(searched.objective, figures_of(searched, candidate))) {
    training.cost = *price * *searched.tokens / 1e6;
  }
  return training;
}

nlohmann::json to_json(const Searched& searched, const Candidate& candidate) {
  nlohmann::json json{{"plan", nlohmann::json::parse(to_json_text(candidate.plan))},
                      {"simulated", candidate.simulated},
                      {"devices", candidate.point.devices()},
                      {"step_time_s", to_seconds(candidate.step_time)},
                      {"tokens_per_s", candidate.tokens_per_s},
                      {"mfu", candidate.mfu},
                      {"peak_memory_bytes", candidate.peak_memory.count()},
                      {"bubble", candidate.bubble}};
  const PlanFigures figures = figures_of(searched, candidate);
  if (candidate.simulated) {
    json["bound_s"] = to_seconds(candidate.bound);
  }
  if (candidate.p95) {
    json["p95_s"] = to_seconds(*candidate.p95);
  }
  if (const auto cost = cost_per_million_tokens(searched.objective, figures)) {
    json["cost_per_million_tokens"] = *cost;
  }
  if (const auto energy = kilojoules_per_million_tokens(searched.objective, figures)) {
    json["kilojoules_per_million_tokens"] = *energy;
  }
  if (const auto training = training_of(searched, candidate)) {
    json["days"] = training->days;
    if (training->cost) {
      json["cost"] = *training->cost;
    }
  }
  return json;
}

nlohmann::json to_json(const std::vector<Candidate>& candidates,
                       const std::vector<std::optional<std::string>>& obstacles,
                       const Searched& searched) {
  nlohmann::json json = nlohmann::json::array();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    nlohmann::json& entry = json.emplace_back(to_json(searched, candidates[i]));
    entry["runnable"] = !obstacles[i].has_value();
    if (obstacles[i]) {
      entry["not_runnable_because"] = *obstacles[i];
    }
  }
  return json;
}

/// "`stagewright run` cannot train by plans 1, 2: REASON", for each reason.
std::string obstacles_text(const std::vector<std::optional<std::string>>& obstacles) {
  std::map<std::string, std::vector<std::size_t>> plans;
  for (std::size_t i = 0; i < obstacles.size(); ++i) {
    if (obstacles[i]) {
      plans[*obstacles[i]].push_back(i + 1);
    }
  }
  std::string text;
  for (const auto& [reason, numbers] : plans) {
    text += fmt::format("`stagewright run` cannot train by plan{} {}: {}\n",
                        numbers.size() > 1 ? "s" : "",
                        fmt::join(numbers, ", "),
                        reason);
  }
  return text;
}

nlohmann::json space_json(const SearchResult& result) {
  const SpaceCounts& space = result.space;
  return {{"size", space.size},
          {"evaluated", space.evaluated},
          {"pruned",
           {{"devices", space.by_devices},
            {"state", space.by_state},
            {"activations", space.by_activations},
            {"compute", space.by_compute},
            {"pipeline", space.by_pipeline},
            {"exchange", space.by_exchange}}},
          {"duplicates", space.duplicates},
          {"without_price", space.without_price},
          {"left", space.left},
          {"out_of_memory", result.out_of_memory},
          {"out_of_time", result.out_of_time},
          {"simulated", result.simulated}};
}

std::vector<std::string> row_of(const Searched& searched,
                                const Candidate& candidate,
                                const std::string& first) {
  std::vector<std::string> row{first,
                               summary(candidate.plan),
                               to_string(candidate.step_time),
                               count_text(candidate.tokens_per_s),
                               percent(candidate.mfu),
                               to_string(candidate.peak_memory),
                               candidate.simulated ? percent(candidate.bubble) : "-",
                               fmt::to_string(candidate.point.devices())};
  if (candidate.p95) {
    row[2] += fmt::format(" (p95 {})", to_string(*candidate.p95));
  }
  if (searched.tokens) {
    const auto training = training_of(searched, candidate);
    row.push_back(training ? fmt::format("{:.1f}", training->days) : "-");
    row.push_back(training && training->cost ? fmt::format("{:.4g}", *training->cost) : "-");
  }
  return row;
}

std::string table_of(const Searched& searched, const std::vector<Candidate>& candidates) {
  std::vector<std::string> columns{
      "#", "plan", "step", "tokens/s", "MFU", "peak memory", "bubble", "devices"};
  if (searched.tokens) {
    columns.insert(columns.end(), {"days", "cost"});
  }
  Table table(columns);
  int rank = 0;
  for (const Candidate& candidate : candidates) {
    table.add(row_of(searched, candidate, fmt::to_string(++rank)));
  }
  return table.to_string();
}

std::string space_text(const SearchResult& result) {
  const SpaceCounts& space = result.space;
  return fmt::format(
      "\n{} points: {} priced in closed form ({} out of memory), {} simulated; pruned by peak rate "
      "{}, state {}, activations {}, compute {}, pipeline {}, exchange {}\nno plan can be more "
      "than {:.2f} % "
      "better than the first{}\n",
      space.size,
      space.evaluated,
      result.out_of_memory,
      result.simulated,
      space.by_devices,
      space.by_state,
      space.by_activations,
      space.by_compute,
      space.by_pipeline,
      space.by_exchange,
      100 * result.gap,
      result.interrupted ? "; stopped early" : "");
}

std::string rejections_text(const SearchResult& result, std::int32_t shown_rejections) {
  std::string text = fmt::format("{} rejected\n", result.rejected.size());
  const auto shown =
      std::min<std::size_t>(result.rejected.size(), static_cast<std::size_t>(shown_rejections));
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format(
        "  rejected {}: {}\n", summary(result.rejected[i].plan), result.rejected[i].reason);
  }
  if (shown < result.rejected.size()) {
    text += fmt::format("  ... and {} more (--rejected N, --json for all)\n",
                        result.rejected.size() - shown);
  }
  return text;
}

}  // namespace

nlohmann::json to_json(const Searched& searched) {
  const SearchResult& result = searched.result;
  nlohmann::json plans = to_json(result.plans, searched.obstacles.plans, searched);
  for (std::size_t i = 0; i < searched.memory.size(); ++i) {
    plans[i]["memory"] = to_json(searched.memory[i]);
  }
  nlohmann::json rejected = nlohmann::json::array();
  for (const Rejection& rejection : result.rejected) {
    rejected.push_back({{"plan", nlohmann::json::parse(to_json_text(rejection.plan))},
                        {"reason", rejection.reason}});
  }
  return {{"plans", std::move(plans)},
          {"estimated", to_json(result.estimated, searched.obstacles.estimated, searched)},
          {"pareto", to_json(result.pareto, searched.obstacles.pareto, searched)},
          {"objective", std::string(name_of(searched.objective.aim))},
          {"gap", result.gap},
          {"rejected", std::move(rejected)},
          {"space", space_json(result)},
          {"interrupted", result.interrupted}};
}

std::string to_text(const Searched& searched, std::int32_t shown_rejections) {
  const SearchResult& result = searched.result;
  std::string text = table_of(searched, result.plans);
  text += obstacles_text(searched.obstacles.plans);
  if (!searched.memory.empty()) {
    const StageMemory& memory = searched.memory.front();
    text += fmt::format("\nmemory of the best plan, stage {}: {}\n", memory.stage, to_line(memory));
  }
  if (!result.estimated.empty()) {
    text += "\nnot simulated (the search prices them in closed form alone):\n" +
            table_of(searched, result.estimated);
  }
  if (result.pareto.size() > 1) {
    std::vector<Candidate> front = result.pareto;
    if (front.size() > kShownPareto) {
      front.resize(kShownPareto);
    }
    text +=
        fmt::format("\nsimulated plans that none beats in time, memory and devices at once{}:\n",
                    front.size() < result.pareto.size() ? " (the fastest; --json has all)" : "");
    text += table_of(searched, front);
  }
  return text + space_text(result) + rejections_text(result, shown_rejections);
}

}  // namespace stagewright
