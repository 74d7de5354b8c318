// Opening, remembering and saving files.

#include <string>
#include <vector>

#include <QtCore/QFileInfo>
#include <QtCore/QSettings>
#include <QtWidgets/QFileDialog>
#include <QtWidgets/QMenu>
#include <QtWidgets/QStatusBar>

#include "gui/app/edit_commands.h"
#include "gui/app/keys_dialog.h"
#include "gui/app/main_window.h"
#include "gui/app/save_dialog.h"
#include "gui/models/exporters.h"
#include "gui/models/run_folder.h"
#include "gui/widgets/message_bar.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace stagewright::gui {
namespace {

constexpr qsizetype kMostRecent = 8;
const char* const kExample = ":/examples/llama3-70b-128xh100.plan.json";

}  // namespace

void MainWindow::open(const QString& path) {
  if (edit_->may_leave()) {
    document_.open(path);
  }
}

void MainWindow::choose_file() {
  const QString path = QFileDialog::getOpenFileName(
      this,
      tr("Open"),
      QSettings().value(QStringLiteral("folder")).toString(),
      tr("Plans, schedules and traces (*.json *.swtrace *.csv);;All files (*)"));
  if (!path.isEmpty()) {
    QSettings().setValue(QStringLiteral("folder"), QFileInfo(path).absolutePath());
    open(path);
  }
}

void MainWindow::choose_comparison() {
  if (document_.file() == nullptr) {
    return;
  }
  const QString path = QFileDialog::getOpenFileName(
      this,
      tr("Compare with"),
      QSettings().value(QStringLiteral("folder")).toString(),
      tr("Plans, schedules and traces (*.json *.swtrace *.csv);;All files (*)"));
  if (!path.isEmpty()) {
    document_.compare_with(path);
  }
}

void MainWindow::toggle_comparison() {
  if (document_.comparison()) {
    document_.stop_comparing();
  } else {
    choose_comparison();
  }
}

void MainWindow::open_example() {
  open(QString::fromLatin1(kExample));
}

QStringList MainWindow::recent() const {
  QStringList paths = QSettings().value(QStringLiteral("recent")).toStringList();
  paths.removeIf([runs = runs_folder()](const QString& path) {
    return path.startsWith(runs) && !QFileInfo::exists(path);
  });
  return paths;
}

void MainWindow::remember(const QString& path) {
  if (path.startsWith(QLatin1Char(':')) || !QFileInfo::exists(path)) {
    return;
  }
  const QString absolute = QFileInfo(path).absoluteFilePath();
  QStringList paths = recent();
  paths.removeAll(absolute);
  paths.prepend(absolute);
  QSettings().setValue(QStringLiteral("recent"), paths.mid(0, kMostRecent));
}

void MainWindow::fill_recent_menu() {
  recent_menu_->clear();
  for (const QString& path : recent()) {
    recent_menu_->addAction(QFileInfo(path).fileName(), this, [this, path] { open(path); })
        ->setToolTip(path);
  }
  if (recent_menu_->isEmpty()) {
    recent_menu_->addAction(tr("Nothing yet"))->setEnabled(false);
  }
}

void MainWindow::save_picture() {
  const auto place = ask_where_to_save(
      this, tr("Save the timeline as a picture"), {}, {{tr("Pictures"), QStringLiteral(".png")}});
  if (!place) {
    return;
  }
  if (timeline_->grab().save(place->path)) {
    note_written(place->path);
  } else {
    message_->show_error(tr("%1 could not be written; choose another folder.").arg(place->path));
  }
}

void MainWindow::export_file() {
  const OpenedFile* const file = document_.file();
  if (file == nullptr) {
    return;
  }
  std::vector<Exporter> applying;
  QList<SavedKind> kinds;
  for (const Exporter& exporter : exporters()) {
    if (exporter.applies(*file)) {
      applying.push_back(exporter);
      kinds.push_back({tr(exporter.name), QString::fromLatin1(exporter.suffix)});
    }
  }
  if (const auto place = ask_where_to_save(this, tr("Export"), {}, kinds)) {
    export_to(place->path, applying[static_cast<std::size_t>(place->kind)]);
  }
}

void MainWindow::note_written(const QString& path) {
  constexpr int kNoteMilliseconds = 5000;
  statusBar()->showMessage(tr("%1 is written").arg(path), kNoteMilliseconds);
}

void MainWindow::export_to(const QString& path, const Exporter& exporter) {
  statusBar()->showMessage(tr("Writing %1").arg(path));
  exports_.start(document_.shared_file(), document_.step(), exporter, path);
}

void MainWindow::show_keys() {
  KeysDialog(&commands_, this).exec();
}

}  // namespace stagewright::gui
