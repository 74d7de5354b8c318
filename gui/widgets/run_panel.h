#pragma once

#include <QtWidgets/QWidget>

#include "gui/models/document.h"
#include "gui/models/metrics_model.h"
#include "gui/models/run_process.h"
#include "gui/models/selection.h"

class QCheckBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace stagewright::gui {

class TimelineView;

/// Starts a run of the plan that is open, shows its steps and what every rank did in them as they
/// come, and ends it.
class RunPanel : public QWidget {
  Q_OBJECT

 public:
  explicit RunPanel(Document* document, QWidget* parent = nullptr);

  [[nodiscard]] RunProcess* process() { return &process_; }
  [[nodiscard]] QString verdict() const;
  /// The step of the run that ended last, as far as it was told.
  [[nodiscard]] TimelineView* lanes() { return lanes_; }
  void set_data(const QString& path);
  void set_steps(int steps);
  void start();
  void stop();

 signals:
  /// A run has left this trace, and a user wants to see it.
  void open_asked(const QString& path);
  /// The same beside what is open.
  void compare_asked(const QString& path);

 private:
  void build();
  void choose_data();
  void refresh();
  void take_step();
  /// Shows another step of the run.
  void show_lanes(const QString& path);
  void take_lanes();
  void fail(const QString& why);

  Document* document_;
  RunProcess process_;
  MetricsModel* metrics_;
  QLineEdit* data_;
  QSpinBox* steps_;
  QCheckBox* virtual_clock_;
  QPushButton* start_;
  QPushButton* stop_;
  QPushButton* open_;
  QPushButton* compare_;
  QLabel* verdict_;
  Document lanes_file_;  ///< the run's, beside the plan that stays open
  Selection lanes_selection_;
  TimelineView* lanes_;
  QLabel* lanes_title_;
  double lanes_length_ = 0;  ///< of the step that is shown
};

}  // namespace stagewright::gui
