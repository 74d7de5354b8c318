#include "study/step_parameters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/base/check.h"

namespace stagewright {
namespace {

struct MemberInfo {
  std::string_view name;
  double TimingClass::*member;
  double spread;
};
// Host time differs by language and processor; the rest by how well kernels are tuned.
constexpr std::array<MemberInfo, 2> kTiming{{{"host_micros", &TimingClass::host_micros, 0.4},
                                             {"matrix_factor", &TimingClass::matrix_factor, 0.04}}};

struct ShareInfo {
  std::string_view name;
  double ArchitectureShares::*member;
  double spread;
};
constexpr std::array<ShareInfo, 2> kShares{{{"matrix", &ArchitectureShares::matrix, 0.08},
                                            {"attention", &ArchitectureShares::attention, 0.08}}};

/// What isolated kernels reach: measured products (EleutherAI/cookbook on A100 and V100, SimuMax on
/// B200, the best shapes of stas00/ml-engineering) and FlashAttention-2's published rates.
ArchitectureShares isolated_shares(const std::string& architecture) {
  if (architecture == "volta") {
    return {.matrix = 0.70, .attention = 0.30};
  }
  if (architecture == "ampere") {
    return {.matrix = 0.86, .attention = 0.63};
  }
  if (architecture == "hopper") {
    return {.matrix = 0.78, .attention = 0.345};
  }
  if (architecture == "blackwell") {
    return {.matrix = 0.64, .attention = 0.45};
  }
  if (architecture == "blackwell-ultra") {
    return {.matrix = 0.74, .attention = 0.45};
  }
  if (architecture == "cdna3") {
    return {.matrix = 0.50, .attention = 0.25};
  }
  return {};
}

double middle(std::vector<double> values) {
  double sum = 0;
  for (const double value : values) {
    sum += std::log(value);
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace

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
  const TimingClass typical;
  for (const std::string& name : classes) {
    for (std::size_t i = 0; i < kTiming.size(); ++i) {
      parameters.push_back({.scope = StepParameter::Scope::kClass,
                            .owner = name,
                            .index = i,
                            .name = name + "." + std::string(kTiming[i].name),
                            .prior = typical.*kTiming[i].member,
                            .spread = kTiming[i].spread});
    }
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

double& value_of(StepConstants& constants, const StepParameter& parameter) {
  switch (parameter.scope) {
    case StepParameter::Scope::kGlobal:
      return constants.values.at(parameter.index);
    case StepParameter::Scope::kClass:
      return constants.classes[parameter.owner].*kTiming.at(parameter.index).member;
    case StepParameter::Scope::kArchitecture:
      return constants.architectures[parameter.owner].*kShares.at(parameter.index).member;
  }
  SW_CHECK(false, "a listed scope");
}

void set_defaults(StepConstants& constants,
                  const std::set<std::string>& classes,
                  const std::set<std::string>& architectures) {
  if (!classes.empty()) {
    TimingClass& fallback = constants.classes[""];
    for (const MemberInfo& info : kTiming) {
      std::vector<double> values;
      for (const std::string& name : classes) {
        values.push_back(constants.classes[name].*info.member);
      }
      fallback.*info.member = middle(values);
    }
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
