#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <QtCore/QAbstractItemModel>

#include "gui/models/action_store.h"
#include "gui/models/rank_axes.h"
#include "gui/models/row_layout.h"

namespace stagewright::gui {

/// The ranks of a timeline as a tree, below their groups where they are grouped.  A check mark says
/// that a rank is shown; it can be set for a whole group.
class RankTreeModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column {
    kName,
    kBusy,  ///< share of the step in which it computes
    kColumns
  };
  /// The rank's number; of a group the position on the axis.
  static constexpr int kNumberRole = Qt::UserRole;

  explicit RankTreeModel(QObject* parent = nullptr) : QAbstractItemModel(parent) {}

  void set_actions(std::shared_ptr<const ActionStore> actions, RankAxes axes);
  /// Takes over which ranks are hidden and how they are grouped.
  void set_choices(const RowChoices& choices);

  [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& child) const override;
  [[nodiscard]] int rowCount(const QModelIndex& parent) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  bool setData(const QModelIndex& index, const QVariant& value, int role) override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation side, int role) const override;
  [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;

  /// The rank at an index; nothing for a group.
  [[nodiscard]] std::optional<RankId> rank_at(const QModelIndex& index) const;

 signals:
  /// The user showed or hid ranks.
  void shown_changed(const std::vector<RankId>& ranks, bool shown);

 private:
  struct Group {
    std::int32_t position = 0;
    std::vector<RankId> ranks;
  };
  void rebuild();
  [[nodiscard]] bool is_grouped() const { return !axis_.empty(); }
  [[nodiscard]] const Group* group_at(const QModelIndex& index) const;
  [[nodiscard]] QVariant check_state(const QModelIndex& index) const;

  std::shared_ptr<const ActionStore> actions_;
  RankAxes axes_;
  RowChoices choices_;
  std::string axis_;
  std::vector<Group> groups_;  ///< one without a position where nothing is grouped
  std::vector<double> busy_;   ///< by rank
};

}  // namespace stagewright::gui
