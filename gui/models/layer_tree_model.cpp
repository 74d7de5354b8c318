#include "gui/models/layer_tree_model.h"

#include <array>
#include <utility>

#include "core/trace/timeline.h"
#include "gui/models/statistics_model.h"

namespace stagewright::gui {
namespace {

/// Number of a row's parent, from 1; 0: it has none.
quintptr parent_number(int row) {
  return static_cast<quintptr>(row) + 1;
}

QString time_or_none(Duration time) {
  return time > Duration{} ? time_text(time, usual_unit(time)) : QString();
}

QVariant layers_text(const OutlineLayers& layers, LayerTreeModel::Column column) {
  const auto count = static_cast<double>(layers.count);
  const auto name = QString::fromStdString(layers.name);
  switch (column) {
    case LayerTreeModel::kName:
      return layers.count > 1 ? QStringLiteral("%1 ×  %2").arg(layers.count).arg(name) : name;
    case LayerTreeModel::kParameters:
      return count_text(count * static_cast<double>(layers.parameters));
    case LayerTreeModel::kFlops:
      return count_text(count * layers.flops.count());
    case LayerTreeModel::kForward:
      return time_or_none(layers.forward * layers.count);
    case LayerTreeModel::kBackward:
      return time_or_none(layers.backward * layers.count);
    case LayerTreeModel::kKept:
      return layers.kept > Bytes{} ? QString::fromStdString(to_string(layers.kept * layers.count))
                                   : QString();
    case LayerTreeModel::kColumns:
      break;
  }
  return {};
}

QVariant op_text(const OutlineOp& op, LayerTreeModel::Column column) {
  switch (column) {
    case LayerTreeModel::kName:
      return QString::fromStdString(op.name);
    case LayerTreeModel::kParameters:
      return op.parameters > 0 ? count_text(static_cast<double>(op.parameters)) : QString();
    case LayerTreeModel::kFlops:
      return op.flops.count() > 0 ? count_text(op.flops.count()) : QString();
    default:
      return {};
  }
}

}  // namespace

QString count_text(double count) {
  constexpr std::array<const char*, 6> kUnits{"", "k", "M", "G", "T", "P"};
  std::size_t unit = 0;
  while (count >= 1000 && unit + 1 < kUnits.size()) {
    count /= 1000;
    ++unit;
  }
  const int digits = unit == 0 || count >= 100 ? 0 : count >= 10 ? 1 : 2;
  const QString text = QString::number(count, 'f', digits);
  return unit == 0 ? text : text + QLatin1Char(' ') + QString::fromLatin1(kUnits.at(unit));
}

void LayerTreeModel::set_outline(std::optional<ModelOutline> outline) {
  beginResetModel();
  outline_ = std::move(outline);
  endResetModel();
}

QModelIndex LayerTreeModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) {
    return {};
  }
  return createIndex(row, column, parent.isValid() ? parent_number(parent.row()) : quintptr{0});
}

QModelIndex LayerTreeModel::parent(const QModelIndex& child) const {
  if (!child.isValid() || child.internalId() == 0) {
    return {};
  }
  return createIndex(static_cast<int>(child.internalId()) - 1, 0, quintptr{0});
}

int LayerTreeModel::rowCount(const QModelIndex& parent) const {
  if (!outline_ || parent.column() > 0) {
    return 0;
  }
  if (!parent.isValid()) {
    return static_cast<int>(outline_->layers.size());
  }
  return parent.internalId() != 0
             ? 0
             : static_cast<int>(
                   outline_->layers[static_cast<std::size_t>(parent.row())].ops.size());
}

int LayerTreeModel::columnCount(const QModelIndex&) const {
  return kColumns;
}

QVariant LayerTreeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) {
    return {};
  }
  const auto column = static_cast<Column>(index.column());
  if (role == Qt::TextAlignmentRole && column != kName) {
    return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  const auto row = static_cast<std::size_t>(index.row());
  if (index.internalId() == 0) {
    return layers_text(outline_->layers[row], column);
  }
  return op_text(outline_->layers[index.internalId() - 1].ops[row], column);
}

QVariant LayerTreeModel::headerData(int section, Qt::Orientation side, int role) const {
  if (side != Qt::Horizontal) {
    return {};
  }
  const bool tip = role == Qt::ToolTipRole;
  if (!tip && role != Qt::DisplayRole) {
    return {};
  }
  switch (static_cast<Column>(section)) {
    case kName:
      return tip ? tr("Layers that are equal stand in one row; their operations below it are of "
                      "one")
                 : tr("Layer");
    case kParameters:
      return tip ? tr("Trainable numbers") : tr("Parameters");
    case kFlops:
      return tip ? tr("Floating-point operations of one sequence, forward and backward")
                 : tr("FLOP");
    case kForward:
      return tip ? tr("One sequence on one device that holds the layers whole") : tr("Forward");
    case kBackward:
      return tip ? tr("One sequence on one device that holds the layers whole") : tr("Backward");
    case kKept:
      return tip ? tr("Activations of one sequence, from its forward to its backward") : tr("Kept");
    case kColumns:
      break;
  }
  return {};
}

}  // namespace stagewright::gui
