#include "gui/models/candidates_model.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include <QtCore/QLocale>

#include "core/trace/timeline.h"
#include "gui/models/statistics_model.h"

namespace stagewright::gui {
namespace {

QString percent(double share) {
  return QStringLiteral("%1 %").arg(QLocale().toString(100 * share, 'f', 1));
}

bool is_simulated(const CandidateRow& row) {
  return row.state == CandidateState::kSimulated;
}

double number_of(const CandidateRow& row, CandidatesModel::Column column) {
  const Candidate& candidate = row.candidate;
  switch (column) {
    case CandidatesModel::kTime:
      return to_seconds(candidate.step_time);
    case CandidatesModel::kTokens:
      return candidate.tokens_per_s;
    case CandidatesModel::kMfu:
      return candidate.mfu;
    case CandidatesModel::kMemory:
      return static_cast<double>(candidate.peak_memory.count());
    case CandidatesModel::kBubble:
      return candidate.bubble;
    case CandidatesModel::kExposed:
      return candidate.exposed;
    case CandidatesModel::kDevices:
      return static_cast<double>(candidate.point.devices());
    default:
      return row.rank;
  }
}

/// Whether a row has a figure at all.
bool has(const CandidateRow& row, CandidatesModel::Column column) {
  switch (column) {
    case CandidatesModel::kRank:
    case CandidatesModel::kBubble:
    case CandidatesModel::kExposed:
      return is_simulated(row);
    default:
      return row.state != CandidateState::kRejected;
  }
}

}  // namespace

void CandidatesModel::clear() {
  beginResetModel();
  rows_.clear();
  endResetModel();
}

void CandidatesModel::add(std::vector<CandidateRow> rows) {
  if (rows.empty()) {
    return;
  }
  const auto first = static_cast<int>(rows_.size());
  beginInsertRows({}, first, first + static_cast<int>(rows.size()) - 1);
  std::ranges::move(rows, std::back_inserter(rows_));
  endInsertRows();
  rank_all();
}

void CandidatesModel::judge(const std::vector<Candidate>& plans) {
  for (CandidateRow& row : rows_) {
    const auto judged = std::ranges::find(plans, row.candidate.plan, &Candidate::plan);
    if (is_simulated(row) && judged != plans.end()) {
      row.candidate = *judged;
    }
  }
  rank_all();
}

void CandidatesModel::rank_all() {
  std::vector<std::size_t> order(rows_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return rows_[i].candidate.objective; });
  int rank = 0;
  for (const std::size_t i : order) {
    CandidateRow& row = rows_[i];
    row.rank = is_simulated(row) ? ++rank : 0;
    row.on_front = is_simulated(row) && std::ranges::none_of(rows_, [&](const CandidateRow& other) {
                     return is_simulated(other) && beats(other.candidate, row.candidate);
                   });
  }
  if (!rows_.empty()) {
    emit dataChanged(index(0, 0), index(static_cast<int>(rows_.size()) - 1, kColumns - 1));
  }
}

int CandidatesModel::best() const {
  const auto best = std::ranges::find(rows_, 1, &CandidateRow::rank);
  return best == rows_.end() ? -1 : static_cast<int>(best - rows_.begin());
}

int CandidatesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int CandidatesModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

QString CandidatesModel::text(const CandidateRow& row, Column column) const {
  const Candidate& candidate = row.candidate;
  switch (column) {
    case kRank:
      return QString::number(row.rank);
    case kPlan:
      return QString::fromStdString(summary(candidate.plan));
    case kTime:
      return time_text(candidate.step_time, usual_unit(candidate.step_time));
    case kTokens:
      return QLocale().toString(candidate.tokens_per_s, 'f', 0);
    case kMfu:
      return percent(candidate.mfu);
    case kMemory:
      return QString::fromStdString(to_string(candidate.peak_memory));
    case kBubble:
      return percent(candidate.bubble);
    case kExposed:
      return percent(candidate.exposed);
    case kDevices:
      return QString::number(candidate.point.devices());
    default:
      break;
  }
  switch (row.state) {
    case CandidateState::kRejected:
      return tr("Rejected: %1").arg(QString::fromStdString(row.reason));
    case CandidateState::kEstimated:
      return tr("Closed form alone: cannot be simulated or run yet");
    case CandidateState::kSimulated:
      break;
  }
  if (row.rank == 1) {
    return tr("Best");
  }
  return row.on_front ? tr("None beats it in time, memory and devices at once") : QString();
}

QVariant CandidatesModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) {
    return {};
  }
  const CandidateRow& row = rows_[static_cast<std::size_t>(index.row())];
  const auto column = static_cast<Column>(index.column());
  const bool words = column == kPlan || column == kVerdict;
  switch (role) {
    case Qt::TextAlignmentRole:
      return QVariant::fromValue((words ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    case Qt::DisplayRole:
      return words || has(row, column) ? text(row, column) : QStringLiteral("-");
    case Qt::ToolTipRole:
      return words ? text(row, column) : QVariant();
    case kSortRole:
      if (words) {
        return text(row, column);
      }
      return has(row, column) ? number_of(row, column) : std::numeric_limits<double>::infinity();
    default:
      return {};
  }
}

QVariant CandidatesModel::headerData(int section, Qt::Orientation side, int role) const {
  if (side != Qt::Horizontal || role != Qt::DisplayRole) {
    return {};
  }
  switch (static_cast<Column>(section)) {
    case kRank:
      return tr("#");
    case kPlan:
      return tr("Plan");
    case kTime:
      return tr("Step");
    case kTokens:
      return tr("Tokens/s");
    case kMfu:
      return tr("MFU");
    case kMemory:
      return tr("Memory");
    case kBubble:
      return tr("Idle");
    case kExposed:
      return tr("Exposed");
    case kDevices:
      return tr("Devices");
    case kVerdict:
      return tr("Why");
    case kColumns:
      break;
  }
  return {};
}

}  // namespace stagewright::gui
