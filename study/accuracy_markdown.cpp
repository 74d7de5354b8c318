#include "study/accuracy_markdown.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "sim/cost/step_constants.h"

namespace stagewright {
namespace {

std::string percent_or_dash(const std::optional<double>& share) {
  return share ? fmt::format("{:.1f}", 100 * *share) : "";
}

/// Times of a source's dense or expert models.
struct Times {
  std::vector<double> errors;
  std::vector<double> ratios;
  int within = 0;
  int covered = 0;
};

Times times_of(const AccuracyReport& report, const std::string& source, bool experts) {
  Times times;
  for (const AccuracyRow& row : report.rows) {
    if (row.dataset != source || row.experts != experts || !row.predicted_seconds ||
        !row.measured_seconds || !row.time_skipped.empty()) {
      continue;
    }
    const double ratio = *row.predicted_seconds / *row.measured_seconds;
    times.errors.push_back(std::abs(ratio - 1));
    times.ratios.push_back(ratio);
    times.within += std::abs(ratio - 1) <= 0.1 ? 1 : 0;
    times.covered += std::abs(std::log(ratio)) <= 1.2816 * row.deviation ? 1 : 0;
  }
  return times;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  return sum / static_cast<double>(values.size());
}

std::string time_rows(const AccuracyReport& report, bool experts, double& middle) {
  std::string text;
  std::vector<double> medians;
  for (const SourceAccuracy& source : report.sources) {
    const Times times = times_of(report, source.name, experts);
    if (times.errors.empty()) {
      continue;
    }
    const auto count = static_cast<double>(times.errors.size());
    medians.push_back(median(times.errors));
    text += fmt::format("| {} | {} | {:.1f} | {:.1f} | {:.0f} | {:+.1f} | {:.0f} | {} |\n",
                        source.name,
                        times.errors.size(),
                        100 * medians.back(),
                        100 * mean(times.errors),
                        100 * times.within / count,
                        100 * (median(times.ratios) - 1),
                        100 * times.covered / count,
                        percent_or_dash(source.noise_floor));
  }
  middle = medians.empty() ? 0 : mean(medians);
  return text;
}

std::string time_section(const AccuracyReport& report, const std::string& title) {
  constexpr std::string_view kHead =
      "| source | records | median | mean | within 10 % | bias | in 80 % band | noise floor |\n"
      "| --- | --: | --: | --: | --: | --: | --: | --: |\n";
  double middle = 0;
  const std::string dense = time_rows(report, false, middle);
  std::string text =
      fmt::format("### {}\n\nDense models; mean of the sources' medians: {:.1f} %.\n\n{}{}",
                  title,
                  100 * middle,
                  kHead,
                  dense);
  const std::string experts = time_rows(report, true, middle);
  if (!experts.empty()) {
    text += fmt::format("\nModels with experts:\n\n{}{}", kHead, experts);
  }
  return text + "\n";
}

std::string memory_section(const AccuracyReport& report) {
  std::string text =
      "| source | records | median error, % | OOM right | OOM missed | fitting called OOM |\n"
      "| --- | --: | --: | --: | --: | --: |\n";
  for (const SourceAccuracy& source : report.sources) {
    if (source.memory_records > 0 || source.oom_right + source.oom_wrong > 0) {
      text += fmt::format("| {} | {} | {} | {} | {} | {} of {} |\n",
                          source.name,
                          source.memory_records,
                          percent_or_dash(source.memory_median_ape),
                          source.oom_right,
                          source.oom_wrong - source.fits_called_oom,
                          source.fits_called_oom,
                          source.fitting);
    }
  }
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
    const std::string& reason = row.skipped.empty() ? row.time_skipped : row.skipped;
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

}  // namespace

std::string accuracy_markdown(const AccuracyReport& seen,
                              const AccuracyReport& unseen,
                              const Calibration& calibration) {
  std::string text =
      "# How accurate the predictions are\n\n"
      "Written by `stagewright validate FILE.jsonl --markdown docs/accuracy.md`; do not edit.\n"
      "Errors are |predicted / measured - 1| of published runs, in percent "
      "([the format](formats/measured_record.md)); bias is the median of predicted / measured, "
      "- 1; the noise floor is the median spread of repeated measurements of one configuration. "
      "A record is predicted from its own fields, the device's data sheet and the framework's "
      "profile alone.\n\n## Step time\n\n";
  text +=
      time_section(unseen, "Sources that the calibration has not seen (one left out at a time)");
  text += time_section(seen, "The same sources in the calibration");
  text += "## Memory\n\n" + memory_section(seen);
  text +=
      "\n## Choosing among plans\n\n"
      "Plans of one model on the same devices with the same batch, predicted without having "
      "seen the source: rank correlation of predicted and measured times, and what the plan "
      "predicted best costs over the best one.\n\n" +
      group_section(unseen);
  text += fmt::format(
      "\n## Constants\n\n{} constants are fitted to {} records of {} sources "
      "(`stagewright calibrate`): robust least squares on the logarithm, every source weighing "
      "the same, each constant held to its prior. \"Loss up 2 %\" is how far it can move alone. "
      "None belongs to a record, a model or a source.\n\n",
      calibration.fitted.size(),
      calibration.records,
      calibration.sources.size());
  text += constant_section(calibration);
  if (!calibration.undetermined.empty()) {
    text += "\nNo record moves these, so that they keep their priors: ";
    for (std::size_t i = 0; i < calibration.undetermined.size(); ++i) {
      text += (i == 0 ? "" : ", ") + calibration.undetermined[i];
    }
    text += ".\n";
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
  text += "\n## Worst records (source not seen)\n\n" + worst_section(unseen);
  text += "\n## Not judged\n\n" + skipped_section(seen);
  return text;
}

}  // namespace stagewright
