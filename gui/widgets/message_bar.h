#pragma once

#include <QtWidgets/QFrame>

class QLabel;
class QProgressBar;
class QPushButton;

namespace stagewright::gui {

/// A line above the views that says what went wrong, or what goes on and can be cancelled.  It
/// never stands in the way of work.
class MessageBar : public QFrame {
  Q_OBJECT

 public:
  explicit MessageBar(QWidget* parent = nullptr);

  void show_error(const QString& message);
  void show_work(const QString& what);
  /// Work is over; an error stays until it is closed.
  void work_done();
  [[nodiscard]] QString text() const;
  [[nodiscard]] bool shows_error() const { return error_; }

 signals:
  void cancelled();

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  QLabel* text_;
  QProgressBar* progress_;
  QPushButton* cancel_;
  QPushButton* copy_;
  QPushButton* close_;
  bool error_ = false;
};

}  // namespace stagewright::gui
