#include "study/accuracy_markdown.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/cost/step_constants.h"
#include "study/accuracy_goals.h"
#include "study/statistics.h"

namespace stagewright {
namespace {

std::string percent_or_dash(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f}", 100 * *share) : "";
}

std::string time_rows(const std::vector<TimeErrors>& sources, bool experts) {
  std::string text;
  for (const TimeErrors& errors : sources) {
    if (errors.experts == experts) {
      text += fmt::format("| {} | {} | {:.1f} | {:.1f} | {:.0f} | {:+.1f} | {:.0f} | {} |\n",
                          errors.source,
                          errors.records,
                          100 * errors.median,
                          100 * errors.mean,
                          100 * errors.within_10pct,
                          100 * errors.bias,
                          100 * errors.coverage,
                          errors.noise_floor ? percent_or_dash(errors.noise_floor) : "none");
    }
  }
  return text;
}

std::string time_section(const AccuracyReport& report, const std::string& title) {
  constexpr std::string_view kHead =
      "| source | records | median | mean | within 10 % | bias | in 80 % band | noise floor |\n"
      "| --- | --: | --: | --: | --: | --: | --: | --: |\n";
  const std::vector<TimeErrors> sources = time_errors(report);
  std::string text = fmt::format(
      "### {}\n\nDense models; mean of the sources' medians: {:.1f} %. All records in the 80 % "
      "band: {:.0f} %.\n\n{}{}",
      title,
      100 * mean_of_dense_medians(report),
      100 * band_coverage(report),
      kHead,
      time_rows(sources, false));
  const std::string experts = time_rows(sources, true);
  if (!experts.empty()) {
    text += fmt::format("\nModels with experts:\n\n{}{}", kHead, experts);
  }
  return text + "\n";
}

std::string goal_section(const AccuracyReport& seen, const AccuracyReport& unseen) {
  std::string text = "| goal | at most | reached | |\n| --- | --: | --: | --- |\n";
  for (const AccuracyGoal& goal : accuracy_goals(seen, unseen)) {
    const bool count = goal.most >= 1 && goal.least == 0;
    const auto figure = [&](double value) {
      return count ? fmt::format("{:.0f}", value) : fmt::format("{:.1f} %", 100 * value);
    };
    text += fmt::format(
        "| {} | {} | {} | {} |\n",
        goal.name,
        goal.least > 0 ? figure(goal.least) + " to " + figure(goal.most) : figure(goal.most),
        figure(goal.value),
        goal.met() ? "met" : "**missed**");
  }
  return text;
}

/// Errors of a source's memory: median and mean.
std::string memory_errors(const AccuracyReport& report, const std::string& source) {
  std::vector<double> errors;
  for (const AccuracyRow& row : report.rows) {
    if (row.dataset == source && row.predicted_bytes && row.measured_bytes) {
      errors.push_back(std::abs(*row.predicted_bytes / *row.measured_bytes - 1));
    }
  }
  return errors.empty() ? ""
                        : fmt::format("{:.1f} / {:.1f}", 100 * median(errors), 100 * mean(errors));
}

std::string interval_text(int successes, int count) {
  if (count == 0) {
    return "none";
  }
  const auto [low, high] = proportion_interval(successes, count);
  return fmt::format(
      "{} of {} (95 % interval {:.1f} to {:.1f} %)", successes, count, 100 * low, 100 * high);
}

std::string memory_section(const AccuracyReport& seen, const AccuracyReport& unseen) {
  std::string text = fmt::format(
      "Median and mean error in percent; mean of the sources' medians {:.1f} %, left out {:.1f} "
      "%.\n\n"
      "| source | records | in the calibration | left out | OOM right | OOM missed | fitting "
      "called "
      "OOM |\n| --- | --: | --: | --: | --: | --: | --: |\n",
      100 * mean_of_memory_medians(seen),
      100 * mean_of_memory_medians(unseen));
  int found = 0;
  int missed = 0;
  int alarms = 0;
  int fitting = 0;
  for (const SourceAccuracy& source : seen.sources) {
    const int misses = source.oom_wrong - source.fits_called_oom;
    if (source.memory_records == 0 && source.oom_right + source.oom_wrong == 0) {
      continue;
    }
    found += source.oom_right;
    missed += misses;
    alarms += source.fits_called_oom;
    fitting += source.fitting;
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} of {} |\n",
                        source.name,
                        source.memory_records,
                        memory_errors(seen, source.name),
                        memory_errors(unseen, source.name),
                        source.oom_right,
                        misses,
                        source.fits_called_oom,
                        source.fitting);
  }
  text += fmt::format(
      "\nRuns that ended out of memory and are called not fitting: {}. Runs that fit and are "
      "called "
      "out of memory: {}. Intervals are Clopper and Pearson's.\n",
      interval_text(found, found + missed),
      interval_text(alarms, fitting));
  return text;
}

