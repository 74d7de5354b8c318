#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "sim/analysis/step_work.h"

namespace stagewright {

/// A stretch of the critical path.
struct PathSegment {
  WorkPiece piece;
  bool waits = false;  ///< it had not begun, although all that it needed was there
  Duration begin{};    ///< the path enters the piece ...
  Duration end{};      ///< ... and goes on to what waited for it
  friend bool operator==(const PathSegment&, const PathSegment&) = default;
};

/// How much longer an action could take without making the step longer.
struct ActionSlack {
  std::int32_t rank = 0;  ///< into StepWork::ranks
  std::int32_t action = 0;
  Duration slack{};
  friend bool operator==(const ActionSlack&, const ActionSlack&) = default;
};

/// What the length of a step consists of.
struct PathSums {
  Duration length{};  ///< the step
  std::array<Duration, kWorkKindCount> by_kind{};
  Duration late{};                       ///< waits for what had not begun, although it could
  Duration tail{};                       ///< communication after the last work
  std::map<StageId, Duration> by_stage;  ///< of by_kind, what each stage computes
  friend bool operator==(const PathSums&, const PathSums&) = default;
};

/// The chain of work that decides how long a step takes: shorten any of it and the step is shorter,
/// unless another chain is as long.
struct CriticalPath : PathSums {
  std::vector<PathSegment> segments;  ///< in order, without gaps from zero to `length` - `tail`
  std::vector<ActionSlack> slack;     ///< of what occupies a rank, in list order
  friend bool operator==(const CriticalPath&, const CriticalPath&) = default;
};
/// Where several chains are as long, the one that waits for its own rank rather than for others.
[[nodiscard]] CriticalPath critical_path(const StepWork& work);

}  // namespace stagewright
