#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "sim/cost/learned_kernels.h"

namespace stagewright {

/// What the closed form of the step time knows beyond data sheets, formulas and link files.  Each
/// is a property of hardware in general or of how training programs use it; none belongs to a
/// model, a run or a source.
enum class StepConstant : std::uint8_t {
  kElementwiseShare,  ///< share of memory bandwidth that element-wise kernels reach
  kKernelMicros,      ///< device time added per kernel
  kHostMicros,        ///< host time per kernel
  kSmallTileCost,     ///< a product's time with tiles of half the size, over that with whole ones
  kFloat8Share,       ///< of the bf16 share of peak, tensor-wise scaled fp8
  kBlockScaleShare,   ///< of that, block-scaled formats
  kFloat4Share,       ///< of that, 4-bit
  kFlash1Share,       ///< FlashAttention-1 in training over FlashAttention-2 alone
  kFlash2Share,       ///< FlashAttention-2 in training over itself alone
  kVendorShare,       ///< cuDNN's attention over it
  kBatchedShare,      ///< rate of attention's batched products over that of single ones
  kCollectiveMicros,  ///< added to each collective between kernels: skew and launch
  kNicShare,          ///< share of line rate that collectives reach between nodes
  kNodeMicros,        ///< per node in a ring between nodes: latency and congestion
  kShardedOverlap,    ///< hidden share of the smaller of computation and ZeRO-3 traffic
  kReplicaOverlap,    ///< hidden share of gradient traffic under the last backward
  kOverlapSlowdown,   ///< of computation while communication runs
  kTensorOverlap,     ///< hidden share of tensor-parallel traffic where it is decomposed
  kTransferExposed,   ///< share of stage transfers that tuned pipelines do not hide
  kStraggle,          ///< slower per doubling of the nodes
  kOptimizerBytes,    ///< memory traffic per parameter and step
  kStepMillis,        ///< once per step: data, logging, clipping's synchronisation
  kOwnerMillis,       ///< per owner that sends its parameters out
  kExpertTraffic,     ///< of the routing's memory traffic over a single copy each way
  kExpertExposed,     ///< share of the dispatch's traffic that is not hidden
};
inline constexpr std::size_t kStepConstantCount =
    static_cast<std::size_t>(StepConstant::kExpertExposed) + 1;

/// How a family of programs issues kernels.
struct TimingClass {
  double host_micros = 30;     ///< host time per kernel
  double matrix_factor = 0.9;  ///< rate of products in training over the device's share
};

/// How an architecture's matrix units and attention kernels fare.
struct ArchitectureShares {
  double matrix = 0.75;     ///< large bf16 products over peak
  double attention = 0.45;  ///< FlashAttention-2 on long sequences over peak
  friend bool operator==(const ArchitectureShares&, const ArchitectureShares&) = default;
};

/// Standard deviation of log(measured / predicted) on sources that a calibration has not seen, by
/// what the step spends its time on.
struct StepBand {
  double base = 0.075;
  double host = 0.1;     ///< times the share of waiting for the host
  double traffic = 0.2;  ///< times the share of exposed communication
  double fixed = 1.5;    ///< times the share of what happens once a step
  double experts = 0.3;  ///< times the share of experts
  friend bool operator==(const StepBand&, const StepBand&) = default;
};

struct StepConstants {
  std::array<double, kStepConstantCount> values{};
  StepBand band;
  std::map<std::string, double> matrix_factors;  ///< by class of programs, see TimingClass
  std::map<std::string, ArchitectureShares> architectures;
  /// Learned prices; those that are preferred go before the formula.  In a file of their own.
  std::vector<LearnedKernel> learned;
  friend bool operator==(const StepConstants&, const StepConstants&) = default;

  [[nodiscard]] double operator[](StepConstant constant) const {
    return values[static_cast<std::size_t>(constant)];
  }
  /// The class of that name, else with the factor of "", the middle of the known ones.
  [[nodiscard]] TimingClass timing(const std::string& name) const;
};

/// Name, unit, prior and how far a calibration may move a constant.
struct StepConstantInfo {
  StepConstant constant{};
  std::string_view name;
  std::string_view meaning;
  double prior = 1;
  /// Standard deviation of its logarithm before any measurement of a training run; 0: fixed.
  double spread = 0.3;
};
[[nodiscard]] const std::array<StepConstantInfo, kStepConstantCount>& step_constant_infos();

/// Priors everywhere; what a device or framework without data gets ("" as class and architecture).
[[nodiscard]] StepConstants prior_step_constants();

/// A calibration file (docs/accuracy.md).
[[nodiscard]] Result<StepConstants> parse_step_constants(std::string_view text,
                                                         std::string_view where);
[[nodiscard]] std::string to_json_text(const StepConstants& constants);
/// profiles/calibration/step_time.json, and kernels.json beside it where there is one.
[[nodiscard]] Result<StepConstants> load_step_constants(const DataFiles& files);

}  // namespace stagewright
