#pragma once

#include <cstdint>
#include <optional>

#include "core/base/mean_time.h"
#include "core/base/result.h"
#include "core/base/units.h"

namespace stagewright {

/// A long run that fails now and then and goes on from its last checkpoint.
struct FailureModel {
  MeanTime mtbf{};             ///< mean time between failures of the whole job; exponential
  Duration checkpoint_time{};  ///< that a checkpoint holds training up
  Duration restart_time{};     ///< from a failure until training goes on
  Duration step_time{};        ///< checkpoints are taken behind whole steps
  /// Steps from checkpoint to checkpoint; absent: as many as is best.
  std::optional<std::int64_t> interval_steps{};
  /// A failed node is replaced by a spare one; without any left, the run waits for a repair.
  std::int32_t spare_nodes = 0;
  Duration
      repair_time{};  ///< until a failed node is a spare one; none: nobody ever waits for nodes
  friend bool operator==(const FailureModel&, const FailureModel&) = default;
};

/// Where the time of a long run goes, as shares of it.
struct Goodput {
  std::int64_t interval_steps = 0;
  Duration interval{};    ///< of useful work between checkpoints
  double useful = 0;      ///< training steps that count: the goodput
  double checkpoint = 0;  ///< writing checkpoints that succeed
  double lost = 0;        ///< work done again, with the checkpoints and restarts that failed
  double restart = 0;     ///< restarts that succeed
  double no_spare = 0;    ///< waiting for a node
  double failures_per_day = 0;
  friend bool operator==(const Goodput&, const Goodput&) = default;
};

/// Daly's optimum (2006, equation 37), a correction of Young's sqrt(2 C M) (1974):
///   sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + (C / 2M) / 9) - C   where C < 2 M, else M
/// with C the checkpoint time and M the mean time between failures.
[[nodiscard]] Duration daly_interval(Duration checkpoint_time, MeanTime mtbf);

/// Young's first-order optimum, sqrt(2 C M).
[[nodiscard]] Duration young_interval(Duration checkpoint_time, MeanTime mtbf);

/// Expected shares of a run without end.  A stretch of work t with its checkpoint C takes
/// M e^(R/M) (e^((t + C)/M) - 1) in expectation (Daly 2006, equation 20; restarts may fail, too).
/// Waiting for nodes: with failures at rate 1/M and S spare nodes, S + 1 nodes may be in repair at
/// once, and the run stands still while all of them are: Erlang's loss formula (1917) with offered
/// load repair time / M, for any distribution of the repair time.
/// Fails with kInvalidInput on a time that is not above zero where it has to be, and with
/// kInfeasible when the run never gets on (interval and checkpoint beyond 700 mean times).
[[nodiscard]] Result<Goodput> expected_goodput(const FailureModel& model);

/// The same by simulating such a run until `failures` of them have happened, repairs of one fixed
/// length; for a given seed the same everywhere.  Fails as expected_goodput.
[[nodiscard]] Result<Goodput> simulated_goodput(const FailureModel& model,
                                                std::int64_t failures,
                                                std::uint64_t seed);

}  // namespace stagewright
