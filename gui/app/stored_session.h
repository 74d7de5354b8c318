#pragma once

#include <QtCore/QString>

namespace stagewright::gui {

class MainWindow;

/// Writes what is open and how it is looked at (comparison, stretch of time, rows, colours) into
/// the settings of the program.
void store_session(MainWindow& window);

/// Opens what store_session() wrote, as far as it still exists, and looks at it in that way.
void open_stored_session(MainWindow& window);

}  // namespace stagewright::gui
