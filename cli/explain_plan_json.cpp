#include <nlohmann/json.hpp>

#include "cli/explain_plan_report.h"

namespace stagewright {
namespace {

using Json = nlohmann::ordered_json;

Json plan_json(const Plan& plan) {
  return Json::parse(to_json_text(plan));
}

Json differences_json(const PlanAnswers& answers, const PricedPlan& other) {
  Json json = Json::array();
  for (const TermDifference& term : differences(answers.terms, time_terms(other, answers.model))) {
    json.push_back({{"term", term.text},
                    {"here_s", term.here},
                    {"there_s", term.there},
                    {"change_s", term.change()}});
  }
  return json;
}

Json compared_json(const PlanAnswers& answers, const PricedPlan& other) {
  return {{"plan", plan_json(other.plan)},
          {"step_time_s", to_seconds(other.summary.step_time)},
          {"peak_memory_bytes", other.summary.peak_memory.count()},
          {"differences", differences_json(answers, other)}};
}

Json limits_json(const PlanAnswers& answers) {
  Json json = Json::array();
  for (const TimeTerm& term : answers.terms) {
    json.push_back({{"kind", name_of(term.kind)},
                    {"what", term.what},
                    {"seconds", term.seconds},
                    {"share", term.share},
                    {"detail", term.detail}});
  }
  return json;
}

Json runner_ups_json(const PlanAnswers& answers) {
  Json json = Json::array();
  for (const RunnerUp& other : *answers.runner_ups) {
    Json entry = {{"dimension", other.dimension}, {"here", other.here}};
    if (other.plan) {
      entry.update(compared_json(answers, *other.plan));
    } else {
      entry["reason"] = other.reason;
    }
    json.push_back(std::move(entry));
  }
  return json;
}

Json why_not_json(const PlanAnswers& answers) {
  Json json = Json::array();
  for (const WhyNot& wish : answers.why_not) {
    Json entry = {{"asked", wish.asked}};
    if (wish.plan) {
      entry.update(compared_json(answers, *wish.plan));
    } else if (wish.estimated) {
      entry["estimated_step_time_s"] = to_seconds(wish.estimated->step_time);
    } else {
      entry["reason"] = wish.none->to_string();
      entry["without"] = Json::array();
      for (const Relaxation& relaxation : wish.relaxations) {
        entry["without"].push_back({{"given_up", relaxation.given_up},
                                    {"plan", plan_json(relaxation.best.plan)},
                                    {"step_time_s", to_seconds(relaxation.best.step_time)}});
      }
    }
    json.push_back(std::move(entry));
  }
  return json;
}

Json what_if_json(const PlanAnswers& answers) {
  Json json = Json::array();
  for (const WhatIf& what : *answers.what_if) {
    Json entry = {{"what", what.name}, {"same_plan", nullptr}, {"planned_again", nullptr}};
    if (what.same) {
      entry["same_plan"] = {{"step_time_s", to_seconds(what.same->summary.step_time)},
                            {"tokens_per_s", what.same->summary.tokens_per_second},
                            {"fits", what.same->summary.fits}};
    } else {
      entry["same_plan_reason"] = what.same_reason;
    }
    if (what.best) {
      entry["planned_again"] = {{"plan", plan_json(what.best->plan)},
                                {"step_time_s", to_seconds(what.best->step_time)},
                                {"tokens_per_s", what.best->tokens_per_s}};
    } else {
      entry["planned_again_reason"] = what.best_reason;
    }
    json.push_back(std::move(entry));
  }
  return json;
}

Json memory_json(const PlanAnswers& answers) {
  Json ranks = Json::array();
  for (const RankMemory& rank : answers.priced.memory) {
    Json components = Json::object();
    for (std::size_t c = 0; c < rank.at_peak.size(); ++c) {
      components[std::string(name_of(static_cast<TensorClass>(c)))] = rank.at_peak[c].count();
    }
    components["context"] = rank.context.count();
    Json stages = Json::array();
    for (const StageId stage : rank.stages) {
      stages.push_back(stage.value());
    }
    ranks.push_back({{"rank", rank.rank.value()},
                     {"alike", rank.alike},
                     {"stages", std::move(stages)},
                     {"components_bytes", std::move(components)},
                     {"total_bytes", rank.total.count()},
                     {"device_bytes", rank.capacity.count()}});
  }
  Json json = {{"fits", answers.priced.summary.fits}, {"ranks", std::move(ranks)}};
  if (!answers.priced.summary.fits) {
    json["fixes"] = Json::array();
    for (const MemoryFix& fix : answers.fixes) {
      Json entry = {{"change", fix.change}};
      if (fix.outcome) {
        entry.update({{"plan", plan_json(fix.plan)},
                      {"peak_memory_bytes", fix.outcome->peak.count()},
                      {"fits", fix.outcome->fits},
                      {"step_time_s", to_seconds(fix.outcome->step_time)}});
      } else {
        entry["reason"] = fix.reason;
      }
      json["fixes"].push_back(std::move(entry));
    }
  }
  return json;
}

Json rules_json(const PlanAnswers& answers) {
  Json json = Json::array();
  for (const RuleOfThumb& rule : *answers.rules) {
    json.push_back({{"rule", rule.rule},
                    {"verdict", name_of(rule.verdict)},
                    {"figures", rule.figures},
                    {"at_stake_s", rule.at_stake}});
  }
  return json;
}

Json next_json(const PlanAnswers& answers) {
  Json json = Json::array();
  for (const NextMeasurement& next : *answers.next) {
    json.push_back({{"what", next.what},
                    {"half_width", next.half_width},
                    {"share", next.share},
                    {"command", next.command}});
  }
  return json;
}

}  // namespace

nlohmann::ordered_json to_json(const PlanAnswers& answers) {
  const Summary& here = answers.priced.summary;
  Json json = {{"plan", plan_json(answers.priced.plan)},
               {"step_time_s", to_seconds(here.step_time)},
               {"tokens_per_s", here.tokens_per_second},
               {"peak_memory_bytes", here.peak_memory.count()}};
  if (answers.limits) {
    json["limits"] = limits_json(answers);
  }
  if (answers.runner_ups) {
    json["runner_ups"] = runner_ups_json(answers);
  }
  if (!answers.why_not.empty()) {
    json["why_not"] = why_not_json(answers);
  }
  if (answers.memory) {
    json["memory"] = memory_json(answers);
  }
  if (answers.what_if) {
    json["what_if"] = what_if_json(answers);
  }
  if (answers.rules) {
    json["rules"] = rules_json(answers);
  }
  if (answers.next) {
    json["next_measurements"] = next_json(answers);
  }
  return json;
}

}  // namespace stagewright
