#include "study/fit_memory.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "study/predicted_memory.h"
#include "study/record_setup.h"

namespace stagewright {
namespace {

// Candidates on each constant's range, and passes over all constants; the loss has stopped to
// change to four digits by then.
constexpr int kSteps = 40;
constexpr int kPasses = 6;
// Loss that a constant at the end of its range costs: far below what a percent of error in one
// dataset does, so that it decides only where the records do not.
constexpr double kPull = 0.002;
constexpr double kTolerance = 1.02;

struct Sample {
  MeasuredRecord record;
  TrainingSetup setup;
};

using Samples = std::map<std::string, std::vector<Sample>>;

Samples usable(const DataFiles& files,
               const std::vector<RecordLine>& records,
               const std::vector<std::string>& without) {
  RecordSetups setups(files);
  Samples samples;
  for (const RecordLine& line : records) {
    if (!line.record || !line.record->memory_bytes || line.record->out_of_memory ||
        std::ranges::find(without, line.dataset) != without.end()) {
      continue;
    }
    if (auto setup = setups.setup_of(*line.record)) {
      samples[line.dataset].push_back({*line.record, *std::move(setup)});
    }
  }
  return samples;
}

double dataset_loss(const std::vector<Sample>& samples, const MemoryConstants& constants) {
  std::vector<double> errors;
  double sum = 0;
  for (const Sample& sample : samples) {
    const double predicted = predict_memory(sample.record, sample.setup, constants).bytes;
    errors.push_back(std::abs(std::log(predicted / *sample.record.memory_bytes)));
    sum += errors.back();
  }
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::ranges::nth_element(errors, middle);
  return (*middle + sum / static_cast<double>(errors.size())) / 2;
}

double data_loss(const Samples& samples, const MemoryConstants& constants) {
  double sum = 0;
  for (const auto& [dataset, list] : samples) {
    sum += dataset_loss(list, constants);
  }
  return samples.empty() ? 0 : sum / static_cast<double>(samples.size());
}

double pull(const MemoryConstants& constants) {
  double sum = 0;
  for (const MemoryConstantInfo& info : memory_constant_infos()) {
    const double distance = (constants[info.constant] - info.prior) / (info.most - info.least);
    sum += kPull * distance * distance;
  }
  return sum;
}

double total_loss(const Samples& samples, const MemoryConstants& constants) {
  return data_loss(samples, constants) + pull(constants);
}

double candidate(const MemoryConstantInfo& info, int step) {
  return info.least + (info.most - info.least) * step / kSteps;
}

/// Values of one constant with the others held: the best, and those not much worse.
FittedMemoryConstant scan(const Samples& samples,
                          const MemoryConstantInfo& info,
                          MemoryConstants constants) {
  std::vector<double> losses;
  for (int step = 0; step <= kSteps; ++step) {
    constants[info.constant] = candidate(info, step);
    losses.push_back(total_loss(samples, constants));
  }
  const auto best = std::ranges::min_element(losses);
  FittedMemoryConstant fitted{.constant = info.constant};
  const auto place = static_cast<int>(best - losses.begin());
  fitted.value = candidate(info, place);
  int low = place;
  int high = place;
  while (low > 0 && losses[static_cast<std::size_t>(low - 1)] <= kTolerance * *best) {
    --low;
  }
  while (high < kSteps && losses[static_cast<std::size_t>(high + 1)] <= kTolerance * *best) {
    ++high;
  }
  fitted.low = candidate(info, low);
  fitted.high = candidate(info, high);
  return fitted;
}

/// Datasets whose loss depends on the constant at all.
std::vector<std::string> moved_by(const Samples& samples,
                                  const MemoryConstantInfo& info,
                                  MemoryConstants constants) {
  std::vector<std::string> sources;
  const MemoryConstants before = constants;
  constants[info.constant] =
      constants[info.constant] < (info.least + info.most) / 2 ? info.most : info.least;
  for (const auto& [dataset, list] : samples) {
    if (dataset_loss(list, constants) != dataset_loss(list, before)) {
      sources.push_back(dataset);
    }
  }
  return sources;
}

}  // namespace

MemoryFit fit_memory(const DataFiles& files,
                     const std::vector<RecordLine>& records,
                     const std::vector<std::string>& without) {
  const Samples samples = usable(files, records, without);
  MemoryFit fit{.constants = prior_memory_constants()};
  for (const auto& [dataset, list] : samples) {
    fit.records += static_cast<int>(list.size());
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    fit.fitted.clear();
    for (const MemoryConstantInfo& info : memory_constant_infos()) {
      fit.fitted.push_back(scan(samples, info, fit.constants));
      fit.constants[info.constant] = fit.fitted.back().value;
    }
  }
  for (FittedMemoryConstant& fitted : fit.fitted) {
    const auto& info = memory_constant_infos()[static_cast<std::size_t>(fitted.constant)];
    fitted.sources = moved_by(samples, info, fit.constants);
  }
  fit.loss = data_loss(samples, fit.constants);
  return fit;
}

}  // namespace stagewright
