#pragma once

/// Where runs are kept: folders in the user's data folder, the newest ones, so that the trace of a
/// run is there after the program has ended.

#include <QtCore/QString>

namespace stagewright::gui {

inline constexpr int kKeptRuns = 20;

/// "~/.local/share/stagewright/stagewright-gui/runs".
[[nodiscard]] QString runs_folder();

/// Makes a folder for a run that begins now, and removes the oldest ones beyond kKeptRuns, but no
/// folder that was renamed or linked.  Empty where none can be made.
[[nodiscard]] QString make_run_folder();

/// The file that a run of that plan leaves in its folder: named after the plan, to be told from
/// others in a list.
[[nodiscard]] QString run_trace_name(const QString& plan_path);

}  // namespace stagewright::gui
