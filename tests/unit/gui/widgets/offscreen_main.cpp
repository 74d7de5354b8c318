// Runs the tests of widgets without a display (unless QT_QPA_PLATFORM says otherwise), with
// settings of their own.

#include <QtCore/QTemporaryDir>
#include <QtWidgets/QApplication>
#include <gtest/gtest.h>

#include "gui/widgets/theme.h"
#include "gui/widgets/timeline/timeline_accessible.h"

int main(int argc, char** argv) {
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
  }
  const QTemporaryDir folder;
  qputenv("XDG_CONFIG_HOME", folder.path().toLocal8Bit());
  qputenv("XDG_DATA_HOME", folder.path().toLocal8Bit());
  qputenv("XDG_RUNTIME_DIR", folder.path().toLocal8Bit());
  qputenv("LC_ALL", "C.UTF-8");
  testing::InitGoogleTest(&argc, argv);
  QApplication application(argc, argv);
  QCoreApplication::setOrganizationName(QStringLiteral("stagewright-tests"));
  QCoreApplication::setApplicationName(QStringLiteral("gui"));
  stagewright::gui::apply_theme(application, stagewright::gui::Theme::kLight);
  stagewright::gui::install_timeline_accessibility();
  return RUN_ALL_TESTS();
}
