#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "formats/measured_record.h"
#include "sim/cost/step_constants.h"

namespace stagewright {

struct CalibrateOptions {
  std::vector<std::string> without;  ///< datasets to leave out
  int rounds = 25;                   ///< of the least-squares iteration, at most
  /// Where set: the records are a few steps of one cluster, and only what clusters and their
  /// programs differ in moves from here (`cluster_parameters`).
  std::optional<StepConstants> start = {};
};

/// One fitted number.
struct FittedConstant {
  std::string name;  ///< "nic_share", "megatron.matrix_factor", "hopper.matrix"
  double value = 0;
  double prior = 0;
  /// Interval in which the loss grows by less than 2 % with the others held.
  double low = 0;
  double high = 0;
  std::vector<std::string> sources;  ///< datasets that move it, strongest first
};

struct Calibration {
  StepConstants constants;
  std::vector<FittedConstant> fitted;
  std::vector<std::string> sources;  ///< datasets that were used
  int records = 0;
  std::vector<std::string> undetermined;  ///< names that no record moves: they keep their priors
  double loss = 0;                        ///< mean over sources of the mean robust error
};

/// Fits the constants of the step time to measured records: least squares on the logarithm of
/// predicted over measured, each source weighing the same however many records it has, large errors
/// counting linearly (Huber 1964), and each constant held to its prior by its spread (ridge).
/// A class or architecture that no remaining record uses gets the default: the middle of the
/// fitted ones.  Deterministic.  Fails when no record can be used.
[[nodiscard]] Result<Calibration> calibrate(const DataFiles& files,
                                            const std::vector<RecordLine>& records,
                                            const CalibrateOptions& options);

}  // namespace stagewright
