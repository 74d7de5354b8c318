#pragma once

#include <cstdint>
#include <deque>
#include <iosfwd>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/base/units.h"
#include "runtime/trainer/trainer.h"
#include "sim/analysis/summary.h"

namespace stagewright {

/// A run that goes on: its last step, beside what was predicted of it, and how long it will take.
class RunHealth {
 public:
  /// `memory`: most that a rank's tensors take.  Without a prediction some figures are unknown.
  RunHealth(std::optional<Summary> predicted, Bytes memory);

  void add(const StepProgress& progress);

  /// The last step as a JSON line.
  [[nodiscard]] std::string metrics_line() const;
  /// The same in a line for a terminal.
  [[nodiscard]] std::string progress_text() const;

 private:
  [[nodiscard]] double tokens_per_s() const;
  /// Model FLOPs over the devices' peak, as the prediction counts both.
  [[nodiscard]] std::optional<double> mfu() const;
  /// Of the steps to come, at the mean pace of the last ones.
  [[nodiscard]] Duration time_left() const;

  std::optional<Summary> predicted_;
  Bytes memory_;
  StepProgress last_;
  std::deque<Duration> recent_;  ///< times of the last steps
};

/// Where metrics go: at once to standard output, or into a file that is whole at any time and at
/// most a second behind.
class MetricsOutput {
 public:
  /// `path`: "-" for `out`; empty: nowhere.
  MetricsOutput(std::string path, std::ostream& out);

  void add(const std::string& line);
  /// Writes what is not yet written.  Gives the first error of any write.
  [[nodiscard]] Result<void> finish();

 private:
  void write();

  std::string path_;
  std::ostream& out_;
  std::string lines_;
  std::optional<std::int64_t> written_ms_;  ///< when; on a clock that only goes forward
  Result<void> result_;
};

}  // namespace stagewright
