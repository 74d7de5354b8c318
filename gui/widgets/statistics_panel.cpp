#include "gui/widgets/statistics_panel.h"

#include <utility>

#include <QtCore/QSortFilterProxyModel>
#include <QtWidgets/QHeaderView>
#include <QtWidgets/QLabel>
#include <QtWidgets/QTableView>
#include <QtWidgets/QVBoxLayout>

#include "gui/models/words.h"

namespace stagewright::gui {

StatisticsPanel::StatisticsPanel(Document* document, Selection* selection, QWidget* parent)
    : QWidget(parent),
      document_(document),
      selection_(selection),
      model_(new StatisticsModel(this)),
      action_(new QLabel(this)),
      title_(new QLabel(this)),
      table_(new QTableView(this)) {
  setObjectName(QStringLiteral("statistics"));
  action_->setWordWrap(true);
  action_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  title_->setWordWrap(true);
  auto* const sorted = new QSortFilterProxyModel(this);
  sorted->setSourceModel(model_);
  sorted->setSortRole(StatisticsModel::kSortRole);
  table_->setModel(sorted);
  table_->setSortingEnabled(true);
  table_->sortByColumn(StatisticsModel::kTotal, Qt::DescendingOrder);
  table_->setAccessibleName(tr("Kinds of action in the selection"));
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(22);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setShowGrid(false);
  table_->setAlternatingRowColors(true);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table_->setTabKeyNavigation(false);
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 8, 8, 8);
  layout->addWidget(action_);
  layout->addWidget(title_);
  layout->addWidget(table_, 1);
  threads_.setMaxThreadCount(1);
  connect(document_, &Document::changed, this, &StatisticsPanel::refresh);
  connect(document_, &Document::analysed, this, &StatisticsPanel::refresh_action);
  connect(selection_, &Selection::changed, this, &StatisticsPanel::refresh);
  refresh();
}

StatisticsPanel::~StatisticsPanel() {
  threads_.waitForDone();
}

QString StatisticsPanel::action_text() const {
  return action_->text();
}

void StatisticsPanel::refresh() {
  refresh_action();
  auto actions = document_->actions();
  if (actions == shown_ && selection_->range() == shown_range_ && actions) {
    return;
  }
  shown_ = std::move(actions);
  shown_range_ = selection_->range();
  ++asked_;
  if (!shown_) {
    title_->setText(tr("No file is open."));
    model_->set_statistics({}, {});
  } else if (!shown_range_ && !document_->comparison()) {
    show_statistics(document_->step()->statistics);
  } else {
    add_up(shown_);
  }
}

void StatisticsPanel::add_up(const std::shared_ptr<const ActionStore>& actions) {
  constexpr std::size_t kActionsAtOnce = 500'000;  // some milliseconds
  const RangeSelection range = shown_range_ ? *shown_range_ : everything(*actions);
  if (actions->size() <= kActionsAtOnce) {
    show_statistics(statistics_of(*actions, range));
    return;
  }
  threads_.start([this, actions, range, number = asked_] {
    const SelectionStatistics statistics = statistics_of(*actions, range);
    QMetaObject::invokeMethod(this, [this, statistics, number] {
      if (number == asked_) {
        show_statistics(statistics);
      }
    });
  });
}

void StatisticsPanel::show_statistics(const SelectionStatistics& statistics) {
  const TimeUnit& unit = document_->file()->unit;
  title_->setText(tr("<b>%1</b>: %2 on %n rank(s), %3 % idle",
                     nullptr,
                     static_cast<int>(statistics.compute_lanes))
                      .arg(shown_range_ ? tr("Selection") : tr("Whole step"),
                           time_text(statistics.length, unit),
                           QString::number(100 * statistics.idle_share, 'f', 1)));
  model_->set_statistics(statistics, unit);
}

void StatisticsPanel::refresh_action() {
  const auto action = selection_->action();
  const bool shown = action && document_->actions();
  action_->setText(shown ? describe_action(*action)
                         : tr("Click an action, or press an arrow key in the timeline."));
}

QString StatisticsPanel::describe_action(ActionIndex action) const {
  const ActionStore& store = *document_->actions();
  const TimeUnit& unit = document_->file()->unit;
  const auto name = [&](ActionIndex i) { return describe(store, i).toHtmlEscaped(); };
  QString text = QStringLiteral("<b>%1</b>").arg(name(action));
  const auto analysis = document_->analysis();
  if (!analysis) {
    return text;
  }
  const auto before = analysis->before_of(action);
  if (!before.empty()) {
    text += tr("<br>Waited for: %1").arg(name(before.front()));
  }
  const auto after = analysis->after_of(action);
  if (!after.empty()) {
    text += tr("<br>Held up: %1").arg(name(after.front()));
  }
  if (analysis->is_on_path[action] != 0) {
    text += tr("<br>On the critical path.");
  } else if (analysis->slack[action] > 0) {
    text += tr("<br>Could take %1 longer without making the step longer.")
                .arg(time_text(Duration(analysis->slack[action]), unit));
  }
  return text;
}

}  // namespace stagewright::gui
