#include "gui/widgets/timeline/timeline_accessible.h"

#include <map>

#include <QtGui/QAccessible>
#include <QtWidgets/QAccessibleWidget>
#include <QtWidgets/QScrollBar>

#include "gui/models/words.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace stagewright::gui {
namespace {

TimelineView* view_of(QAccessibleInterface* timeline) {
  return qobject_cast<TimelineView*>(timeline->object());
}

/// First of the rows in view, and one behind the last.
std::pair<std::size_t, std::size_t> visible_rows(const TimelineView& view) {
  if (view.rows() == nullptr || view.rows()->rows.empty()) {
    return {0, 0};
  }
  const double top = view.verticalScrollBar()->value();
  const std::size_t first = *view.rows()->row_at(top);
  const std::size_t last = *view.rows()->row_at(top + view.content_rect().height() - 1);
  return {first, last + 1};
}

class RowAccessible : public QAccessibleInterface {
 public:
  RowAccessible(QAccessibleInterface* timeline, std::size_t row) : timeline_(timeline), row_(row) {}

  [[nodiscard]] bool isValid() const override {
    const TimelineView* const view = view_of(timeline_);
    return view != nullptr && view->rows() != nullptr && row_ < view->rows()->rows.size();
  }
  [[nodiscard]] QObject* object() const override { return nullptr; }
  [[nodiscard]] QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  [[nodiscard]] QAccessibleInterface* parent() const override { return timeline_; }
  [[nodiscard]] QAccessibleInterface* child(int) const override { return nullptr; }
  [[nodiscard]] int childCount() const override { return 0; }
  [[nodiscard]] int indexOfChild(const QAccessibleInterface*) const override { return -1; }

  [[nodiscard]] QString text(QAccessible::Text text) const override {
    if (!isValid()) {
      return {};
    }
    const TimelineView& view = *view_of(timeline_);
    const ActionStore& store = *view.document()->actions();
    const LaidOutRow& row = view.rows()->rows[row_];
    if (text == QAccessible::Name) {
      return QString::fromStdString(label_of(*view.rows(), row, store));
    }
    if (text == QAccessible::Value || text == QAccessible::Description) {
      const auto action = view.selection()->action();
      if (action && view.rows()->row_of(store.lane_of(*action)) == row_) {
        return describe(store, *action);
      }
      std::size_t actions = 0;
      for (const LaneIndex lane : view.rows()->lanes_of(row)) {
        actions += store.lanes[lane].end - store.lanes[lane].begin;
      }
      return TimelineView::tr("%n action(s)", nullptr, static_cast<int>(actions));
    }
    return {};
  }
  void setText(QAccessible::Text, const QString&) override {}

  [[nodiscard]] QRect rect() const override {
    if (!isValid()) {
      return {};
    }
    const TimelineView& view = *view_of(timeline_);
    const QRect rect = view.rect_of_row(row_);
    return {view.viewport()->mapToGlobal(rect.topLeft()), rect.size()};
  }
  [[nodiscard]] QAccessible::Role role() const override { return QAccessible::Row; }
  [[nodiscard]] QAccessible::State state() const override {
    QAccessible::State state;
    state.readOnly = true;
    state.selectable = true;
    if (isValid()) {
      const TimelineView& view = *view_of(timeline_);
      const auto action = view.selection()->action();
      state.selected =
          action && view.rows()->row_of(view.document()->actions()->lane_of(*action)) == row_;
    }
    return state;
  }

 private:
  QAccessibleInterface* timeline_;
  std::size_t row_;
};

class TimelineAccessible : public QAccessibleWidget {
 public:
  explicit TimelineAccessible(TimelineView* view) : QAccessibleWidget(view, QAccessible::Chart) {
    QObject::connect(view->selection(), &Selection::changed, view, [view] {
      QAccessibleValueChangeEvent event(view, value_of(*view));
      QAccessible::updateAccessibility(&event);
    });
  }
  ~TimelineAccessible() override {
    for (const auto& [row, id] : rows_) {
      QAccessible::deleteAccessibleInterface(id);
    }
  }
  TimelineAccessible(const TimelineAccessible&) = delete;
  TimelineAccessible& operator=(const TimelineAccessible&) = delete;
  TimelineAccessible(TimelineAccessible&&) = delete;
  TimelineAccessible& operator=(TimelineAccessible&&) = delete;

  [[nodiscard]] int childCount() const override {
    const auto [first, last] = visible_rows(view());
    return static_cast<int>(last - first);
  }
  [[nodiscard]] QAccessibleInterface* child(int index) const override {
    const auto [first, last] = visible_rows(view());
    const std::size_t row = first + static_cast<std::size_t>(index);
    if (index < 0 || row >= last) {
      return nullptr;
    }
    const auto known = rows_.find(row);
    if (known != rows_.end()) {
      return QAccessible::accessibleInterface(known->second);
    }
    auto* const self = const_cast<TimelineAccessible*>(this);
    auto* const made = new RowAccessible(self, row);  // NOLINT: Qt's registry owns it
    rows_[row] = QAccessible::registerAccessibleInterface(made);
    return made;
  }
  [[nodiscard]] int indexOfChild(const QAccessibleInterface* child) const override {
    for (int i = 0; i < childCount(); ++i) {
      if (this->child(i) == child) {
        return i;
      }
    }
    return -1;
  }
  [[nodiscard]] QAccessibleInterface* childAt(int x, int y) const override {
    for (int i = 0; i < childCount(); ++i) {
      QAccessibleInterface* const row = child(i);
      if (row->rect().contains(x, y)) {
        return row;
      }
    }
    return nullptr;
  }
  [[nodiscard]] QString text(QAccessible::Text text) const override {
    return text == QAccessible::Value ? value_of(view()) : QAccessibleWidget::text(text);
  }

 private:
  [[nodiscard]] const TimelineView& view() const { return *qobject_cast<TimelineView*>(widget()); }
  [[nodiscard]] static QString value_of(const TimelineView& view) {
    const auto action = view.selection()->action();
    const auto actions = view.document()->actions();
    return action && actions ? describe(*actions, *action) : QString();
  }

  mutable std::map<std::size_t, QAccessible::Id> rows_;
};

QAccessibleInterface* make_accessible(const QString& class_name, QObject* object) {
  auto* const view = class_name == QLatin1String(TimelineView::staticMetaObject.className())
                         ? qobject_cast<TimelineView*>(object)
                         : nullptr;
  return view != nullptr ? new TimelineAccessible(view) : nullptr;  // NOLINT: Qt owns it
}

}  // namespace

void install_timeline_accessibility() {
  QAccessible::installFactory(make_accessible);
}

}  // namespace stagewright::gui
