#include "gui/app/save_dialog.h"

#include <algorithm>

#include <QtCore/QCoreApplication>
#include <QtCore/QFileInfo>
#include <QtCore/QSettings>
#include <QtWidgets/QFileDialog>
#include <QtWidgets/QMessageBox>

#include "gui/models/saved_name.h"

namespace stagewright::gui {
namespace {

QString text(const char* source) {
  return QCoreApplication::translate("stagewright::gui::SaveDialog", source);
}

bool may_replace(QWidget* parent, const QString& path) {
  if (!QFileInfo::exists(path)) {
    return true;
  }
  QMessageBox box(QMessageBox::Warning,
                  text(QT_TRANSLATE_NOOP("stagewright::gui::SaveDialog", "Replace the file?")),
                  text(QT_TRANSLATE_NOOP("stagewright::gui::SaveDialog",
                                         "%1 exists already. What is in it will be lost."))
                      .arg(path),
                  QMessageBox::Yes | QMessageBox::No,
                  parent);
  box.setObjectName(QStringLiteral("ask_to_replace"));
  box.setDefaultButton(QMessageBox::No);
  return box.exec() == QMessageBox::Yes;
}

}  // namespace

std::optional<SavePlace> ask_where_to_save(QWidget* parent,
                                           const QString& title,
                                           const QString& name,
                                           const QList<SavedKind>& kinds) {
  QSettings settings;
  QFileDialog dialog(parent, title, settings.value(QStringLiteral("folder")).toString());
  dialog.setAcceptMode(QFileDialog::AcceptSave);
  dialog.setFileMode(QFileDialog::AnyFile);
  // It would ask about what was typed, before the suffix is there.
  dialog.setOption(QFileDialog::DontConfirmOverwrite);
  QStringList filters;
  for (const SavedKind& kind : kinds) {
    filters.push_back(QStringLiteral("%1 (*%2)").arg(kind.name, kind.suffix));
  }
  dialog.setNameFilters(filters);
  if (!name.isEmpty()) {
    dialog.selectFile(name);
  }
  while (dialog.exec() == QDialog::Accepted && !dialog.selectedFiles().isEmpty()) {
    const qsizetype kind =
        std::max<qsizetype>(0, dialog.nameFilters().indexOf(dialog.selectedNameFilter()));
    const QString path = with_suffix(dialog.selectedFiles().front(), kinds[kind].suffix);
    if (may_replace(parent, path)) {
      settings.setValue(QStringLiteral("folder"), QFileInfo(path).absolutePath());
      return SavePlace{path, kind};
    }
  }
  return std::nullopt;
}

}  // namespace stagewright::gui
