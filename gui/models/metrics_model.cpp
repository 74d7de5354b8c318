#include "gui/models/metrics_model.h"

#include "gui/models/statistics_model.h"

namespace stagewright::gui {
namespace {

QString text_of(const std::optional<double>& value, int digits) {
  return value ? QString::number(*value, 'f', digits) : QStringLiteral("-");
}

}  // namespace

void MetricsModel::clear() {
  beginResetModel();
  steps_.clear();
  endResetModel();
}

void MetricsModel::add(const StepMetrics& metrics) {
  beginInsertRows({}, 0, 0);
  steps_.push_back(metrics);
  endInsertRows();
}

int MetricsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(steps_.size());
}

int MetricsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : kColumns;
}

QVariant MetricsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) {
    return {};
  }
  if (role == Qt::TextAlignmentRole) {
    return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  const StepMetrics& metrics = steps_[steps_.size() - 1 - static_cast<std::size_t>(index.row())];
  const Duration time = from_seconds(metrics.seconds);
  switch (index.column()) {
    case kStep:
      return metrics.step + 1;  // people count from 1, as the command's progress does
    case kLoss:
      return text_of(metrics.loss, 4);
    case kNorm:
      return text_of(metrics.gradient_norm, 3);
    case kTime:
      return time_text(time, usual_unit(time));
    case kTokens:
      return QString::number(metrics.tokens_per_second, 'f', 0);
    default:
      return {};
  }
}

QVariant MetricsModel::headerData(int section, Qt::Orientation side, int role) const {
  if (side != Qt::Horizontal || role != Qt::DisplayRole) {
    return {};
  }
  switch (section) {
    case kStep:
      return tr("step");
    case kLoss:
      return tr("loss");
    case kNorm:
      return tr("gradient norm");
    case kTime:
      return tr("time");
    case kTokens:
      return tr("tokens/s");
    default:
      return {};
  }
}

}  // namespace stagewright::gui
