#pragma once

#include <QtWidgets/QWidget>

#include "gui/models/comparison_model.h"
#include "gui/models/document.h"
#include "gui/models/selection.h"

class QComboBox;
class QLabel;
class QPushButton;
class QTableView;

namespace stagewright::gui {

/// How two steps differ: in all, by kind of action, and which actions most.  An action chosen in
/// the table is selected in the timeline.
class ComparePanel : public QWidget {
  Q_OBJECT

 public:
  ComparePanel(Document* document, Selection* selection, QWidget* parent = nullptr);

  [[nodiscard]] const ComparisonModel* model() const { return model_; }
  [[nodiscard]] QString summary() const;
  /// Selects the action of a row of the table as it is sorted now.
  void choose(int row);

 signals:
  void compare_asked();
  void action_chosen(stagewright::gui::ActionIndex action);

 private:
  void refresh();
  [[nodiscard]] QString describe(const ComparedSteps& compared) const;
  [[nodiscard]] QString idle_text() const;
  [[nodiscard]] QString memory_text() const;

  Document* document_;
  Selection* selection_;
  ComparisonModel* model_;
  QLabel* summary_;
  QComboBox* alignment_;
  QPushButton* choose_;
  QPushButton* stop_;
  QTableView* table_;
};

}  // namespace stagewright::gui
