#include "gui/widgets/compare_panel.h"

#include <algorithm>

#include <QtCore/QFileInfo>
#include <QtCore/QSortFilterProxyModel>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QHeaderView>
#include <QtWidgets/QLabel>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QTableView>
#include <QtWidgets/QVBoxLayout>

#include "gui/models/statistics_model.h"
#include "gui/models/words.h"

namespace stagewright::gui {
namespace {

QString percent(double share) {
  return QStringLiteral("%1%2 %")
      .arg(share >= 0 ? QStringLiteral("+") : QString())
      .arg(100 * share, 0, 'f', 1);
}

QString file_name(const OpenedFile& file) {
  return QFileInfo(QString::fromStdString(file.path)).fileName().toHtmlEscaped();
}

}  // namespace

ComparePanel::ComparePanel(Document* document, Selection* selection, QWidget* parent)
    : QWidget(parent),
      document_(document),
      selection_(selection),
      model_(new ComparisonModel(this)),
      summary_(new QLabel(this)),
      alignment_(new QComboBox(this)),
      choose_(new QPushButton(tr("Compare with..."), this)),
      stop_(new QPushButton(tr("Stop comparing"), this)),
      table_(new QTableView(this)) {
  setObjectName(QStringLiteral("compare"));
  summary_->setWordWrap(true);
  alignment_->addItem(tr("Begin together"));
  alignment_->addItem(tr("End together"));
  alignment_->setAccessibleName(tr("How the steps are laid side by side"));
  auto* const sorted = new QSortFilterProxyModel(this);
  sorted->setSourceModel(model_);
  sorted->setSortRole(ComparisonModel::kSortRole);
  table_->setModel(sorted);
  table_->setSortingEnabled(true);
  table_->sortByColumn(-1, Qt::AscendingOrder);
  table_->setAccessibleName(tr("Actions that differ most"));
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(22);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setShowGrid(false);
  table_->setAlternatingRowColors(true);
  table_->setTabKeyNavigation(false);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  auto* const buttons = new QHBoxLayout;
  buttons->addWidget(choose_);
  buttons->addWidget(stop_);
  buttons->addWidget(alignment_);
  buttons->addStretch(1);
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 8, 8, 8);
  layout->addLayout(buttons);
  layout->addWidget(summary_);
  layout->addWidget(table_, 1);
  connect(document_, &Document::changed, this, &ComparePanel::refresh);
  connect(choose_, &QPushButton::clicked, this, &ComparePanel::compare_asked);
  connect(stop_, &QPushButton::clicked, document_, &Document::stop_comparing);
  connect(alignment_, &QComboBox::activated, this, [this](int choice) {
    document_->set_alignment(choice == 0 ? Alignment::kStart : Alignment::kEnd);
  });
  connect(table_, &QTableView::clicked, this, [this](const QModelIndex& index) {
    choose(index.row());
  });
  connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
    choose(index.row());
  });
  refresh();
}

QString ComparePanel::summary() const {
  return summary_->text();
}

void ComparePanel::choose(int row) {
  const auto* const sorted = qobject_cast<QSortFilterProxyModel*>(table_->model());
  const QModelIndex index = sorted->mapToSource(sorted->index(row, 0));
  if (index.isValid()) {
    const ActionIndex action = model_->action_at(index.row());
    selection_->select(action);
    emit action_chosen(action);
  }
}

void ComparePanel::refresh() {
  const auto compared = document_->comparison();
  model_->set_comparison(compared,
                         document_->file() == nullptr ? TimeUnit{} : document_->file()->unit);
  stop_->setEnabled(compared != nullptr);
  alignment_->setEnabled(compared != nullptr);
  alignment_->setCurrentIndex(document_->alignment() == Alignment::kStart ? 0 : 1);
  table_->setVisible(compared != nullptr);
  summary_->setText(compared ? describe(*compared)
                             : tr("Set a second file beside this one: what was measured beside "
                                  "what was predicted, or one plan beside another."));
}

QString ComparePanel::idle_text() const {
  const auto idle = [](const SelectionStatistics& statistics) {
    return QString::number(100 * statistics.idle_share, 'f', 1);
  };
  return tr("Idle: %1 % beside %2 %.<br>")
      .arg(idle(document_->step()->statistics), idle(document_->other_file()->shown.statistics));
}

/// Of the rank that holds most, in each; nothing where one says nothing about memory.
QString ComparePanel::memory_text() const {
  const auto peak = [](const std::vector<MemoryLane>& lanes) {
    const auto most = std::ranges::max_element(lanes, {}, &MemoryLane::peak);
    return most->peak - most->context;
  };
  const std::vector<MemoryLane>& first = document_->step()->memory;
  const std::vector<MemoryLane>& second = document_->other_file()->shown.memory;
  if (first.empty() || second.empty()) {
    return {};
  }
  return tr("Tensors of the fullest rank: %1 beside %2.<br>")
      .arg(QString::fromStdString(to_string(peak(first))),
           QString::fromStdString(to_string(peak(second))));
}

QString ComparePanel::describe(const ComparedSteps& compared) const {
  const TimeUnit& unit = document_->file()->unit;
  const double first = to_seconds(compared.first_length);
  const double second = to_seconds(compared.second_length);
  QString text =
      tr("First: %1, %2<br>Second: %3, %4")
          .arg(file_name(*document_->file()), time_text(compared.first_length, unit))
          .arg(file_name(*document_->other_file()), time_text(compared.second_length, unit));
  if (first > 0) {
    text += QStringLiteral(" (<b>%1</b>)").arg(percent(second / first - 1));
  }
  const std::int32_t ranks = document_->step()->actions.ranks;
  const std::int32_t other_ranks = document_->other_file()->shown.actions.ranks;
  if (ranks != other_ranks) {
    text += tr("<br><b>%1 ranks beside %2</b>: those of the same number are set side by side.")
                .arg(ranks)
                .arg(other_ranks);
  }
  text += QStringLiteral("<table cellspacing=\"6\">");
  for (const KindMatch& kind : compared.kinds) {
    const double total = to_seconds(kind.first);
    text += tr("<tr><td>%1</td><td align=\"right\">%2</td><td>mean error %3 %</td></tr>")
                .arg(word_for(kind.kind),
                     total > 0 ? percent(to_seconds(kind.second) / total - 1) : QString(),
                     QString::number(100 * kind.mean_error, 'f', 1));
  }
  text += QStringLiteral("</table>");
  text += idle_text() + memory_text();
  if (compared.only_first > 0 || compared.only_second > 0) {
    text += tr("Only in the first: %1 actions; only in the second: %2.")
                .arg(compared.only_first)
                .arg(compared.only_second);
  }
  return text;
}

}  // namespace stagewright::gui
