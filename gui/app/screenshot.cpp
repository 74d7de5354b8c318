#include "gui/app/screenshot.h"

#include <algorithm>
#include <string>
#include <utility>

#include <QtCore/QBuffer>
#include <QtGui/QPixmap>
#include <QtWidgets/QApplication>
#include <QtWidgets/QDockWidget>

#include "core/base/file.h"
#include "gui/app/edit_commands.h"
#include "gui/app/explore_commands.h"
#include "gui/app/layout_commands.h"
#include "gui/app/main_window.h"
#include "gui/models/plan_editor.h"
#include "gui/widgets/memory_view.h"
#include "gui/widgets/search_bar.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace stagewright::gui {
namespace {

Result<void> group_rows(const std::string& axis, const OpenedFile& file, TimelineView& timeline) {
  const bool known =
      std::ranges::any_of(file.axes, [&](const RankAxis& a) { return a.name == axis; });
  if (!known) {
    std::string names;
    for (const RankAxis& a : file.axes) {
      names += (names.empty() ? "" : ", ") + a.name;
    }
    return fail(ErrorCode::kNotFound,
                "'" + axis + "' divides no ranks of this file; " +
                    (names.empty() ? "nothing does" : "known: " + names),
                "--group-by");
  }
  RowChoices choices = timeline.choices();
  choices.group_by = axis;
  timeline.set_choices(choices);
  timeline.fit_rows();
  return {};
}

void show_docks(const std::vector<std::string>& docks, MainWindow& window) {
  for (QDockWidget* const dock : window.findChildren<QDockWidget*>()) {
    const std::string name = dock->objectName().mid(5).toStdString();  // behind "dock_"
    dock->setVisible(std::ranges::find(docks, name) != docks.end());
  }
}

QWidget* view_named(const std::string& name, MainWindow& window) {
  if (name == "window") {
    return &window;
  }
  if (name == "timeline") {
    return window.timeline();
  }
  return window.findChild<QWidget*>(QString::fromStdString(name));
}

Result<void> change_plan(const LayerMove& move, MainWindow& window) {
  const OpenedFile* const file = window.document()->file();
  const auto last = file->plan ? static_cast<std::int32_t>(file->plan->plan.stages.size()) - 1 : -1;
  if (move.from > last || move.to > last) {
    return fail(
        ErrorCode::kNotFound,
        last < 0 ? "what is open is no plan" : "the plan's stages are 0 to " + std::to_string(last),
        "--move-layers");
  }
  return window.edit()->editor()->change_now(
      QStringLiteral("Move layers"), [move](PlanDraft draft) {
        return move_layers(std::move(draft), move.from, move.to, move.count);
      });
}

Result<void> write_picture(const QPixmap& picture, const QString& path) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  if (!picture.save(&buffer, "PNG")) {
    return fail(ErrorCode::kIo, "the picture could not be made", path.toStdString());
  }
  return write_file(path.toStdString(), bytes.toStdString());
}

}  // namespace

Result<void> apply_view_options(const ProgramOptions& options, MainWindow& window) {
  TimelineView& timeline = *window.timeline();
  if (options.group_by) {
    if (auto grouped = group_rows(*options.group_by, *window.document()->file(), timeline);
        !grouped) {
      return grouped;
    }
  }
  if (options.row_height) {
    timeline.set_row_height(*options.row_height);
  }
  if (options.range) {
    timeline.show_window(*options.range);
  }
  if (options.colour_by) {
    timeline.set_colour_by(*options.colour_by);
  }
  timeline.set_show_path(options.critical_path);
  if (options.search) {
    window.search()->start();
    window.search()->search(QString::fromStdString(*options.search));
  }
  if (options.follow) {
    window.selection()->follow(options.follow);
  }
  return {};
}

Result<void> take_screenshot(const ProgramOptions& options, MainWindow& window) {
  window.resize(options.size);
  window.show();
  QApplication::processEvents();
  if (options.planned) {
    window.layouts()->show(QStringLiteral("layout_explore"));
    QApplication::processEvents();
    if (auto searched = window.explore()->explore_now(*options.planned); !searched) {
      return searched;
    }
  }
  if (!options.files.empty()) {
    if (auto opened = window.document()->open_now(options.files.front()); !opened) {
      return opened;
    }
    if (options.compare) {
      if (auto compared = window.document()->compare_now(*options.compare); !compared) {
        return compared;
      }
    }
  }
  if (window.document()->file() != nullptr) {
    if (options.move_layers) {
      if (auto changed = change_plan(*options.move_layers, window); !changed) {
        return changed;
      }
      window.timeline()->fit();
    }
    if (!options.docks.empty()) {
      show_docks(options.docks, window);
    }
    QApplication::processEvents();
    window.timeline()->fit_rows();
    window.document()->analyse_now();
    if (auto applied = apply_view_options(options, window); !applied) {
      return applied;
    }
  }
  QApplication::processEvents();
  window.draw_now();
  return write_picture(view_named(options.view, window)->grab(), *options.screenshot);
}

}  // namespace stagewright::gui
