#include "gui/widgets/rows_panel.h"

#include <algorithm>

#include <QtWidgets/QComboBox>
#include <QtWidgets/QHeaderView>
#include <QtWidgets/QLabel>
#include <QtWidgets/QTreeView>
#include <QtWidgets/QVBoxLayout>

#include "gui/widgets/timeline/timeline_view.h"

namespace stagewright::gui {

RowsPanel::RowsPanel(TimelineView* timeline, QWidget* parent)
    : QWidget(parent),
      timeline_(timeline),
      model_(new RankTreeModel(this)),
      axes_(new QComboBox(this)),
      tree_(new QTreeView(this)) {
  setObjectName(QStringLiteral("rows"));
  axes_->setAccessibleName(tr("Group rows by"));
  tree_->setModel(model_);
  tree_->setUniformRowHeights(true);
  tree_->setAccessibleName(tr("Rows of the timeline"));
  tree_->header()->setStretchLastSection(false);
  tree_->header()->setSectionResizeMode(RankTreeModel::kName, QHeaderView::Stretch);
  auto* const label = new QLabel(tr("&Group by"), this);
  label->setBuddy(axes_);
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 8, 8, 8);
  auto* const top = new QHBoxLayout;
  top->addWidget(label);
  top->addWidget(axes_, 1);
  layout->addLayout(top);
  layout->addWidget(tree_, 1);
  connect(timeline_->document(), &Document::changed, this, &RowsPanel::take_document);
  connect(timeline_, &TimelineView::choices_changed, this, &RowsPanel::take_choices);
  connect(axes_, &QComboBox::activated, this, &RowsPanel::group_by);
  connect(model_, &RankTreeModel::shown_changed, this, &RowsPanel::show_ranks);
  connect(tree_, &QTreeView::activated, this, [this](const QModelIndex& index) {
    const auto rank = model_->rank_at(index);
    const auto actions = timeline_->document()->actions();
    if (rank && actions && !actions->lanes_of(*rank).empty()) {
      timeline_->bring_into_view(actions->lanes_of(*rank).front().begin);
    }
  });
  take_document();
}

void RowsPanel::take_document() {
  const auto actions = timeline_->document()->actions();
  axes_->clear();
  axes_->addItem(tr("nothing"));
  if (actions) {
    for (const RankAxis& axis : timeline_->document()->file()->axes) {
      axes_->addItem(QString::fromStdString(axis.name), QString::fromStdString(axis.name));
    }
  }
  axes_->setEnabled(axes_->count() > 1);
  model_->set_actions(actions, actions ? timeline_->document()->file()->axes : RankAxes{});
  take_choices();
}

void RowsPanel::take_choices() {
  const RowChoices& choices = timeline_->choices();
  model_->set_choices(choices);
  const int at = choices.group_by ? axes_->findData(QString::fromStdString(*choices.group_by)) : 0;
  axes_->setCurrentIndex(std::max(0, at));
}

void RowsPanel::group_by(int choice) {
  RowChoices choices = timeline_->choices();
  choices.collapsed.clear();
  choices.group_by =
      choice == 0 ? std::nullopt : std::optional(axes_->itemData(choice).toString().toStdString());
  timeline_->set_choices(choices);
}

void RowsPanel::show_ranks(const std::vector<RankId>& ranks, bool shown) {
  RowChoices choices = timeline_->choices();
  for (const RankId rank : ranks) {
    if (shown) {
      choices.hidden.erase(rank);
    } else {
      choices.hidden.insert(rank);
    }
  }
  timeline_->set_choices(choices);
}

}  // namespace stagewright::gui
