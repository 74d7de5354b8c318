#include "study/validate.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tbb/parallel_for.h>

#include "core/base/json_reader.h"
#include "sim/step/step_time.h"
#include "study/lowered_run.h"
#include "study/predicted_memory.h"
#include "study/record_setup.h"

namespace stagewright {
namespace {

std::string group_key(const MeasuredRecord& record) {
  const TransformerShape& shape = record.run.shape;
  return fmt::format("{} {}x{}, {} heads, vocabulary {}, sequence {} on {} x {}, batch {}",
                     record.model,
                     shape.layers,
                     shape.hidden,
                     shape.heads,
                     shape.vocabulary,
                     record.run.sequence,
                     record.run.devices(),
                     record.device,
                     record.run.global_batch());
}

std::string detail(const MeasuredRecord& record, const char* key) {
  const auto found = record.details.find(key);
  return found == record.details.end() ? std::string() : found->second;
}

/// Everything that a repeated measurement has in common.
std::string configuration_key(const MeasuredRecord& record) {
  const TrainingRun& run = record.run;
  return fmt::format(
      "{} layers {} heads {} tp{} pp{} v{} cp{} ep{} mb{} zero{} format {} "
      "recompute {} schedule {} placement {} compiled {} async {} details {}",
      group_key(record),
      run.shape.layers,
      run.shape.heads,
      run.tp,
      run.pp,
      run.virtual_stages,
      run.cp,
      run.ep,
      run.micro_batch,
      run.zero_stage,
      static_cast<int>(run.format),
      run.recompute ? fmt::format("{} {} {} {} {}",
                                  static_cast<int>(*run.recompute),
                                  static_cast<int>(run.selective),
                                  run.recomputed.block,
                                  run.recomputed.every,
                                  run.recomputed.checkpoint)
                    : std::string(),
      run.schedule,
      static_cast<int>(run.vocabulary_placement),
      run.compiled.value_or(false),
      run.async_tensor_parallel,
      detail(record, "precision") + detail(record, "schedule"));
}

void predict_time(AccuracyRow& row, const TrainingSetup& setup, const StepConstants& constants) {
  if (!row.measured_seconds || !row.time_skipped.empty()) {
    return;
  }
  TrainingSetup priced = setup;
  if (!has_bubble_term(setup.run.schedule)) {
    // The list will say the time; what it is made of is as of 1F1B.
    priced.run.schedule.clear();
  }
  if (const auto able = can_price(priced); !able) {
    row.time_skipped = able.error().to_string();
    return;
  }
  const StepTime step = step_time(priced, constants);
  row.predicted_seconds = step.seconds;
  row.deviation = step.deviation;
  row.terms = step.terms;
}

/// Predicts all but what the static pass says of the time; returns what that is asked for.
std::optional<TrainingSetup> predict(AccuracyRow& row,
                                     const MeasuredRecord& record,
                                     RecordSetups& setups,
                                     const StepConstants& constants,
                                     const MemoryConstants& memory_constants) {
  auto setup = setups.setup_of(record);
  if (!setup) {
    row.skipped = setup.error().to_string();
    row.time_skipped.clear();
    return std::nullopt;
  }
  std::ranges::copy(RecordSetups::assumptions(record, *setup), std::back_inserter(row.assumed));
  predict_time(row, *setup, constants);
  if (record.memory_bytes || record.out_of_memory) {
    const MemoryPrediction memory = predict_memory(record, *setup, memory_constants);
    row.predicted_bytes = memory.bytes;
    row.predicted_fits = memory.fits;
  } else if (!row.time_skipped.empty()) {
    row.skipped = std::exchange(row.time_skipped, {});
  }
  return row.predicted_seconds ? std::optional(*std::move(setup)) : std::nullopt;
}

/// Puts the static pass's time in the place of the closed form's where the run can be lowered; the
/// terms keep their shares.
void price_lowered(AccuracyRow& row, const TrainingSetup& setup, const StepConstants& constants) {
  const auto time = static_step_time(setup, constants);
  if (!time && !has_bubble_term(setup.run.schedule)) {
    std::string& skipped = row.predicted_bytes ? row.time_skipped : row.skipped;
    skipped = fmt::format("plan.schedule: the closed form has no term for the bubble of {}, and {}",
                          setup.run.schedule,
                          time.error().message);
    row.predicted_seconds.reset();
    return;
  }
  if (!time) {
    row.price = "closed form: " + time.error().message;
    return;
  }
  row.price = "static pass";
  const double scale = to_seconds(*time) / *row.predicted_seconds;
  row.predicted_seconds = to_seconds(*time);
  for (double& term : row.terms) {
    term *= scale;
  }
}

}  // namespace

Result<TimeDoubt> doubt_about_time(const DataFiles& files, const MeasuredRecord& record) {
  const auto notes = record.details.find("notes");
  if (notes != record.details.end() &&
      notes->second.find("use the memory, not the time") != std::string::npos) {
    return TimeDoubt{.reason = "its notes call the time useless"};
  }
  constexpr std::string_view kFile = "measured/doubtful.json";
  const auto text = files.find(kFile);
  if (!text) {
    return TimeDoubt{};
  }
  auto json = parse_json(*text, files.where(kFile));
  if (!json) {
    return pass_on(std::move(json));
  }
  for (const auto& entry : (*json)["records"]) {
    if (entry.value("id", "") == record.id) {
      return TimeDoubt{.reason = entry.value("reason", ""), .judged = entry.value("judged", false)};
    }
  }
  return TimeDoubt{};
}

Result<AccuracyReport> validate(const DataFiles& files,
                                const std::vector<RecordLine>& records,
                                const StepConstants& constants,
                                const MemoryConstants& memory_constants) {
  RecordSetups setups(files);
  std::vector<AccuracyRow> rows;
  std::vector<std::optional<TrainingSetup>> timed;  // by row
  for (const RecordLine& line : records) {
    timed.emplace_back();
    AccuracyRow row{.id = line.id, .dataset = line.dataset, .skipped = line.skipped};
    if (line.record) {
      const MeasuredRecord& record = *line.record;
      auto doubt = doubt_about_time(files, record);
      if (!doubt) {
        return pass_on(std::move(doubt));
      }
      row.device = record.device;
      row.group = group_key(record);
      row.configuration = configuration_key(record);
      row.experts = record.run.experts.has_value();
      row.measured_seconds = record.iteration_seconds;
      row.measured_bytes = record.memory_bytes;
      row.out_of_memory = record.out_of_memory;
      row.time_skipped = record.iteration_seconds && !doubt->judged ? doubt->reason : std::string();
      row.assumed = record.assumed;
      timed.back() = predict(row, record, setups, constants, memory_constants);
    }
    rows.push_back(std::move(row));
  }
  tbb::parallel_for(std::size_t{0}, rows.size(), [&](std::size_t i) {
    if (timed[i]) {
      price_lowered(rows[i], *timed[i], constants);
    }
  });
  return summarize(std::move(rows));
}

}  // namespace stagewright
