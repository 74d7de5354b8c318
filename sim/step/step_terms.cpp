#include <algorithm>
#include <cmath>

#include "sim/step/step_time.h"

namespace stagewright {

std::string_view name_of(StepTerm term) {
  switch (term) {
    case StepTerm::kProducts:
      return "products";
    case StepTerm::kAttention:
      return "attention";
    case StepTerm::kElementwise:
      return "element-wise";
    case StepTerm::kExperts:
      return "experts";
    case StepTerm::kRecompute:
      return "recompute";
    case StepTerm::kVocabulary:
      return "vocabulary";
    case StepTerm::kHost:
      return "host";
    case StepTerm::kTensorTraffic:
      return "tensor traffic";
    case StepTerm::kContextTraffic:
      return "context traffic";
    case StepTerm::kExpertTraffic:
      return "expert traffic";
    case StepTerm::kTransfers:
      return "stage transfers";
    case StepTerm::kBubble:
      return "bubble";
    case StepTerm::kGradientTraffic:
      return "gradient traffic";
    case StepTerm::kOptimizer:
      return "optimizer";
    case StepTerm::kFixed:
      return "fixed";
    case StepTerm::kStragglers:
      return "stragglers";
  }
  return "";
}

double step_deviation(const StepTime& step, const StepBand& band) {
  const auto share = [&](StepTerm term) { return step[term] / step.seconds; };
  const double traffic = share(StepTerm::kTensorTraffic) + share(StepTerm::kContextTraffic) +
                         share(StepTerm::kExpertTraffic) + share(StepTerm::kGradientTraffic);
  return band.base + band.host * share(StepTerm::kHost) + band.traffic * traffic +
         band.fixed * share(StepTerm::kFixed) + band.experts * share(StepTerm::kExperts);
}

double device_deviation(const DeviceType& device, const StepConstants& constants) {
  const auto& known = constants.architectures;
  const auto usual = known.find("");
  if (usual == known.end() ||
      (!device.architecture.empty() && known.contains(device.architecture))) {
    return 0;
  }
  double sum = 0;
  for (const auto& [name, shares] : known) {
    const double distance = std::log(shares.matrix / usual->second.matrix);
    sum += distance * distance;
  }
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, known.size() - 1)));
}

}  // namespace stagewright