std::string group_section(const AccuracyReport& report) {
  std::string text =
      "| source | groups | mean rank correlation | mean regret, % | largest, % |\n"
      "| --- | --: | --: | --: | --: |\n";
  for (const SourceAccuracy& source : report.sources) {
    if (source.groups.empty()) {
      continue;
    }
    double correlation = 0;
    double regret = 0;
    double largest = 0;
    for (const PlanGroup& group : source.groups) {
      correlation += group.spearman;
      regret += group.regret;
      largest = std::max(largest, group.regret);
    }
    const auto count = static_cast<double>(source.groups.size());
    text += fmt::format("| {} | {} | {:.2f} | {:.1f} | {:.1f} |\n",
                        source.name,
                        source.groups.size(),
                        correlation / count,
                        100 * regret / count,
                        100 * largest);
  }
  return text;
}

std::string skipped_section(const AccuracyReport& report) {
  std::map<std::string, std::map<std::string, int>> counts;
  for (const AccuracyRow& row : report.rows) {
    const std::string reason = not_judged(row);
    if (!reason.empty()) {
      ++counts[row.dataset][reason];
    }
  }
  std::string text = "| source | records | reason |\n| --- | --: | --- |\n";
  for (const auto& [source, reasons] : counts) {
    for (const auto& [reason, count] : reasons) {
      text += fmt::format("| {} | {} | {} |\n", source, count, reason);
    }
  }
  return text;
}

std::string worst_section(const AccuracyReport& report) {
  std::string text =
      "| record | predicted, s | measured, s | error, % | largest terms, % |\n"
      "| --- | --: | --: | --: | --- |\n";
  for (const AccuracyRow* row : worst_rows(report, 20)) {
    text += fmt::format("| {} | {:.4g} | {:.4g} | {:+.0f} | {} |\n",
                        row->id,
                        *row->predicted_seconds,
                        *row->measured_seconds,
                        100 * (*row->predicted_seconds / *row->measured_seconds - 1),
                        largest_terms(*row, 4));
  }
  return text;
}

std::string meaning_of(const std::string& name) {
  for (const StepConstantInfo& info : step_constant_infos()) {
    if (info.name == name) {
      return std::string(info.meaning);
    }
  }
  if (name.ends_with(".matrix_factor")) {
    return "products in training over the architecture's share";
  }
  if (name.ends_with(".matrix")) {
    return "large bf16 products over peak";
  }
  return "FlashAttention-2 on long sequences over peak";
}

std::string constant_section(const Calibration& calibration) {
  std::string text =
      "| constant | value | loss up 2 % | prior | moved by | meaning |\n"
      "| --- | --: | --- | --: | --- | --- |\n";
  for (const FittedConstant& fitted : calibration.fitted) {
    std::string sources;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, fitted.sources.size()); ++i) {
      sources += (i == 0 ? "" : ", ") + fitted.sources[i];
    }
    text += fmt::format("| {} | {:.3g} | {:.3g} to {:.3g} | {:.3g} | {} | {} |\n",
                        fitted.name,
                        fitted.value,
                        fitted.low,
                        fitted.high,
                        fitted.prior,
                        sources,
                        meaning_of(fitted.name));
  }
  return text;
}

std::string memory_constant_section(const MemoryFit& memory) {
  std::string text =
      "| constant | value | loss up 2 % | prior | moved by | meaning |\n"
      "| --- | --: | --- | --: | --- | --- |\n";
  for (const FittedMemoryConstant& fitted : memory.fitted) {
    const auto& info = memory_constant_infos()[static_cast<std::size_t>(fitted.constant)];
    text += fmt::format("| {} | {:.4g} | {:.4g} to {:.4g} | {:.4g} | {} | {} |\n",
                        info.name,
                        fitted.value,
                        fitted.low,
                        fitted.high,
                        info.prior,
                        fmt::join(fitted.sources, ", "),
                        info.meaning);
  }
  return text;
}

