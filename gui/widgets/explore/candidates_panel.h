#pragma once

#include <QtWidgets/QWidget>

#include "gui/models/candidate_filter.h"
#include "gui/models/plan_search.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QProgressBar;
class QPushButton;
class QTableView;

namespace stagewright::gui {

/// The plans of a search as a table with filters, and how far the search is.
class CandidatesPanel : public QWidget {
  Q_OBJECT

 public:
  explicit CandidatesPanel(PlanSearch* search, QWidget* parent = nullptr);

  [[nodiscard]] QTableView* table() { return table_; }
  [[nodiscard]] CandidateFilter* shown() { return shown_; }
  /// How far the search is, or what came of it.
  [[nodiscard]] QString verdict() const;
  void set_filter(const QString& text);

 signals:
  void save_asked();

 private:
  void build();
  void refresh();
  void take_chosen();
  [[nodiscard]] QString describe_state() const;
  [[nodiscard]] QString describe_space() const;

  PlanSearch* search_;
  CandidateFilter* shown_;
  QLineEdit* filter_;
  QComboBox* which_;
  QProgressBar* progress_;
  QPushButton* stop_;
  QPushButton* save_;
  QLabel* verdict_;
  QTableView* table_;
  int sized_for_ = 0;       ///< rows that columns are as wide as
  bool following_ = false;  ///< the table's selection is being set, not chosen
};

}  // namespace stagewright::gui
