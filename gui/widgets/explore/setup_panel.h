#pragma once

#include <QtWidgets/QWidget>

#include "core/base/data_files.h"
#include "gui/models/plan_search.h"
#include "gui/models/setup_check.h"

class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QPushButton;
class QSpinBox;

namespace stagewright::gui {

class ClusterForm;
class ConstraintForm;
class ModelChooser;

/// What is to be planned: model, cluster, batch, what is decided already, and what the plan shall
/// be best at.
class SetupPanel : public QWidget {
  Q_OBJECT

 public:
  explicit SetupPanel(PlanSearch* search, QWidget* parent = nullptr);

  [[nodiscard]] PlanSetup setup() const;
  void set_setup(const PlanSetup& setup);
  /// Starts the search; while one runs, gives it up.
  void search_or_stop();
  /// What stands in the way of a search; empty: nothing.  While a change is being checked, that of
  /// the setup before it.
  [[nodiscard]] QString problem() const;
  [[nodiscard]] bool is_checking() const { return check_.is_busy(); }
  /// Checks what is set up before it returns.
  void check_now();
  [[nodiscard]] ModelChooser* model() { return model_; }
  [[nodiscard]] ConstraintForm* constraints() { return constraints_; }

 signals:
  /// The user began a search.
  void search_started();

 private:
  void build();
  void add_batch_rows(QFormLayout* form);
  void add_aim_rows(QFormLayout* form);
  void take_setup();
  void take_check(const CheckedSetup& checked);
  /// A figure that the aim needs and that is not given.
  [[nodiscard]] QString missing_price() const;
  void take_state();

  PlanSearch* search_;
  Result<DataFiles> files_;
  SetupCheck check_;
  ModelChooser* model_;
  ClusterForm* cluster_;
  ConstraintForm* constraints_;
  QSpinBox* batch_;
  QSpinBox* sequence_;
  QComboBox* aim_;
  QDoubleSpinBox* price_;  ///< of what the aim needs
  QLabel* price_label_;
  QLabel* problem_;
  QPushButton* go_;
};

}  // namespace stagewright::gui
