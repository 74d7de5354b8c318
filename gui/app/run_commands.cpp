#include "gui/app/run_commands.h"

#include <QtWidgets/QDockWidget>

#include "gui/app/layout_commands.h"
#include "gui/app/main_window.h"
#include "gui/widgets/run_panel.h"

namespace stagewright::gui {

RunCommands::RunCommands(MainWindow* window)
    : QObject(window), panel_(new RunPanel(window->document(), window)) {
  QDockWidget* const dock =
      window->add_dock(QStringLiteral("dock_run"), tr("Run"), panel_, Qt::RightDockWidgetArea);
  dock->hide();
  CommandSet& commands = window->commands();
  commands.add({QStringLiteral("run"),
                tr("&Run the plan on this machine"),
                {QKeySequence(QStringLiteral("F5"))},
                [this, dock] {
                  dock->show();
                  dock->raise();
                  panel_->start();
                }});
  commands.add({QStringLiteral("stop_run"),
                tr("&Stop the run"),
                {QKeySequence(QStringLiteral("Shift+F5"))},
                [this] { panel_->stop(); }});
  connect(panel_, &RunPanel::open_asked, window, &MainWindow::open);
  connect(panel_->process(), &RunProcess::finished, window, [this, window] {
    window->remember(panel_->process()->trace_path());
  });
  connect(panel_, &RunPanel::compare_asked, window, [window](const QString& path) {
    window->document()->compare_with(path);
    window->layouts()->show(QStringLiteral("layout_compare"));
  });
}

QStringList RunCommands::ids() {
  return {QStringLiteral("run"), QStringLiteral("stop_run")};
}

}  // namespace stagewright::gui
