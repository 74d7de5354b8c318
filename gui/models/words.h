#pragma once

/// Words of the field as people read them, in their language.  Files and searches keep the names
/// of the core.

#include <QtCore/QString>

#include "core/schedule/action.h"
#include "core/schedule/tensor.h"
#include "gui/models/action_store.h"
#include "gui/models/opened_file.h"
#include "sim/analysis/bubble_causes.h"

namespace stagewright::gui {

[[nodiscard]] QString word_for(ActionKind kind);
[[nodiscard]] QString word_for(BubbleCause cause);
[[nodiscard]] QString word_for(TensorClass tensor_class);
[[nodiscard]] QString word_for(FileKind kind);
/// What driver and libraries take of a device's memory.
[[nodiscard]] QString word_for_context();

/// "rank 3 stage 1: forward of micro-batch 12, 10.2 ms to 12.4 ms (2.2 ms)".
[[nodiscard]] QString describe(const ActionStore& store, ActionIndex action);

}  // namespace stagewright::gui
