#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/explain_plan_report.h"
#include "cli/table.h"

namespace stagewright {
namespace {

/// Differences below this share of the step are left out of the text.
constexpr double kShownChange = 0.002;
constexpr std::size_t kMostChanges = 4;

std::string title(const std::string& text) {
  return fmt::format("\n{}\n", text);
}

double relative(Duration there, Duration here) {
  return to_seconds(there) / to_seconds(here) - 1;
}

/// "exposed communication: tensor +0.31 s, bubble: warm-up -0.2 s".
std::string changes_text(const PlanAnswers& answers, const PricedPlan& other) {
  const double step = to_seconds(answers.priced.summary.step_time);
  std::string text;
  std::size_t shown = 0;
  for (const TermDifference& term : differences(answers.terms, time_terms(other, answers.model))) {
    if (shown == kMostChanges || std::abs(term.change()) < kShownChange * step) {
      break;
    }
    text += fmt::format("{}{} {}{}",
                        shown == 0 ? "" : ", ",
                        term.text,
                        term.change() < 0 ? "-" : "+",
                        to_string(from_seconds(std::abs(term.change()))));
    ++shown;
  }
  return text.empty() ? "no term differs much" : text;
}

std::string limits_text(const PlanAnswers& answers) {
  Table table({"what", "time", "share", ""});
  for (const TimeTerm& term : answers.terms) {
    table.add({term.text(),
               to_string(from_seconds(std::max(0.0, term.seconds))),
               percent(term.share),
               term.detail});
  }
  return title("What limits it (mean over all ranks; the shares add up to the step):") +
         table.to_string();
}

std::string runner_ups_text(const PlanAnswers& answers) {
  Table table({"had it not", "the best plan", "step", "", "memory", "because"});
  std::string none;
  for (const RunnerUp& other : *answers.runner_ups) {
    const std::string decision = fmt::format("{} {}", other.dimension, other.here);
    if (!other.plan) {
      none += fmt::format("  other than {}: {}\n", decision, other.reason);
      continue;
    }
    table.add(
        {decision,
         summary(other.plan->plan),
         to_string(other.plan->summary.step_time),
         signed_percent(relative(other.plan->summary.step_time, answers.priced.summary.step_time)),
         to_string(other.plan->summary.peak_memory),
         changes_text(answers, *other.plan)});
  }
  const bool beaten = std::ranges::any_of(*answers.runner_ups, [&](const RunnerUp& other) {
    return other.plan && other.plan->summary.step_time < answers.priced.summary.step_time;
  });
  return title("Why this one (the best plan that decides otherwise):") + table.to_string() + none +
         (beaten
              ? "faster ones are left where the search for this plan had stopped within its gap, "
                "or none was made\n"
              : "");
}

std::string why_not_text(const PlanAnswers& answers, const WhyNot& wish) {
  std::string text = title(fmt::format("Why not {}:", wish.asked));
  if (wish.plan) {
    const double change = relative(wish.plan->summary.step_time, answers.priced.summary.step_time);
    text += fmt::format("the best such plan is {}: {}, {} {}, memory {}\n{}\n",
                        summary(wish.plan->plan),
                        to_string(wish.plan->summary.step_time),
                        signed_percent(change),
                        change < 0 ? "(faster)" : "(slower)",
                        to_string(wish.plan->summary.peak_memory),
                        changes_text(answers, *wish.plan));
  } else if (wish.estimated) {
    text += fmt::format(
        "lowering cannot execute it; the closed form says {} ({}), memory {}\n",
        to_string(wish.estimated->step_time),
        signed_percent(relative(wish.estimated->step_time, answers.priced.summary.step_time)),
        to_string(wish.estimated->peak_memory));
  } else {
    text += wish.none->to_string() + "\n";
  }
  for (const Relaxation& relaxation : wish.relaxations) {
    text += fmt::format("  without {} there is {}: {}\n",
                        relaxation.given_up,
                        summary(relaxation.best.plan),
                        to_string(relaxation.best.step_time));
  }
  return text;
}

std::string what_if_text(const PlanAnswers& answers) {
  const Summary& here = answers.priced.summary;
  Table table({"what if", "same plan", "tokens/s", "planned again", "tokens/s", "as"});
  const auto gain = [&](double tokens) {
    return signed_percent(tokens / here.tokens_per_second - 1);
  };
  for (const WhatIf& what : *answers.what_if) {
    const bool same = what.same && what.same->summary.fits;
    table.add({what.name,
               same ? to_string(what.same->summary.step_time) : "-",
               same ? gain(what.same->summary.tokens_per_second) : what.same_reason,
               what.best ? to_string(what.best->step_time) : "-",
               what.best ? gain(what.best->tokens_per_s) : "",
               what.best ? summary(what.best->plan) : what.best_reason});
  }
  return title("What if (tokens/s against this plan):") + table.to_string();
}

std::string memory_text(const PlanAnswers& answers) {
  std::vector<std::string> header{"stages", "ranks"};
  for (int c = 0; c < kTensorClassCount; ++c) {
    header.emplace_back(name_of(static_cast<TensorClass>(c)));
  }
  header.insert(header.end(), {"context", "total", "of"});
  Table table(header);
  std::vector<RankMemory> shown = answers.priced.memory;
  std::ranges::stable_sort(shown, {}, &RankMemory::stages);
  const auto alike = [](const RankMemory& a, const RankMemory& b) {
    return a.stages == b.stages && a.at_peak == b.at_peak && a.capacity == b.capacity;
  };
  for (std::size_t i = 0; i < shown.size();) {
    std::int32_t ranks = 0;
    const std::size_t first = i;
    for (; i < shown.size() && alike(shown[first], shown[i]); ++i) {
      ranks += shown[i].alike;
    }
    const RankMemory& rank = shown[first];
    std::string stages;
    for (const StageId stage : rank.stages) {
      stages += fmt::format("{}{}", stages.empty() ? "" : ",", stage.value());
    }
    std::vector<std::string> row{stages, fmt::to_string(ranks)};
    for (const Bytes bytes : rank.at_peak) {
      row.push_back(to_string(bytes));
    }
    row.insert(row.end(),
               {to_string(rank.context), to_string(rank.total), to_string(rank.capacity)});
    table.add(row);
  }
  std::string text =
      title("Memory at the fullest moment, by component and stage:") + table.to_string();
  if (answers.priced.summary.fits) {
    return text;
  }
  const RankMemory& fullest = answers.priced.fullest();
  text += title(fmt::format("It does not fit: rank {} lacks {}.  What would help, each simulated:",
                            fullest.rank.value(),
                            to_string(fullest.total - fullest.capacity)));
  Table fixes({"change", "peak", "fits", "step", "against now"});
  std::string impossible;
  for (const MemoryFix& fix : answers.fixes) {
    if (!fix.outcome) {
      impossible += fmt::format("  {}: {}\n", fix.change, fix.reason);
      continue;
    }
    fixes.add({fix.change,
               to_string(fix.outcome->peak),
               fix.outcome->fits ? "yes" : "no",
               to_string(fix.outcome->step_time),
               signed_percent(relative(fix.outcome->step_time, answers.priced.summary.step_time))});
  }
  return text + fixes.to_string() + (impossible.empty() ? "" : "cannot be done:\n" + impossible);
}

std::string rules_text(const PlanAnswers& answers) {
  const double step = to_seconds(answers.priced.summary.step_time);
  Table table({"rule of thumb", "here", "figures", "at stake"});
  for (const RuleOfThumb& rule : *answers.rules) {
    table.add({rule.rule,
               std::string(name_of(rule.verdict)),
               rule.figures,
               rule.at_stake > 0 ? percent(rule.at_stake / step) : "-"});
  }
  return title("Rules of thumb:") + table.to_string();
}

std::string next_text(const PlanAnswers& answers) {
  Table table({"what to measure", "band", "of it", "how"});
  for (const NextMeasurement& next : *answers.next) {
    table.add({next.what,
               fmt::format("+- {}", percent(next.half_width)),
               percent(next.share),
               next.command});
  }
  return title("What to measure next (its part of the 80 % band of the closed form):") +
         table.to_string();
}

}  // namespace

std::string to_text(const PlanAnswers& answers) {
  const Summary& here = answers.priced.summary;
  std::string text = fmt::format("{}\nstep {}, {} tokens/s, MFU {}, memory {}{}\n",
                                 summary(answers.priced.plan),
                                 to_string(here.step_time),
                                 count_text(here.tokens_per_second),
                                 here.mfu ? percent(*here.mfu) : "unknown",
                                 to_string(here.peak_memory),
                                 here.fits ? "" : " (does not fit)");
  text += answers.limits ? limits_text(answers) : "";
  text += answers.runner_ups ? runner_ups_text(answers) : "";
  for (const WhyNot& wish : answers.why_not) {
    text += why_not_text(answers, wish);
  }
  text += answers.memory ? memory_text(answers) : "";
  text += answers.what_if ? what_if_text(answers) : "";
  text += answers.rules ? rules_text(answers) : "";
  text += answers.next ? next_text(answers) : "";
  return text;
}

}  // namespace stagewright
