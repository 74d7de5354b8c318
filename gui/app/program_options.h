#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <QtCore/QSize>
#include <QtCore/QString>

#include "gui/models/paint_columns.h"
#include "gui/models/plan_setup.h"
#include "gui/models/scanline.h"
#include "gui/widgets/theme.h"

namespace stagewright::gui {

/// What the command line asked for.
/// So many layers go from one stage to another.
struct LayerMove {
  std::int32_t from = 0;
  std::int32_t to = 0;
  std::int32_t count = 1;
};

struct ProgramOptions {
  std::vector<std::string> files;
  std::optional<LayerMove> move_layers;  ///< a change of the plan
  std::optional<std::string> compare;    ///< a file to set beside the first
  std::optional<PlanSetup> planned;      ///< plans to search
  std::string profiles;
  std::optional<Theme> theme;
  std::optional<QString> screenshot;  ///< draw into this file and end
  std::string view = "window";        ///< of the screenshot: what to draw
  QSize size{1600, 900};
  std::optional<TimeWindow> range;
  std::optional<std::string> group_by;
  std::optional<double> row_height;
  std::optional<std::string> search;
  std::optional<ColourBy> colour_by;
  std::optional<std::int32_t> follow;  ///< a micro-batch
  bool critical_path = false;
  std::vector<std::string> docks;  ///< to show; empty: as usual
};

/// Reads the arguments that Qt has left; `exit_code` is set where the program ends here (help,
/// version, or an error that has been printed).
[[nodiscard]] ProgramOptions read_options(int argc, char** argv, std::optional<int>& exit_code);

}  // namespace stagewright::gui
