#pragma once

#include "gui/models/plan_setup.h"

namespace stagewright::gui {

/// What was planned last, from the settings of the program; as a new form where there is nothing.
[[nodiscard]] PlanSetup stored_setup();
void store_setup(const PlanSetup& setup);

}  // namespace stagewright::gui
