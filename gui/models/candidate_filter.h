#pragma once

#include <QtCore/QSortFilterProxyModel>

#include "planner/search/constraint.h"

namespace stagewright::gui {

class CandidatesModel;

/// Which plans of a search a table shows, and in what order.
class CandidateFilter : public QSortFilterProxyModel {
  Q_OBJECT

 public:
  enum Show {
    kAll,
    kUsable,  ///< simulated, or priced in closed form
    kFront,   ///< that none beats
    kRejected,
    kShows
  };

  explicit CandidateFilter(CandidatesModel* model, QObject* parent = nullptr);

  /// "tp=8 pp=4..16 memory": values of dimensions, as the planner's constraints are written, and
  /// words of the plan or of the reason.  What cannot be read is taken as a word.
  void set_text(const QString& text);
  void set_show(Show show);

 protected:
  [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
  [[nodiscard]] bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

 private:
  CandidatesModel* model_;
  Constraints values_;
  QStringList words_;
  Show show_ = kAll;
};

}  // namespace stagewright::gui
