#pragma once

/// Reads whatever a user opens, and makes of it what the views show.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/schedule/schedule.h"
#include "core/trace/timeline.h"
#include "core/trace/trace.h"
#include "gui/models/action_store.h"
#include "gui/models/memory_lanes.h"
#include "gui/models/rank_axes.h"
#include "gui/models/selection_statistics.h"
#include "gui/models/stage_times.h"
#include "sim/analysis/summary.h"
#include "study/plan_inputs.h"

namespace stagewright::gui {

enum class FileKind : std::uint8_t {
  kTrace,      ///< measured or predicted times
  kPlan,       ///< lowered and simulated
  kSchedule,   ///< a lowered schedule
  kTokenList,  ///< an order as other programs write it
};

/// What the content is, by its first kilobytes; nothing where it is none of ours.
[[nodiscard]] std::optional<FileKind> recognise(std::string_view content);

/// An optimizer step, laid out for drawing.
struct ShownStep {
  std::int32_t step = 0;
  ActionStore actions;
  std::vector<MemoryLane> memory;
  SelectionStatistics statistics;  ///< of all of it
};

/// A file's content; never changed once it is open, so that threads may share it.
struct OpenedFile {
  std::string path;
  FileKind kind = FileKind::kTrace;
  std::string title;  ///< one line
  std::optional<PlanInputs> plan;
  std::optional<Schedule> schedule;
  std::optional<Summary> summary;
  Trace trace;
  TimeUnit unit;            ///< for times of this file
  bool unit_costs = false;  ///< times are not seconds: every forward takes one unit
  RankAxes axes;
  ShownStep shown;
  std::vector<StageTime> stages;
  std::vector<RankMemory> devices;  ///< by rank, as far as known
};

struct OpenOptions {
  std::string profiles;              ///< folder over the embedded data; empty: none
  std::optional<std::int32_t> step;  ///< of a trace; absent: the one of median length
  /// Told what goes on now, from the thread that reads.  Returns false to give up.
  std::function<bool(std::string_view)> progress;
};

/// Reads a trace, a plan (which is lowered and simulated), a lowered schedule or an order of other
/// programs (under unit costs: a forward, and each half of a backward, takes one).  Fails naming
/// the file, what is wrong with it and what can be opened; also where it would not fit in memory,
/// and when progress() gave up.
[[nodiscard]] Result<OpenedFile> open_file(const std::string& path, const OpenOptions& options);

/// The same from what a file of that name holds.
[[nodiscard]] Result<OpenedFile> open_content(const std::string& content,
                                              const std::string& path,
                                              const OpenOptions& options);

/// The same from a plan in memory.
[[nodiscard]] Result<OpenedFile> open_plan(const DataFiles& files,
                                           PlanInputs inputs,
                                           const std::string& where,
                                           const OpenOptions& options);

/// The same from what a plan was lowered to, under those prices.  The trace does not name the
/// schedule by its hash; signed_trace() does.
[[nodiscard]] Result<OpenedFile> open_lowered(const CostModel& cost,
                                              PlanInputs inputs,
                                              Schedule schedule,
                                              const std::string& where,
                                              const OpenOptions& options);

/// The trace with the hash of its schedule, as far as that is known.
[[nodiscard]] Trace signed_trace(const OpenedFile& file);

/// Another step of an opened trace.
[[nodiscard]] ShownStep show_step(const OpenedFile& file, std::int32_t step);

}  // namespace stagewright::gui
