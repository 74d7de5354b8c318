#pragma once

#include <memory>
#include <optional>

#include <QtCore/QThreadPool>
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
  ~StatisticsPanel() override;
  StatisticsPanel(const StatisticsPanel&) = delete;
  StatisticsPanel& operator=(const StatisticsPanel&) = delete;
  StatisticsPanel(StatisticsPanel&&) = delete;
  StatisticsPanel& operator=(StatisticsPanel&&) = delete;

  [[nodiscard]] QString action_text() const;
  [[nodiscard]] const StatisticsModel* model() const { return model_; }

 private:
  void refresh();
  void refresh_action();
  [[nodiscard]] QString describe_action(ActionIndex action) const;
  /// Adds a selection up, on a thread where that takes long.
  void add_up(const std::shared_ptr<const ActionStore>& actions);
  void show_statistics(const SelectionStatistics& statistics);

  Document* document_;
  Selection* selection_;
  StatisticsModel* model_;
  QLabel* action_;
  QLabel* title_;
  QTableView* table_;
  std::shared_ptr<const ActionStore> shown_;   ///< whose statistics these are, or will be
  std::optional<RangeSelection> shown_range_;  ///< the same; absent: all of it
  quint64 asked_ = 0;                          ///< counts what was asked of the thread
  QThreadPool threads_;                        ///< ends first: its work speaks of the members above
};

}  // namespace stagewright::gui
