#include "gui/widgets/explore/candidates_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <QtCore/QLocale>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QHeaderView>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QProgressBar>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QTableView>
#include <QtWidgets/QVBoxLayout>

namespace stagewright::gui {
namespace {

constexpr int kProgressSteps = 1000;
constexpr int kMostPlanWidth = 260;  ///< the figures behind it matter more than its end

QString count(std::int64_t number) {
  return QLocale().toString(static_cast<qlonglong>(number));
}

}  // namespace

CandidatesPanel::CandidatesPanel(PlanSearch* search, QWidget* parent)
    : QWidget(parent),
      search_(search),
      shown_(new CandidateFilter(search->candidates(), this)),
      filter_(new QLineEdit(this)),
      which_(new QComboBox(this)),
      progress_(new QProgressBar(this)),
      stop_(new QPushButton(tr("&Stop"), this)),
      save_(new QPushButton(tr("Save the &plan..."), this)),
      verdict_(new QLabel(this)),
      table_(new QTableView(this)) {
  setObjectName(QStringLiteral("candidates"));
  save_->setObjectName(QStringLiteral("save_plan_button"));
  build();
  connect(filter_, &QLineEdit::textChanged, shown_, &CandidateFilter::set_text);
  connect(which_, &QComboBox::currentIndexChanged, this, [this](int show) {
    shown_->set_show(static_cast<CandidateFilter::Show>(show));
  });
  connect(stop_, &QPushButton::clicked, search_, &PlanSearch::cancel);
  connect(save_, &QPushButton::clicked, this, &CandidatesPanel::save_asked);
  connect(table_->selectionModel(),
          &QItemSelectionModel::currentRowChanged,
          this,
          [this](const QModelIndex& now) {
            if (!following_ && now.isValid()) {
              search_->choose(shown_->mapToSource(now).row());
            }
          });
  connect(search_, &PlanSearch::changed, this, &CandidatesPanel::refresh);
  connect(search_, &PlanSearch::chosen_changed, this, &CandidatesPanel::take_chosen);
  refresh();
}

void CandidatesPanel::build() {
  filter_->setObjectName(QStringLiteral("filter"));
  filter_->setPlaceholderText(tr("Filter: tp=8 pp=4..16 schedule=zb-* memory"));
  filter_->setAccessibleName(tr("Filter of the plans"));
  filter_->setClearButtonEnabled(true);
  which_->setObjectName(QStringLiteral("shown_plans"));
  which_->setAccessibleName(tr("Which plans are shown"));
  which_->addItems({tr("All"), tr("Usable"), tr("Unbeaten"), tr("Rejected")});
  progress_->setRange(0, kProgressSteps);
  progress_->setTextVisible(false);
  progress_->setMaximumWidth(140);
  progress_->setAccessibleName(tr("Progress of the search"));
  verdict_->setObjectName(QStringLiteral("search_verdict"));
  verdict_->setWordWrap(true);
  verdict_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  verdict_->setAccessibleDescription(tr("State of the search"));
  table_->setObjectName(QStringLiteral("candidates_table"));
  table_->setAccessibleName(tr("Plans"));
  table_->setModel(shown_);
  table_->setSortingEnabled(true);
  table_->sortByColumn(CandidatesModel::kRank, Qt::AscendingOrder);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(22);
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setShowGrid(false);
  table_->setAlternatingRowColors(true);
  table_->setTabKeyNavigation(false);
  table_->setWordWrap(false);
  table_->horizontalHeader()->setStretchLastSection(true);
  auto* const row = new QHBoxLayout;
  row->addWidget(filter_, 1);
  row->addWidget(which_);
  row->addWidget(progress_);
  row->addWidget(stop_);
  row->addWidget(save_);
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 6, 8, 6);
  layout->addLayout(row);
  layout->addWidget(verdict_);
  layout->addWidget(table_, 1);
}

void CandidatesPanel::set_filter(const QString& text) {
  filter_->setText(text);
}

QString CandidatesPanel::verdict() const {
  return verdict_->text();
}

void CandidatesPanel::refresh() {
  const bool running = search_->state() == PlanSearch::State::kRunning;
  const SearchProgress& progress = search_->progress();
  progress_->setVisible(running);
  progress_->setValue(
      progress.space_size > 0
          ? static_cast<int>(std::lround(static_cast<double>(progress.done) /
                                         static_cast<double>(progress.space_size) * kProgressSteps))
          : 0);
  stop_->setVisible(running);
  save_->setEnabled(search_->chosen() >= 0);
  verdict_->setText(describe_state());
  const int rows = search_->candidates()->rowCount({});
  if (std::exchange(sized_for_, rows) != rows && rows > 0) {
    table_->resizeColumnsToContents();
    const int plan = table_->columnWidth(CandidatesModel::kPlan);
    table_->setColumnWidth(CandidatesModel::kPlan, std::min(plan, kMostPlanWidth));
  }
  if (table_->currentIndex().row() < 0) {
    take_chosen();
  }
}

void CandidatesPanel::take_chosen() {
  save_->setEnabled(search_->chosen() >= 0);
  const int row = search_->chosen();
  const QModelIndex source = search_->candidates()->index(row, 0);
  const QModelIndex index = row < 0 ? QModelIndex() : shown_->mapFromSource(source);
  following_ = true;
  if (index.isValid()) {
    table_->setCurrentIndex(index);
    table_->scrollTo(index);
  } else {
    table_->selectionModel()->clear();  // a click on any row chooses it
  }
  following_ = false;
}

QString CandidatesPanel::describe_state() const {
  const SearchProgress& progress = search_->progress();
  const int plans = search_->candidates()->rowCount({});
  switch (search_->state()) {
    case PlanSearch::State::kIdle:
      return tr("Say what is to be planned, then search: plans appear here as they are found.");
    case PlanSearch::State::kRunning:
      return tr("%1 of %2 points, %3 simulated")
          .arg(count(progress.done), count(progress.space_size), count(progress.simulated));
    case PlanSearch::State::kFailed:
      return tr("No plan: %1").arg(search_->error());
    case PlanSearch::State::kStopped:
      return plans == 0 ? tr("Stopped before a plan was found.")
                        : tr("Stopped: the best until then. ") + describe_space();
    case PlanSearch::State::kDone:
      return describe_space();
  }
  return {};
}

QString CandidatesPanel::describe_space() const {
  if (!search_->result()) {
    return {};
  }
  const SearchResult& result = *search_->result();
  const SpaceCounts& space = result.space;
  QString text = tr("%1 points, %2 simulated; no plan can be more than %3 % better than the first.")
                     .arg(count(space.size), count(result.simulated))
                     .arg(100 * result.gap, 0, 'f', 1);
  QStringList why;
  const std::array<std::pair<std::int64_t, QString>, 7> reasons{
      std::pair{space.by_devices + space.by_compute, tr("%1 too slow even at peak rate")},
      std::pair{space.by_pipeline + result.out_of_time, tr("%1 slower than what was found")},
      std::pair{space.by_state, tr("%1 whose parameters and optimizer do not fit")},
      std::pair{space.by_activations + result.out_of_memory, tr("%1 whose activations do not fit")},
      std::pair{space.without_price, tr("%1 that cannot be lowered")},
      std::pair{space.duplicates, tr("%1 that equal another")},
      std::pair{space.left, tr("%1 not looked at")}};
  for (const auto& [points, reason] : reasons) {
    if (points > 0) {
      why.push_back(reason.arg(count(points)));
    }
  }
  return why.isEmpty() ? text : text + tr(" Left out: %1.").arg(why.join(QStringLiteral(", ")));
}

}  // namespace stagewright::gui
