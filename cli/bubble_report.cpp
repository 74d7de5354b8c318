#include "cli/bubble_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/table.h"

namespace stagewright {
namespace {

constexpr double kShown = 0.0005;  ///< less is 0.0 % in a text

/// "warm-up" as a key.
std::string key_of(std::string_view name) {
  std::string key(name);
  std::ranges::replace(key, '-', '_');
  return key;
}

double share(Duration part, Duration whole) {
  return whole > Duration{} ? to_seconds(part) / to_seconds(whole) : 0;
}

void append(std::string& text, std::string_view name, double part) {
  if (part >= kShown) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, percent(part));
  }
}

std::string causes_text(const BubbleCauses& bubbles) {
  std::string text;
  for (int i = 0; i < kBubbleCauseCount; ++i) {
    const auto cause = static_cast<BubbleCause>(i);
    append(text, name_of(cause), bubbles.share(cause));
  }
  return text.empty() ? "none" : text;
}

std::string path_text(const PathSums& path) {
  std::string text;
  for (int i = 0; i < kWorkKindCount; ++i) {
    const Duration time = path.by_kind[static_cast<std::size_t>(i)];
    append(text, name_of(static_cast<WorkKind>(i)), share(time, path.length));
  }
  append(text, "late rank", share(path.late, path.length));
  append(text, "communication at the end", share(path.tail, path.length));
  const auto most =
      std::ranges::max_element(path.by_stage, {}, [](const auto& stage) { return stage.second; });
  if (most != path.by_stage.end()) {
    text += fmt::format("; stage {} has most of it, {}",
                        most->first.value(),
                        percent(share(most->second, path.length)));
  }
  return text;
}

nlohmann::json to_json(const PathSums& path) {
  nlohmann::json kinds = nlohmann::json::object();
  for (int i = 0; i < kWorkKindCount; ++i) {
    const Duration time = path.by_kind[static_cast<std::size_t>(i)];
    if (time > Duration{}) {
      kinds[key_of(name_of(static_cast<WorkKind>(i)))] = share(time, path.length);
    }
  }
  nlohmann::json stages = nlohmann::json::array();
  for (const auto& [stage, time] : path.by_stage) {
    stages.push_back({{"stage", stage.value()}, {"share", share(time, path.length)}});
  }
  return {{"by_kind", std::move(kinds)},
          {"late_rank", share(path.late, path.length)},
          {"at_the_end", share(path.tail, path.length)},
          {"by_stage", std::move(stages)}};
}

}  // namespace

std::string explanation_text(const BubbleCauses& bubbles, const PathSums& path) {
  return fmt::format("idle by cause (mean over ranks): {}\ncritical path: {}\n",
                     causes_text(bubbles),
                     path_text(path));
}

void add_explanation(const BubbleCauses& bubbles, const PathSums& path, nlohmann::json& report) {
  nlohmann::json mean = nlohmann::json::object();
  nlohmann::json ranks = nlohmann::json::array();
  for (const RankBubble& rank : bubbles.ranks) {
    ranks.push_back({{"rank", rank.rank.value()}, {"alike", rank.alike}});
  }
  for (int i = 0; i < kBubbleCauseCount; ++i) {
    const auto cause = static_cast<BubbleCause>(i);
    const std::string key = key_of(name_of(cause));
    mean[key] = bubbles.share(cause);
    for (std::size_t rank = 0; rank < bubbles.ranks.size(); ++rank) {
      ranks[rank][key] =
          share(bubbles.ranks[rank].by_cause[static_cast<std::size_t>(i)], bubbles.step_time);
    }
  }
  report["bubble_causes"] = std::move(mean);
  report["bubble_causes_by_rank"] = std::move(ranks);
  report["critical_path"] = to_json(path);
}

}  // namespace stagewright
