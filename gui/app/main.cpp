#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include <QtCore/QLocale>
#include <QtCore/QSettings>
#include <QtGui/QAction>
#include <QtGui/QIcon>
#include <QtWidgets/QApplication>

#include "core/base/version.h"
#include "gui/app/explore_commands.h"
#include "gui/app/main_window.h"
#include "gui/app/screenshot.h"
#include "gui/app/stored_session.h"
#include "gui/app/translations.h"
#include "gui/widgets/explore/setup_panel.h"
#include "gui/widgets/timeline/timeline_accessible.h"

namespace {

using namespace stagewright;
using namespace stagewright::gui;

/// Whether no window will be shown: has to be known before Qt looks for a display.
bool needs_no_display(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--screenshot") || argument == "--help" || argument == "-h" ||
        argument == "--version") {
      return true;
    }
  }
  return false;
}

/// Whether there is something to show a window on.  Qt ends the program where there is not, before
/// it could say what is wrong with its options.
bool has_display([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
#ifdef Q_OS_LINUX
  const bool chosen = std::any_of(argv + 1, argv + argc, [](const char* argument) {
    return std::string_view(argument).find("-platform") < 2;  // with one dash or two
  });
  return chosen || !qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM") ||
         !qEnvironmentVariableIsEmpty("DISPLAY") || !qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
#else
  return true;
#endif
}

Theme stored_theme() {
  const QString name = QSettings().value(QStringLiteral("theme")).toString();
  return theme_named(name).value_or(Theme::kSystem);
}

void start_search(const PlanSetup& setup, MainWindow& window) {
  window.commands().find(QStringLiteral("explore"))->trigger();
  window.explore()->setup()->set_setup(setup);
  window.explore()->setup()->search_or_stop();
}

/// The files of the command line, else what was open when the program was last closed.
void open_first_file(const ProgramOptions& options, MainWindow& window) {
  if (options.planned) {
    start_search(*options.planned, window);
    return;
  }
  if (!options.files.empty()) {
    window.open(QString::fromStdString(options.files.front()));
    if (options.compare) {
      QObject::connect(
          window.document(),
          &Document::idle,
          &window,
          [&window, path = *options.compare] {
            if (window.document()->file() != nullptr) {
              window.document()->compare_with(QString::fromStdString(path));
            }
          },
          Qt::SingleShotConnection);
    }
    return;
  }
  open_stored_session(window);
}

/// What open_first_file() would open of the command line, for people; empty: nothing.
QString asked_for(const ProgramOptions& options) {
  if (options.planned) {
    return QStringLiteral("--model %1").arg(QString::fromStdString(options.planned->model));
  }
  QStringList asked;
  if (!options.files.empty()) {
    asked << QString::fromStdString(options.files.front());
  }
  if (options.compare) {
    asked << QStringLiteral("--compare %1").arg(QString::fromStdString(*options.compare));
  }
  return asked.join(QLatin1Char(' '));
}

int run_screenshot(const ProgramOptions& options, MainWindow& window) {
  const auto taken = take_screenshot(options, window);
  if (!taken) {
    std::fprintf(stderr, "error: %s\n", taken.error().to_string().c_str());
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool shown = has_display(argc, argv);
  if ((!shown || needs_no_display(argc, argv)) && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
  }
  QApplication application(argc, argv);
  QCoreApplication::setOrganizationName(QStringLiteral("stagewright"));
  QCoreApplication::setApplicationName(QStringLiteral("stagewright-gui"));
  QCoreApplication::setApplicationVersion(QString::fromStdString(std::string(version())));
  QGuiApplication::setDesktopFileName(QStringLiteral("stagewright-gui"));
  QApplication::setWindowIcon(QIcon(QStringLiteral(":/icons/stagewright.svg")));
  std::optional<int> exit_code;
  const ProgramOptions options = read_options(argc, argv, exit_code);
  if (exit_code) {
    return *exit_code;
  }
  if (!shown && !options.screenshot) {
    std::fputs(
        "error: there is no display to show a window on; set DISPLAY or WAYLAND_DISPLAY, or draw "
        "into a file by --screenshot out.png\n",
        stderr);
    return 1;
  }
  const Translations translations{QLocale()};
  install_timeline_accessibility();
  // A picture is the same wherever it is drawn.
  const Theme usual = options.screenshot ? Theme::kLight : stored_theme();
  apply_theme(application, options.theme.value_or(usual));
  MainWindow window(options.profiles);
  if (options.screenshot) {
    return run_screenshot(options, window);
  }
  const bool recovers = window.restore_session(asked_for(options));
  window.show();
  if (!recovers) {
    open_first_file(options, window);
  }
  return QApplication::exec();
}
