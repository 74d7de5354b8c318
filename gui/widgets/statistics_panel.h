#pragma once

#include <QtWidgets/QWidget>

#include "gui/models/document.h"
#include "gui/models/selection.h"
#include "gui/models/statistics_model.h"

class QLabel;
class QTableView;

namespace stagewright::gui {

/// What is selected, in words and numbers: the action with what it waited for, and the kinds of
/// action within the selected range, or in the whole step.
class StatisticsPanel : public QWidget {
  Q_OBJECT

 public:
  StatisticsPanel(Document* document, Selection* selection, QWidget* parent = nullptr);

  [[nodiscard]] QString action_text() const;
  [[nodiscard]] const StatisticsModel* model() const { return model_; }

 private:
  void refresh();
  void refresh_action();
  [[nodiscard]] QString describe_action(ActionIndex action) const;

  Document* document_;
  Selection* selection_;
  StatisticsModel* model_;
  QLabel* action_;
  QLabel* title_;
  QTableView* table_;
};

}  // namespace stagewright::gui
