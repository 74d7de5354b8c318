#pragma once

#include <map>
#include <string>

#include <QtWidgets/QScrollArea>

class QLabel;
class QLineEdit;

namespace stagewright::gui {

/// What of the plan is decided already: a field for each dimension that the planner searches.
class ConstraintForm : public QScrollArea {
  Q_OBJECT

 public:
  explicit ConstraintForm(QWidget* parent = nullptr);

  /// Values by name of the dimension, as typed; without those that are left to the search.
  [[nodiscard]] std::map<std::string, std::string> constraints() const;
  void set_constraints(const std::map<std::string, std::string>& constraints);
  /// What is wrong with a field; empty if nothing is.
  [[nodiscard]] QString problem() const;

 signals:
  void changed();

 private:
  void check();

  std::map<std::string, QLineEdit*> fields_;
  QLabel* problem_;
};

}  // namespace stagewright::gui