std::string constants_text(const AccuracyDocument& document) {
  const Calibration& calibration = document.calibration;
  std::string text = fmt::format(
      "\n## Constants\n\n{} constants are fitted to {} records of {} sources "
      "(`stagewright calibrate`): robust least squares on the logarithm, every source weighing "
      "the same, each constant held to its prior. \"Loss up 2 %\" is how far it can move alone. "
      "None belongs to a record, a model or a source.\n\n",
      calibration.fitted.size(),
      calibration.records,
      calibration.sources.size());
  text += constant_section(calibration);
  if (!calibration.undetermined.empty()) {
    text += fmt::format("\nNo record moves these, so that they keep their priors: {}.\n",
                        fmt::join(calibration.undetermined, ", "));
  }
  const StepBand& band = calibration.constants.band;
  text += fmt::format(
      "\nThe 80 % band is +- 1.28 times {:.3g} + {:.3g} x share of host waits + {:.3g} x share of "
      "exposed communication + {:.3g} x share of what happens once a step + {:.3g} x share of "
      "experts, in the logarithm, from the sources when left out.\n",
      band.base,
      band.host,
      band.traffic,
      band.fixed,
      band.experts);
  text += fmt::format(
      "\nOf the memory, {} constants from {} records, by coordinate descent on the mean of median "
      "and mean error per source; all else is arithmetic ([memory.md](memory.md)).\n\n",
      document.memory.fitted.size(),
      document.memory.records);
  return text + memory_constant_section(document.memory);
}

std::string kernel_section(const std::vector<KernelFit>& kernels) {
  if (kernels.empty()) {
    return {};
  }
  std::string text =
      "\n## Learned and calibrated prices of products\n\n"
      "Median / mean error in percent on groups of measured shapes left out, of a regression and "
      "of "
      "the calibrated price of a product alone (\"scaled\": times one factor fitted to the other "
      "groups); then the median error of the measured steps on the device with either. The learned "
      "price is the default where all of its figures are the better ones and ten steps or more "
      "could "
      "be held against it ([costs.md](costs.md#learned-from-shapes)).\n\n"
      "| device | points | groups | learned | calibrated | scaled | steps | learned | calibrated | "
      "default |\n| --- | --: | --: | --: | --: | --: | --: | --: | --: | --- |\n";
  const auto errors = [](const KernelError& error) {
    return fmt::format("{:.1f} / {:.1f}", 100 * error.median, 100 * error.mean);
  };
  for (const KernelFit& fit : kernels) {
    const bool held = fit.steps > 0;
    text += fmt::format("| {}, {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n",
                        fit.kernel.device,
                        name_of(fit.kernel.dtype),
                        fit.points,
                        fit.groups,
                        errors(fit.learned),
                        errors(fit.formula),
                        errors(fit.scaled),
                        fit.steps,
                        held ? fmt::format("{:.1f}", 100 * fit.step_learned) : "",
                        held ? fmt::format("{:.1f}", 100 * fit.step_formula) : "",
                        fit.kernel.preferred ? "learned" : "calibrated");
  }
  return text;
}

std::string assumed_section(const AccuracyReport& report) {
  std::string text = "| assumed | records |\n| --- | --: |\n";
  for (const auto& [assumption, count] : assumption_counts(report)) {
    text += fmt::format("| {} | {} |\n", assumption, count);
  }
  return text;
}

}  // namespace

std::string accuracy_markdown(const AccuracyDocument& document) {
  const AccuracyReport& seen = document.seen;
  const AccuracyReport& unseen = document.unseen;
  std::string text =
      "# How accurate the predictions are\n\n"
      "Written by `stagewright validate FILE.jsonl --markdown docs/accuracy.md`; do not edit.\n"
      "Errors are |predicted / measured - 1| of published runs, in percent "
      "([the format](formats/measured_record.md)); bias is the median of predicted / measured, "
      "- 1; the noise floor is the median spread of repeated measurements of one configuration "
      "(none: the source repeats no configuration). "
      "A record is predicted from its own fields, the device's data sheet and the framework's "
      "profile alone.\n\n## Goals\n\nOf the errors in the calibration, where not said "
      "otherwise.\n\n";
  text += goal_section(seen, unseen);
  text += "\n## Step time\n\n";
  text +=
      time_section(unseen, "Sources that the calibration has not seen (one left out at a time)");
  text += time_section(seen, "The same sources in the calibration");
  text += "## Memory\n\n" + memory_section(seen, unseen);
  text +=
      "\n## Choosing among plans\n\n"
      "Plans of one model on the same devices with the same batch, predicted without having "
      "seen the source: rank correlation of predicted and measured times, and what the plan "
      "predicted best costs over the best one.\n\n" +
      group_section(unseen);
  text += constants_text(document);
  text += kernel_section(document.kernels);
  text += "\n## Worst records (source not seen)\n\n" + worst_section(unseen);
  text += "\n## Not judged\n\n\"time:\" where the memory of the same record is judged.\n\n" +
          skipped_section(seen);
  text +=
      "\n## Assumed\n\nWhat predictions take that records do not say.\n\n" + assumed_section(seen);
  return text;
}

}  // namespace stagewright
