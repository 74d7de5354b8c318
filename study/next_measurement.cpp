#include "study/next_measurement.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/step/step_time.h"
#include "study/statistics.h"

namespace stagewright {
namespace {

std::string link_command(const LinkSpec& link) {
  return fmt::format(
      "nccl-tests all_reduce_perf over {}, then stagewright calibrate-link LOG "
      "--bandwidth \"{}\"",
      link.name,
      to_string(link.bandwidth));
}

std::string kernels_command(const DeviceType& device) {
  if (device.architecture.empty()) {
    return "stagewright profile --model M --ranks N --out PROFILE, then --profile PROFILE";
  }
  return fmt::format(
      "time products of the model's sizes on {}, then stagewright calibrate-kernels "
      "FILE.jsonl --out DIR and --profiles DIR",
      device.name);
}

}  // namespace

Result<std::vector<NextMeasurement>> next_measurements(const TrainingSetup& setup,
                                                       const StepConstants& constants) {
  if (auto able = can_price(setup); !able) {
    return pass_on(std::move(able));
  }
  const StepTime step = step_time(setup, constants);
  const StepBand& band = constants.band;
  const auto share = [&](StepTerm term) { return step[term] / step.seconds; };
  const bool one_node = setup.run.devices() <= setup.domain;
  const double inside = share(StepTerm::kTensorTraffic) + share(StepTerm::kContextTraffic) +
                        share(StepTerm::kExpertTraffic) +
                        (one_node ? share(StepTerm::kGradientTraffic) : 0);
  const double between = one_node ? 0 : share(StepTerm::kGradientTraffic);
  constexpr const char* kOwnSteps =
      "log a few steps of a similar run, then stagewright calibrate --own STEPS.jsonl --out DIR "
      "and "
      "--profiles DIR";
  std::vector<NextMeasurement> all;
  const auto add = [&](std::string what, double deviation, std::string command) {
    if (deviation > 0) {
      all.push_back({.what = std::move(what),
                     .half_width = kBandHalfWidth * deviation,
                     .share = deviation / step.deviation,
                     .command = std::move(command)});
    }
  };
  add("rates of products and attention", band.base, kernels_command(setup.device));
  add("how fast the host issues kernels", band.host * share(StepTerm::kHost), kOwnSteps);
  add("traffic inside a node", band.traffic * inside, link_command(setup.intra_node));
  add("traffic between nodes", band.traffic * between, link_command(setup.inter_node));
  add("what happens once a step", band.fixed * share(StepTerm::kFixed), kOwnSteps);
  add("routing and experts", band.experts * share(StepTerm::kExperts), kOwnSteps);
  std::ranges::stable_sort(all, [](const NextMeasurement& a, const NextMeasurement& b) {
    return a.half_width > b.half_width;
  });
  return all;
}

}  // namespace stagewright
