#pragma once

#include <QtWidgets/QWidget>

class QLabel;
class QVBoxLayout;

namespace stagewright::gui {

/// What stands in the middle while nothing is open: what can be done, and what was open lately.
class StartPage : public QWidget {
  Q_OBJECT

 public:
  explicit StartPage(QWidget* parent = nullptr);

  void set_recent(const QStringList& paths);

 signals:
  void explore_asked();
  void open_asked();
  void example_asked();
  void file_chosen(const QString& path);

 private:
  QVBoxLayout* recent_;
  QLabel* recent_title_;
};

}  // namespace stagewright::gui
