#pragma once

#include <vector>

#include <QtWidgets/QWidget>

#include "gui/models/plan_editor.h"

class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QSpinBox;

namespace stagewright::gui {

/// The numbers of the open plan and of the cluster that it is imagined on.  Each change is
/// simulated at once; below stands what it does to the step.
class PlanControls : public QWidget {
  Q_OBJECT

 public:
  explicit PlanControls(PlanEditor* editor, QWidget* parent = nullptr);

  [[nodiscard]] QString verdict() const;
  /// Why the last change was not made; empty if it was.
  [[nodiscard]] QString refusal() const;

 private:
  /// A factor of WhatIf.
  struct Factor {
    QDoubleSpinBox* box = nullptr;
    double WhatIf::*value = nullptr;
  };
  void add_plan_rows(QFormLayout* form);
  void add_factor(QFormLayout* form, const QString& name, double WhatIf::*value);
  QSpinBox* add_number(QFormLayout* form,
                       const QString& label,
                       const char* name,
                       const QString& undo_text,
                       Result<PlanDraft> (*set)(PlanDraft, std::int32_t));
  void take_draft();
  void show_parameters(const Plan& plan);
  void show_verdict();
  void refuse(const QString& why);

  PlanEditor* editor_;
  QComboBox* schedule_;
  QWidget* parameters_;
  QFormLayout* parameter_form_;
  QString parameters_of_;  ///< the schedule whose parameters are shown
  QComboBox* recompute_;
  QSpinBox* virtual_stages_ = nullptr;
  QSpinBox* micro_batches_ = nullptr;
  QSpinBox* micro_batch_size_ = nullptr;
  std::vector<Factor> factors_;
  QLabel* verdict_;
  QLabel* refusal_;
};

}  // namespace stagewright::gui
