#pragma once

#include <QtWidgets/QFrame>

class QAction;
class QLineEdit;
class QListView;
class QSortFilterProxyModel;
class QStandardItemModel;

namespace stagewright::gui {

/// Every command of a window, found by typing a part of its name, run by Enter.
class CommandPalette : public QFrame {
  Q_OBJECT

 public:
  CommandPalette(const QList<QAction*>& commands, QWidget* window);

  /// Shows itself on top of the window.
  void open();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void fill();
  void run_chosen();
  void move_choice(int by);

  QList<QAction*> commands_;
  QLineEdit* text_;
  QListView* list_;
  QStandardItemModel* items_;
  QSortFilterProxyModel* found_;
};

}  // namespace stagewright::gui
