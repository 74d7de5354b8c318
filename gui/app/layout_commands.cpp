#include "gui/app/layout_commands.h"

#include <algorithm>
#include <array>

#include <QtCore/QSettings>
#include <QtWidgets/QDockWidget>
#include <QtWidgets/QInputDialog>
#include <QtWidgets/QMenu>

#include "gui/app/explore_commands.h"
#include "gui/app/main_window.h"

namespace stagewright::gui {
namespace {

struct Layout {
  const char* id;
  const char* text;
  const char* docks;  ///< divided by blanks
};

constexpr std::array kLayouts{
    Layout{"layout_explore",
           QT_TRANSLATE_NOOP("stagewright::gui::LayoutCommands", "Layout: &explore plans"),
           "dock_setup dock_memory dock_candidates dock_pareto"},
    Layout{"layout_analyse",
           QT_TRANSLATE_NOOP("stagewright::gui::LayoutCommands", "Layout: &analyse a step"),
           "dock_memory dock_statistics dock_causes"},
    Layout{"layout_change",
           QT_TRANSLATE_NOOP("stagewright::gui::LayoutCommands", "Layout: &change a plan"),
           "dock_plan dock_stages dock_memory dock_causes"},
    Layout{"layout_compare",
           QT_TRANSLATE_NOOP("stagewright::gui::LayoutCommands", "Layout: c&ompare"),
           "dock_compare dock_memory"},
    Layout{"layout_run",
           QT_TRANSLATE_NOOP("stagewright::gui::LayoutCommands", "Layout: &run"),
           "dock_plan dock_run dock_memory"},
};

QString layout_key(const QString& name) {
  return QStringLiteral("layouts/") + name;
}

}  // namespace

LayoutCommands::LayoutCommands(MainWindow* window) : QObject(window), window_(window) {
  for (const Layout& layout : kLayouts) {
    const QString id = QString::fromLatin1(layout.id);
    window_->commands().add({id, tr(layout.text), {}, [this, id] { show(id); }});
  }
  window_->commands().add(
      {QStringLiteral("save_layout"), tr("&Save this layout..."), {}, [this] { ask_and_save(); }});
}

QStringList LayoutCommands::ids() {
  QStringList ids;
  for (const Layout& layout : kLayouts) {
    ids.push_back(QString::fromLatin1(layout.id));
  }
  return ids << QStringLiteral("-") << QStringLiteral("save_layout");
}

void LayoutCommands::show(const QString& id) {
  const auto layout = std::ranges::find_if(
      kLayouts, [&](const Layout& each) { return id == QLatin1String(each.id); });
  const QStringList docks = QString::fromLatin1(layout->docks).split(QLatin1Char(' '));
  for (QDockWidget* const dock : window_->findChildren<QDockWidget*>()) {
    const bool filled = window_->document()->file() != nullptr || window_->explore()->owns(dock);
    dock->setVisible(filled && docks.contains(dock->objectName()));
  }
  if (docks.contains(QStringLiteral("dock_candidates"))) {
    // Plans below memory, both as wide as the timeline; the plot beside the plans.
    const auto dock = [&](const char* name) {
      return window_->findChild<QDockWidget*>(QString::fromLatin1(name));
    };
    window_->splitDockWidget(dock("dock_memory"), dock("dock_candidates"), Qt::Vertical);
    window_->splitDockWidget(dock("dock_candidates"), dock("dock_pareto"), Qt::Horizontal);
    const int across = window_->width();
    const int down = window_->height();
    window_->resizeDocks({dock("dock_setup")}, {across / 4}, Qt::Horizontal);
    window_->resizeDocks(
        {dock("dock_memory"), dock("dock_candidates")}, {down / 6, down / 3}, Qt::Vertical);
    window_->resizeDocks({dock("dock_candidates"), dock("dock_pareto")},
                         {across * 45 / 100, across * 30 / 100},
                         Qt::Horizontal);
  }
}

QStringList LayoutCommands::saved() {
  QSettings settings;
  settings.beginGroup(QStringLiteral("layouts"));
  return settings.childKeys();
}

void LayoutCommands::save(const QString& name) {
  QSettings().setValue(layout_key(name), window_->saveState());
}

void LayoutCommands::restore(const QString& name) {
  const QByteArray state = QSettings().value(layout_key(name)).toByteArray();
  if (!state.isEmpty()) {
    window_->restoreState(state);
  }
}

void LayoutCommands::forget(const QString& name) {
  QSettings().remove(layout_key(name));
}

void LayoutCommands::ask_and_save() {
  QString name = QInputDialog::getText(window_, tr("Save this layout"), tr("Name:"));
  name.remove(QLatin1Char('/'));
  if (!name.trimmed().isEmpty()) {
    save(name.trimmed());
  }
}

void LayoutCommands::fill_menu(QMenu* menu) {
  menu->clear();
  for (const QString& name : saved()) {
    menu->addAction(name, this, [this, name] { restore(name); });
  }
  if (menu->isEmpty()) {
    menu->addAction(tr("Nothing yet"))->setEnabled(false);
    return;
  }
  QMenu* const forget_menu = menu->addMenu(tr("&Forget"));
  for (const QString& name : saved()) {
    forget_menu->addAction(name, this, [this, name] { forget(name); });
  }
}

}  // namespace stagewright::gui
