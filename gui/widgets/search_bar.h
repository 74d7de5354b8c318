#pragma once

#include <QtWidgets/QWidget>

class QLabel;
class QLineEdit;

namespace stagewright::gui {

class TimelineView;

/// Finds actions: "F12", "kind:B rank:3 dur>2ms".  What is found is ticked on the overview and
/// outlined in the timeline; Enter goes from one to the next.
class SearchBar : public QWidget {
  Q_OBJECT

 public:
  explicit SearchBar(TimelineView* timeline, QWidget* parent = nullptr);

  /// Shows itself, ready to type.
  void start();
  void search(const QString& text);
  [[nodiscard]] QString verdict() const;

 signals:
  void closed();

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void run();

  TimelineView* timeline_;
  QLineEdit* text_;
  QLabel* verdict_;
};

}  // namespace stagewright::gui
