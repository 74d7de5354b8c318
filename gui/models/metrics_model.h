#pragma once

#include <vector>

#include <QtCore/QAbstractTableModel>

#include "gui/models/run_process.h"

namespace stagewright::gui {

/// A row for each step of a run, the last on top.
class MetricsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column {
    kStep,
    kLoss,
    kNorm,
    kTime,
    kTokens,
    kColumns
  };

  explicit MetricsModel(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

  void clear();
  void add(const StepMetrics& metrics);

  [[nodiscard]] int rowCount(const QModelIndex& parent) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation side, int role) const override;

 private:
  std::vector<StepMetrics> steps_;
};

}  // namespace stagewright::gui
