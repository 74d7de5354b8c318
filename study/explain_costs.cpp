#include "study/explain_costs.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/cost/kernel_time.h"
#include "sim/step/layer_time.h"
#include "study/statistics.h"

namespace stagewright {
namespace {

// The ranges that the measured runs of the calibration span (docs/accuracy.md).
constexpr std::int64_t kLeastHidden = 768;
constexpr std::int64_t kMostHidden = 25600;
constexpr std::int64_t kMostSequence = 1048576;
constexpr std::int64_t kMostDevices = 3072;

struct Facts {
  const TrainingSetup* setup;
  const StepConstants* constants;
  KernelRates rates;
  TimingClass timing;

  [[nodiscard]] double get(StepConstant constant) const { return (*constants)[constant]; }
};

std::string formula_of(StepTerm term) {
  switch (term) {
    case StepTerm::kProducts:
      return "sum over products of max(2 waves tile (k + 128) / rate, bytes / memory) + kernel";
    case StepTerm::kAttention:
      return "fused: 3.5 x 2 s^2 d heads (s + 520) / s / rate; else batched products + scores / "
             "memory";
    case StepTerm::kElementwise:
      return "bytes of norms, activations, residuals, casts and accumulation / memory";
    case StepTerm::kExperts:
      return "grouped products of routed tokens + copies of the routing / memory";
    case StepTerm::kRecompute:
      return "the forward terms that the backward repeats";
    case StepTerm::kVocabulary:
      return "embedding, output layer and loss of the slowest stage";
    case StepTerm::kHost:
      return "max(0, kernels x host time - device time) per pass";
    case StepTerm::kTensorTraffic:
      return "collectives of the layers: latency + 2 (n - 1) / n bytes / rate, less what products "
             "hide, + skew";
    case StepTerm::kContextTraffic:
      return "one block of keys and values per ring that attention does not hide";
    case StepTerm::kExpertTraffic:
      return "all-to-all there and back, exposed share";
    case StepTerm::kTransfers:
      return "messages between stages x exposed share";
    case StepTerm::kBubble:
      return "(sum of the stages' times - the slowest) / virtual stages";
    case StepTerm::kGradientTraffic:
      return "reduction and gather over replicas, less what overlaps";
    case StepTerm::kOptimizer:
      return "parameters / shards x bytes / memory";
    case StepTerm::kFixed:
      return "once a step";
    case StepTerm::kStragglers:
      return "share per doubling of nodes x the rest";
  }
  return "";
}

std::string link_text(const LinkSpec& link) {
  return fmt::format("{} at {}", link.name, to_string(link.bandwidth));
}

std::string inputs_of(StepTerm term, const Facts& facts) {
  const TrainingRun& run = facts.setup->run;
  switch (term) {
    case StepTerm::kProducts:
    case StepTerm::kRecompute:
    case StepTerm::kVocabulary:
      return fmt::format("rate {:.0f} TFLOP/s, {:.0f} thread blocks a wave",
                         facts.rates.product / 1e12,
                         facts.rates.units);
    case StepTerm::kExperts:
      return fmt::format("rate {:.0f} TFLOP/s, copies x {:.2g}",
                         facts.rates.product / 1e12,
                         facts.get(StepConstant::kExpertTraffic));
    case StepTerm::kAttention:
      return fmt::format("fused rate {:.0f}, batched rate {:.0f} TFLOP/s",
                         facts.rates.attention / 1e12,
                         facts.rates.batched / 1e12);
    case StepTerm::kElementwise:
      return fmt::format("memory {:.0f} GB/s", facts.rates.memory / 1e9);
    case StepTerm::kHost:
      return fmt::format("{:.0f} us a kernel", facts.timing.host_micros);
    case StepTerm::kTensorTraffic:
      return fmt::format("tp {}, {}", run.tp, link_text(facts.setup->intra_node));
    case StepTerm::kContextTraffic:
      return fmt::format("cp {}, {}", run.cp, link_text(facts.setup->intra_node));
    case StepTerm::kExpertTraffic:
      return fmt::format("ep {}, exposed {:.2g}", run.ep, facts.get(StepConstant::kExpertExposed));
    case StepTerm::kTransfers:
      return fmt::format(
          "pp {} x {}, {}", run.pp, run.virtual_stages, link_text(facts.setup->inter_node));
    case StepTerm::kBubble:
      return fmt::format(
          "pp {} x {}, {} micro-batches", run.pp, run.virtual_stages, run.micro_batches);
    case StepTerm::kGradientTraffic:
      return fmt::format("dp {}, ZeRO {}, {} x {:.2g}",
                         std::int64_t{run.dp} * run.cp,
                         run.zero_stage,
                         link_text(facts.setup->inter_node),
                         facts.get(StepConstant::kNicShare));
    case StepTerm::kOptimizer:
      return fmt::format("{:.0f} B a parameter, memory {:.0f} GB/s",
                         facts.get(StepConstant::kOptimizerBytes),
                         facts.rates.optimizer / 1e9);
    case StepTerm::kFixed:
      return fmt::format("{:.1f} ms", facts.get(StepConstant::kStepMillis));
    case StepTerm::kStragglers:
      return fmt::format("{:.2g} % a doubling", 100 * facts.get(StepConstant::kStraggle));
  }
  return "";
}

CostSource source_of(StepTerm term, const Facts& facts, bool class_known, bool rates_known) {
  switch (term) {
    case StepTerm::kProducts:
    case StepTerm::kAttention:
    case StepTerm::kRecompute:
    case StepTerm::kVocabulary:
    case StepTerm::kExperts:
      return class_known && rates_known ? CostSource::kCalibrated : CostSource::kDefault;
    case StepTerm::kHost:
      return class_known ? CostSource::kCalibrated : CostSource::kDefault;
    case StepTerm::kBubble:
      return facts.setup->run.pp > 1 ? CostSource::kDatasheet : CostSource::kCalibrated;
    case StepTerm::kElementwise:
    case StepTerm::kTensorTraffic:
    case StepTerm::kContextTraffic:
    case StepTerm::kExpertTraffic:
    case StepTerm::kTransfers:
    case StepTerm::kGradientTraffic:
    case StepTerm::kOptimizer:
    case StepTerm::kFixed:
    case StepTerm::kStragglers:
      return CostSource::kCalibrated;
  }
  return CostSource::kCalibrated;
}

std::vector<std::string> warnings_of(const TrainingSetup& setup,
                                     bool class_known,
                                     bool rates_known) {
  std::vector<std::string> warnings;
  const TrainingRun& run = setup.run;
  if (!class_known) {
    warnings.push_back(
        fmt::format("no measured run of timing class '{}': the middle of the known ones stands in",
                    setup.framework.timing_class));
  }
  if (!rates_known) {
    warnings.push_back(
        fmt::format("no measured run on architecture '{}' of {}: the device file's efficiencies "
                    "stand in",
                    setup.device.architecture,
                    setup.device.name));
  }
  if (run.shape.hidden < kLeastHidden || run.shape.hidden > kMostHidden) {
    warnings.push_back(fmt::format("hidden size {} lies outside the calibrated {} to {}",
                                   run.shape.hidden,
                                   kLeastHidden,
                                   kMostHidden));
  }
  if (run.sequence > kMostSequence) {
    warnings.push_back(
        fmt::format("sequence {} lies beyond the calibrated {}", run.sequence, kMostSequence));
  }
  if (run.devices() > kMostDevices) {
    warnings.push_back(
        fmt::format("{} devices lie beyond the calibrated {}", run.devices(), kMostDevices));
  }
  return warnings;
}

}  // namespace

std::string_view name_of(CostSource source) {
  switch (source) {
    case CostSource::kDatasheet:
      return "formula";
    case CostSource::kCalibrated:
      return "calibrated";
    case CostSource::kDefault:
      return "class default";
  }
  return "";
}

CostExplanation explain_costs(const TrainingSetup& setup, const StepConstants& constants) {
  const bool class_known = constants.matrix_factors.contains(setup.framework.timing_class);
  const bool rates_known = constants.architectures.contains(setup.device.architecture) &&
                           !setup.device.architecture.empty();
  Facts facts{.setup = &setup, .constants = &constants, .rates = {}, .timing = {}};
  facts.timing = constants.timing(setup.framework.timing_class);
  facts.rates = kernel_rates(setup, constants, facts.timing);
  CostExplanation explanation;
  explanation.step = step_time(setup, constants);
  const double seconds = explanation.step.seconds;
  explanation.low = seconds * std::exp(-kBandHalfWidth * explanation.step.deviation);
  explanation.high = seconds * std::exp(kBandHalfWidth * explanation.step.deviation);
  for (std::size_t i = 0; i < kStepTermCount; ++i) {
    const auto term = static_cast<StepTerm>(i);
    if (explanation.step[term] < 1e-3 * seconds) {
      continue;
    }
    explanation.terms.push_back({.term = term,
                                 .seconds = explanation.step[term],
                                 .share = explanation.step[term] / seconds,
                                 .formula = formula_of(term),
                                 .inputs = inputs_of(term, facts),
                                 .source = source_of(term, facts, class_known, rates_known)});
  }
  std::ranges::stable_sort(explanation.terms, [](const CostTerm& a, const CostTerm& b) {
    return a.seconds > b.seconds;
  });
  explanation.warnings = warnings_of(setup, class_known, rates_known);
  return explanation;
}

std::string to_json_text(const CostExplanation& explanation) {
  nlohmann::ordered_json json = {{"step_s", explanation.step.seconds},
                                 {"band_s", {explanation.low, explanation.high}},
                                 {"terms", nlohmann::ordered_json::array()},
                                 {"warnings", explanation.warnings}};
  for (const CostTerm& term : explanation.terms) {
    json["terms"].push_back({{"term", name_of(term.term)},
                             {"seconds", term.seconds},
                             {"share", term.share},
                             {"formula", term.formula},
                             {"inputs", term.inputs},
                             {"source", name_of(term.source)}});
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace stagewright
