#pragma once

namespace stagewright::gui {

/// Teaches Qt to describe a TimelineView to screen readers: a chart whose value is the selected
/// action and whose children are the visible rows (not the actions, of which there are millions).
/// Call it once, before the first window.
void install_timeline_accessibility();

}  // namespace stagewright::gui
