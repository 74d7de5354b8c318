#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/cost/step_constants.h"

namespace stagewright {

/// One number that a calibration may move, held to a prior.
struct StepParameter {
  enum class Scope : std::uint8_t {
    kGlobal,
    kClass,
    kArchitecture
  };
  Scope scope = Scope::kGlobal;
  std::string owner;      ///< class or architecture; empty for global ones
  std::size_t index = 0;  ///< StepConstant, or the place in ArchitectureShares
  std::string name;       ///< "nic_share", "megatron.matrix_factor"
  double prior = 1;
  double spread = 0.3;  ///< of the logarithm
};

/// Those that records of these classes and architectures can say something about.
[[nodiscard]] std::vector<StepParameter> step_parameters(
    const std::set<std::string>& classes, const std::set<std::string>& architectures);

/// What a cluster and the programs on it differ in from those of `start`, which are the priors:
/// share of the network, latency, stragglers, exposed and overlapped collectives, host time per
/// kernel, rates of the architecture.
[[nodiscard]] std::vector<StepParameter> cluster_parameters(
    const StepConstants& start, const std::set<std::string>& architectures);

/// What isolated kernels of an architecture reach, from published measurements.
[[nodiscard]] ArchitectureShares isolated_shares(const std::string& architecture);
/// `constants` as they are for an operation alone on its device: isolated shares, no derating by a
/// program.
[[nodiscard]] StepConstants isolated_constants(StepConstants constants);

[[nodiscard]] double& value_of(StepConstants& constants, const StepParameter& parameter);

/// Sets the default class and architecture ("") to the geometric middle of the named ones.
void set_defaults(StepConstants& constants,
                  const std::set<std::string>& classes,
                  const std::set<std::string>& architectures);

}  // namespace stagewright
