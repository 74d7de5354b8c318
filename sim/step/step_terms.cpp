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

}  // namespace stagewright
