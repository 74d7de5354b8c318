#pragma once

#include <QtWidgets/QDialog>

class QLabel;
class QTableWidget;

namespace stagewright::gui {

class CommandSet;

/// Every command with its key, which can be changed.  A key that another command has is refused,
/// naming it.
class KeysDialog : public QDialog {
  Q_OBJECT

 public:
  explicit KeysDialog(CommandSet* commands, QWidget* parent = nullptr);

  /// False where another command has the key.
  bool set_key(int row, const QKeySequence& key);
  [[nodiscard]] QString verdict() const;

 private:
  void fill();
  void reset();

  CommandSet* commands_;
  QTableWidget* table_;
  QLabel* verdict_;
};

}  // namespace stagewright::gui
