#pragma once

#include <QtWidgets/QWidget>

#include "core/base/data_files.h"
#include "gui/models/plan_setup.h"

class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QSpinBox;

namespace stagewright::gui {

class TopologyView;

/// The cluster: so many nodes of one kind, or a preset or file; its links; and a picture of it.
class ClusterForm : public QWidget {
  Q_OBJECT

 public:
  explicit ClusterForm(const DataFiles& files, QWidget* parent = nullptr);

  [[nodiscard]] ClusterChoice choice() const;
  void set_choice(const ClusterChoice& choice);
  void set_cluster(const Result<Cluster>& cluster);

 signals:
  void changed();

 private:
  void choose_file();
  QDoubleSpinBox* add_link(QFormLayout* form,
                           const QString& label,
                           const char* name,
                           const QString& unit);

  QComboBox* named_;
  QSpinBox* nodes_;
  QSpinBox* devices_;
  QComboBox* device_;
  QDoubleSpinBox* node_bandwidth_ = nullptr;
  QDoubleSpinBox* network_bandwidth_ = nullptr;
  QDoubleSpinBox* network_latency_ = nullptr;
  TopologyView* topology_;
};

}  // namespace stagewright::gui
