#include "gui/models/rank_tree_model.h"

#include <algorithm>
#include <map>
#include <utility>

namespace stagewright::gui {
namespace {

// Internal id of an index: 0 for a group, else one above the place of its group.
constexpr quintptr kIsGroup = 0;

std::vector<double> busy_shares(const ActionStore& store) {
  std::vector<double> busy(static_cast<std::size_t>(store.ranks), 0.0);
  for (const Lane& lane : store.lanes) {
    if (lane.use != LaneUse::kCompute || lane.number != 0 || store.length == 0) {
      continue;
    }
    std::int64_t sum = 0;
    for (ActionIndex i = lane.begin; i < lane.end; ++i) {
      sum += store.end[i] - store.start[i];
    }
    busy[lane.rank.index()] = static_cast<double>(sum) / static_cast<double>(store.length);
  }
  return busy;
}

}  // namespace

void RankTreeModel::set_actions(std::shared_ptr<const ActionStore> actions, RankAxes axes) {
  beginResetModel();
  actions_ = std::move(actions);
  axes_ = std::move(axes);
  busy_ = actions_ ? busy_shares(*actions_) : std::vector<double>{};
  rebuild();
  endResetModel();
}

void RankTreeModel::set_choices(const RowChoices& choices) {
  if (choices.group_by == choices_.group_by) {
    choices_ = choices;
    for (std::size_t group = 0; is_grouped() && group < groups_.size(); ++group) {
      const QModelIndex top = index(static_cast<int>(group), kName, {});
      emit dataChanged(top, top, {Qt::CheckStateRole});
      emit dataChanged(
          index(0, kName, top), index(rowCount(top) - 1, kName, top), {Qt::CheckStateRole});
    }
    if (!is_grouped() && rowCount({}) > 0) {
      emit dataChanged(
          index(0, kName, {}), index(rowCount({}) - 1, kName, {}), {Qt::CheckStateRole});
    }
    return;
  }
  beginResetModel();
  choices_ = choices;
  rebuild();
  endResetModel();
}

void RankTreeModel::rebuild() {
  groups_.clear();
  axis_.clear();
  if (!actions_) {
    return;
  }
  const auto axis = std::ranges::find_if(
      axes_, [&](const RankAxis& a) { return choices_.group_by && a.name == *choices_.group_by; });
  std::map<std::int32_t, std::vector<RankId>> ranks;
  std::optional<RankId> last;
  for (const Lane& lane : actions_->lanes) {
    if (lane.rank != last) {
      ranks[axis == axes_.end() ? 0 : axis->position[lane.rank.index()]].push_back(lane.rank);
      last = lane.rank;
    }
  }
  axis_ = axis == axes_.end() ? "" : axis->name;
  for (auto& [position, members] : ranks) {
    groups_.push_back({position, std::move(members)});
  }
}

QModelIndex RankTreeModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) {
    return {};
  }
  if (!is_grouped()) {
    return createIndex(row, column, quintptr{1});
  }
  return createIndex(
      row, column, parent.isValid() ? static_cast<quintptr>(parent.row()) + 1 : kIsGroup);
}

QModelIndex RankTreeModel::parent(const QModelIndex& child) const {
  if (!child.isValid() || !is_grouped() || child.internalId() == kIsGroup) {
    return {};
  }
  return createIndex(static_cast<int>(child.internalId() - 1), 0, kIsGroup);
}

int RankTreeModel::rowCount(const QModelIndex& parent) const {
  if (groups_.empty() || parent.column() > 0) {
    return 0;
  }
  if (!parent.isValid()) {
    return static_cast<int>(is_grouped() ? groups_.size() : groups_.front().ranks.size());
  }
  const Group* const group = group_at(parent);
  return group == nullptr ? 0 : static_cast<int>(group->ranks.size());
}

int RankTreeModel::columnCount(const QModelIndex&) const {
  return kColumns;
}

const RankTreeModel::Group* RankTreeModel::group_at(const QModelIndex& index) const {
  const bool is_group = index.isValid() && is_grouped() && index.internalId() == kIsGroup;
  return is_group ? &groups_[static_cast<std::size_t>(index.row())] : nullptr;
}

std::optional<RankId> RankTreeModel::rank_at(const QModelIndex& index) const {
  if (!index.isValid() || group_at(index) != nullptr) {
    return std::nullopt;
  }
  return groups_[index.internalId() - 1].ranks[static_cast<std::size_t>(index.row())];
}

QVariant RankTreeModel::check_state(const QModelIndex& index) const {
  if (const auto rank = rank_at(index)) {
    return choices_.hidden.contains(*rank) ? Qt::Unchecked : Qt::Checked;
  }
  const Group& group = *group_at(index);
  const auto hidden = std::ranges::count_if(
      group.ranks, [&](RankId rank) { return choices_.hidden.contains(rank); });
  if (hidden == 0) {
    return Qt::Checked;
  }
  return static_cast<std::size_t>(hidden) == group.ranks.size() ? Qt::Unchecked
                                                                : Qt::PartiallyChecked;
}

QVariant RankTreeModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) {
    return {};
  }
  const Group* const group = group_at(index);
  const auto rank = rank_at(index);
  if (role == kNumberRole) {
    return group != nullptr ? group->position : rank->value();
  }
  if (role == Qt::CheckStateRole && index.column() == kName) {
    return check_state(index);
  }
  if (role == Qt::TextAlignmentRole && index.column() == kBusy) {
    return QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter);
  }
  if (role != Qt::DisplayRole) {
    return {};
  }
  if (index.column() == kName) {
    return group != nullptr
               ? QStringLiteral("%1 %2").arg(QString::fromStdString(axis_)).arg(group->position)
               : tr("rank %1").arg(rank->value());
  }
  double busy = rank ? busy_[rank->index()] : 0;
  if (group != nullptr) {
    for (const RankId member : group->ranks) {
      busy += busy_[member.index()] / static_cast<double>(group->ranks.size());
    }
  }
  return QStringLiteral("%1 %").arg(100 * busy, 0, 'f', 1);
}

bool RankTreeModel::setData(const QModelIndex& index, const QVariant& value, int role) {
  if (!index.isValid() || role != Qt::CheckStateRole || index.column() != kName) {
    return false;
  }
  const Group* const group = group_at(index);
  const bool shown = value.toInt() != Qt::Unchecked;
  emit shown_changed(group != nullptr ? group->ranks : std::vector<RankId>{*rank_at(index)}, shown);
  return true;
}

QVariant RankTreeModel::headerData(int section, Qt::Orientation side, int role) const {
  if (side != Qt::Horizontal || role != Qt::DisplayRole) {
    return {};
  }
  return section == kName ? tr("Rows") : tr("Busy");
}

Qt::ItemFlags RankTreeModel::flags(const QModelIndex& index) const {
  if (!index.isValid()) {
    return Qt::NoItemFlags;
  }
  const Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemIsSelectable;
  return index.column() == kName ? flags | Qt::ItemIsUserCheckable : flags;
}

}  // namespace stagewright::gui
