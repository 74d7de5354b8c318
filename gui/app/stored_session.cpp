#include "gui/app/stored_session.h"

#include <functional>

#include <QtCore/QFile>
#include <QtCore/QSettings>

#include "gui/app/main_window.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace stagewright::gui {
namespace {

constexpr const char* kSessionFile = "session/file";
constexpr const char* kSessionOther = "session/compared_with";
constexpr const char* kSessionView = "session/view";

QString session_path(const OpenedFile* file) {
  return file == nullptr ? QString() : QString::fromStdString(file->path);
}

template <class Numbers>
QVariantList list_of(const Numbers& numbers, int (*number)(typename Numbers::value_type)) {
  QVariantList list;
  for (const auto& each : numbers) {
    list.push_back(number(each));
  }
  return list;
}

int of_rank(RankId rank) {
  return rank.value();
}
int itself(std::int32_t number) {
  return number;
}

QVariantMap view_of(TimelineView& timeline) {
  const RowChoices& choices = timeline.choices();
  return {{QStringLiteral("start"), timeline.window_shown().start},
          {QStringLiteral("length"), timeline.window_shown().length},
          {QStringLiteral("group_by"), QString::fromStdString(choices.group_by.value_or(""))},
          {QStringLiteral("collapsed"), list_of(choices.collapsed, itself)},
          {QStringLiteral("pinned"), list_of(choices.pinned, of_rank)},
          {QStringLiteral("hidden"), list_of(choices.hidden, of_rank)},
          {QStringLiteral("communication"), choices.communication},
          {QStringLiteral("colour_by"), static_cast<int>(timeline.colour_by())},
          {QStringLiteral("gaps"), timeline.shows_gaps()},
          {QStringLiteral("path"), timeline.shows_path()}};
}

void show_view(const QVariantMap& view, TimelineView& timeline) {
  const auto value = [&](const char* name) { return view.value(QString::fromLatin1(name)); };
  if (view.isEmpty()) {
    return;
  }
  RowChoices choices = timeline.choices();
  const std::string axis = value("group_by").toString().toStdString();
  for (const RankAxis& each : timeline.document()->file()->axes) {
    choices.group_by = each.name == axis ? std::optional(axis) : choices.group_by;
  }
  for (const QVariant& group : value("collapsed").toList()) {
    choices.collapsed.insert(group.toInt());
  }
  for (const QVariant& rank : value("pinned").toList()) {
    choices.pinned.emplace_back(rank.toInt());
  }
  for (const QVariant& rank : value("hidden").toList()) {
    choices.hidden.emplace(rank.toInt());
  }
  choices.communication = value("communication").toBool();
  timeline.set_choices(choices);
  const int colour = value("colour_by").toInt();
  if (colour >= 0 && colour < kColourByCount) {
    timeline.set_colour_by(static_cast<ColourBy>(colour));
  }
  timeline.set_show_gaps(value("gaps").toBool());
  timeline.set_show_path(value("path").toBool());
  timeline.show_window({value("start").toDouble(), value("length").toDouble()});
}

/// Once, when what the document does now is done.
void when_idle(Document* document, const std::function<void()>& then) {
  QObject::connect(document, &Document::idle, document, then, Qt::SingleShotConnection);
}

}  // namespace

void store_session(MainWindow& window) {
  QSettings settings;
  settings.setValue(kSessionFile, session_path(window.document()->file()));
  settings.setValue(kSessionOther, session_path(window.document()->other_file()));
  settings.setValue(
      kSessionView,
      window.document()->file() == nullptr ? QVariantMap() : view_of(*window.timeline()));
}

void open_stored_session(MainWindow& window) {
  const QSettings settings;
  const QString file = settings.value(kSessionFile).toString();
  const QString other = settings.value(kSessionOther).toString();
  const QVariantMap view = settings.value(kSessionView).toMap();
  if (file.isEmpty() || !QFile::exists(file)) {
    return;
  }
  Document* const document = window.document();
  TimelineView* const timeline = window.timeline();
  const auto is_open = [document, file] { return session_path(document->file()) == file; };
  const auto look = [is_open, view, timeline] {
    if (is_open()) {
      show_view(view, *timeline);
    }
  };
  when_idle(document, [=] {
    if (is_open() && !other.isEmpty() && QFile::exists(other)) {
      when_idle(document, look);
      document->compare_with(other);
    } else {
      look();
    }
  });
  window.open(file);
}

}  // namespace stagewright::gui
