#pragma once

#include <optional>

#include <QtCore/QAbstractItemModel>

#include "gui/models/model_outline.h"

namespace stagewright::gui {

/// The layers of a model, equal ones in one row, and below each its operations.
class LayerTreeModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column {
    kName,
    kParameters,
    kFlops,
    kForward,
    kBackward,
    kKept,
    kColumns
  };

  explicit LayerTreeModel(QObject* parent = nullptr) : QAbstractItemModel(parent) {}

  void set_outline(std::optional<ModelOutline> outline);
  [[nodiscard]] const std::optional<ModelOutline>& outline() const { return outline_; }

  [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& child) const override;
  [[nodiscard]] int rowCount(const QModelIndex& parent) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation side, int role) const override;

 private:
  std::optional<ModelOutline> outline_;
};

/// "70.6 B", "1.05 M": a count for people.
[[nodiscard]] QString count_text(double count);

}  // namespace stagewright::gui
