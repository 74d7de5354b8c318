#include "gui/models/candidate_filter.h"

#include <algorithm>
#include <cmath>

#include "gui/models/candidates_model.h"
#include "planner/search/dimension.h"

namespace stagewright::gui {

CandidateFilter::CandidateFilter(CandidatesModel* model, QObject* parent)
    : QSortFilterProxyModel(parent), model_(model) {
  setSourceModel(model);
  setSortRole(CandidatesModel::kSortRole);
  sort(CandidatesModel::kRank);
}

void CandidateFilter::set_text(const QString& text) {
  values_.clear();
  words_.clear();
  for (const QString& item : text.split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    const qsizetype equals = item.indexOf(QLatin1Char('='));
    const bool value =
        equals > 0 &&
        constrain(values_, item.left(equals).toStdString(), item.mid(equals + 1).toStdString());
    if (!value) {
      words_.push_back(item);
    }
  }
  invalidateFilter();
}

void CandidateFilter::set_show(Show show) {
  show_ = show;
  invalidateFilter();
}

bool CandidateFilter::filterAcceptsRow(int row, const QModelIndex&) const {
  const CandidateRow& candidate = model_->rows()[static_cast<std::size_t>(row)];
  const bool rejected = candidate.state == CandidateState::kRejected;
  if ((show_ == kUsable && rejected) || (show_ == kRejected && !rejected) ||
      (show_ == kFront && !candidate.on_front)) {
    return false;
  }
  const PlanPoint& point = candidate.candidate.point;
  const bool allowed = std::ranges::all_of(values_, [&](const auto& each) {
    const auto dimension = find_dimension(each.first);
    if (!dimension) {
      return false;
    }
    const std::int64_t value = (*dimension)->get(point);
    return (*dimension)->names == nullptr ? each.second.has(value)
                                          : each.second.has(value_text(**dimension, value));
  });
  if (!allowed) {
    return false;
  }
  const auto text = [&](int column) {
    return model_->data(model_->index(row, column), Qt::DisplayRole).toString();
  };
  const QString all =
      text(CandidatesModel::kPlan) + QLatin1Char(' ') + text(CandidatesModel::kVerdict);
  return std::ranges::all_of(
      words_, [&](const QString& word) { return all.contains(word, Qt::CaseInsensitive); });
}

bool CandidateFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const QVariant a = left.data(sortRole());
  const QVariant b = right.data(sortRole());
  if (a.typeId() != QMetaType::QString) {
    const bool none_left = std::isinf(a.toDouble());
    const bool none_right = std::isinf(b.toDouble());
    if (none_left != none_right) {  // at the end, whichever way it is sorted
      return sortOrder() == Qt::AscendingOrder ? none_right : none_left;
    }
    return a.toDouble() < b.toDouble();
  }
  return QString::localeAwareCompare(a.toString(), b.toString()) < 0;
}

}  // namespace stagewright::gui
