#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "sim/engine/event_engine.h"
#include "sim/engine/perturbation.h"

namespace CLI {
class App;
}  // namespace CLI

namespace stagewright {

/// The options of the event engine, as they were typed.
struct EventCommand {
  std::string engine;  ///< "static", "event", or as the other options ask for
  bool shared_ports = false;
  std::vector<std::string> stragglers;  ///< "RANK=FACTOR"
  std::string action_overhead;          ///< "5us"; for a bare schedule a number
  std::string compute_slowdown;         ///< a number, or "calibrated"; empty: 1
  std::string jitter;                   ///< "5%" or "0.05"
  std::int32_t samples = 1000;
  std::int64_t seed = 1;
  std::int32_t threads = 0;

  /// The first one that asks for the engine; empty if none does.
  [[nodiscard]] std::string_view asked_by() const;
};
void add_event_options(CLI::App& command, EventCommand& options);
/// Fails with kInvalidInput where the static pass is asked for together with `more`, or with an
/// option that only the event engine knows.  `more`: another such option that was given, or empty.
[[nodiscard]] Result<void> check_engine(const EventCommand& options, std::string_view more);

/// The same in the simulator's terms.
struct EventRun {
  Perturbation steady;           ///< without jitter
  std::optional<double> jitter;  ///< absent: one step
  EventOptions event;
};
/// `unit_seconds`: what a number of an overhead counts, for bare schedules; absent: it is a
/// duration.  `calibrated_slowdown`: of the calibration file.
/// Fails with kInvalidInput, naming the option and its value.
[[nodiscard]] Result<EventRun> read_event_options(const EventCommand& options,
                                                  std::int32_t ranks,
                                                  std::optional<double> unit_seconds,
                                                  double calibrated_slowdown);

}  // namespace stagewright
