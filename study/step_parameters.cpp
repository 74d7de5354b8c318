#include "study/step_parameters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/base/check.h"

namespace stagewright {
namespace {

/// Of a class's `matrix_factor`: programs differ by how well their kernels are tuned.
constexpr double kFactorSpread = 0.04;

struct ShareInfo {
  std::string_view name;
  double ArchitectureShares::*member;
  double spread;
};
constexpr std::array<ShareInfo, 2> kShares{{{"matrix", &ArchitectureShares::matrix, 0.08},
                                            {"attention", &ArchitectureShares::attention, 0.08}}};

double middle(std::vector<double> values) {
  double sum = 0;
  for (const double value : values) {
    sum += std::log(value);
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

/// The parameters of classes and architectures.
std::vector<StepParameter> owned_parameters(const std::set<std::string>& classes,
                                            const std::set<std::string>& architectures) {
  std::vector<StepParameter> parameters;
  const TimingClass typical;
  for (const std::string& name : classes) {
    parameters.push_back({.scope = StepParameter::Scope::kClass,
                          .owner = name,
                          .name = name + ".matrix_factor",
                          .prior = typical.matrix_factor,
                          .spread = kFactorSpread});
  }
  for (const std::string& name : architectures) {
    const ArchitectureShares shares = isolated_shares(name);
    for (std::size_t i = 0; i < kShares.size(); ++i) {
      parameters.push_back({.scope = StepParameter::Scope::kArchitecture,
                            .owner = name,
                            .index = i,
                            .name = name + "." + std::string(kShares[i].name),
                            .prior = shares.*kShares[i].member,
                            .spread = kShares[i].spread});
    }
  }
  return parameters;
}

struct ClusterSpread {
  StepConstant constant;
  double spread;
};
// How far clusters lie apart: networks by fabric and congestion, the rest by software.
constexpr std::array<ClusterSpread, 8> kClusterSpreads{{{StepConstant::kNicShare, 0.4},
                                                        {StepConstant::kHostMicros, 0.4},
                                                        {StepConstant::kNodeMicros, 0.7},
                                                        {StepConstant::kCollectiveMicros, 0.5},
                                                        {StepConstant::kShardedOverlap, 0.15},
                                                        {StepConstant::kReplicaOverlap, 0.3},
                                                        {StepConstant::kStraggle, 0.8},
                                                        {StepConstant::kStepMillis, 0.7}}};
/// Of an architecture's shares: power limits and libraries.
constexpr double kRateSpread = 0.2;

}  // namespace

// Products: the median over measured shapes, by the same formula
// (EleutherAI/cookbook on A100 and V100, SimuMax on B200); where no shapes were swept, the best
// rate of stas00/ml-engineering over 1.05, what that page's A100 is above the sweep.  Attention:
// FlashAttention-2's published rates.
ArchitectureShares isolated_shares(const std::string& architecture) {
  if (architecture == "volta") {
    return {.matrix = 0.74, .attention = 0.30};
  }
  if (architecture == "ampere") {
    return {.matrix = 0.82, .attention = 0.63};
  }
  if (architecture == "hopper") {
    return {.matrix = 0.765, .attention = 0.345};
  }
  if (architecture == "blackwell") {
    return {.matrix = 0.51, .attention = 0.45};
  }
  if (architecture == "blackwell-ultra") {
    return {.matrix = 0.75, .attention = 0.45};
  }
  if (architecture == "cdna3") {
    return {.matrix = 0.49, .attention = 0.25};
  }
  return {};
}

StepConstants isolated_constants(StepConstants constants) {
  constants.matrix_factors = {{"", 1.0}};
  for (auto& [name, shares] : constants.architectures) {
    shares = isolated_shares(name);
  }
  return constants;
}

std::vector<StepParameter> cluster_parameters(const StepConstants& start,
                                              const std::set<std::string>& architectures) {
  std::vector<StepParameter> parameters;
  for (const ClusterSpread& own : kClusterSpreads) {
    const auto& info = step_constant_infos()[static_cast<std::size_t>(own.constant)];
    parameters.push_back({.scope = StepParameter::Scope::kGlobal,
                          .index = static_cast<std::size_t>(own.constant),
                          .name = std::string(info.name),
                          .prior = start[own.constant],
                          .spread = own.spread});
  }
  StepConstants values = start;
  // A class's rate and its architecture's are one product: the architecture's moves.
  for (StepParameter& parameter : owned_parameters({}, architectures)) {
    parameter.spread = kRateSpread;
    parameter.prior = value_of(values, parameter);
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::vector<StepParameter> step_parameters(const std::set<std::string>& classes,
                                           const std::set<std::string>& architectures) {
  std::vector<StepParameter> parameters;
  for (const StepConstantInfo& info : step_constant_infos()) {
    if (info.spread > 0) {
      parameters.push_back({.scope = StepParameter::Scope::kGlobal,
                            .index = static_cast<std::size_t>(info.constant),
                            .name = std::string(info.name),
                            .prior = info.prior,
                            .spread = info.spread});
    }
  }
  std::ranges::move(owned_parameters(classes, architectures), std::back_inserter(parameters));
  return parameters;
}

double& value_of(StepConstants& constants, const StepParameter& parameter) {
  switch (parameter.scope) {
    case StepParameter::Scope::kGlobal:
      return constants.values.at(parameter.index);
    case StepParameter::Scope::kClass:
      return constants.matrix_factors[parameter.owner];
    case StepParameter::Scope::kArchitecture:
      return constants.architectures[parameter.owner].*kShares.at(parameter.index).member;
  }
  SW_CHECK(false, "a listed scope");
}

void set_defaults(StepConstants& constants,
                  const std::set<std::string>& classes,
                  const std::set<std::string>& architectures) {
  if (!classes.empty()) {
    std::vector<double> factors;
    for (const std::string& name : classes) {
      factors.push_back(constants.matrix_factors[name]);
    }
    constants.matrix_factors[""] = middle(factors);
  }
  for (const char* name : {"volta", "ampere", "hopper", "blackwell", "blackwell-ultra", "cdna3"}) {
    if (!architectures.contains(name)) {
      // What training keeps of an isolated kernel's rate elsewhere.
      ArchitectureShares shares = isolated_shares(name);
      std::vector<double> kept{1};
      for (const std::string& fitted : architectures) {
        kept.push_back(constants.architectures[fitted].matrix / isolated_shares(fitted).matrix);
      }
      shares.matrix *= middle(kept);
      constants.architectures[name] = shares;
    }
  }
}

}  // namespace stagewright
