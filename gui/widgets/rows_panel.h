#pragma once

#include <QtWidgets/QWidget>

#include "gui/models/rank_tree_model.h"

class QComboBox;
class QTreeView;

namespace stagewright::gui {

class TimelineView;

/// Which rows the timeline shows, and how they are grouped.
class RowsPanel : public QWidget {
  Q_OBJECT

 public:
  explicit RowsPanel(TimelineView* timeline, QWidget* parent = nullptr);

  [[nodiscard]] const RankTreeModel* model() const { return model_; }

 private:
  void take_document();
  void take_choices();
  void group_by(int choice);
  void show_ranks(const std::vector<RankId>& ranks, bool shown);

  TimelineView* timeline_;
  RankTreeModel* model_;
  QComboBox* axes_;
  QTreeView* tree_;
};

}  // namespace stagewright::gui
