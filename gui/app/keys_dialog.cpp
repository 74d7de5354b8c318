#include "gui/app/keys_dialog.h"

#include <QtGui/QAction>
#include <QtWidgets/QDialogButtonBox>
#include <QtWidgets/QHeaderView>
#include <QtWidgets/QKeySequenceEdit>
#include <QtWidgets/QLabel>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QTableWidget>
#include <QtWidgets/QVBoxLayout>

#include "gui/app/command_set.h"

namespace stagewright::gui {

KeysDialog::KeysDialog(CommandSet* commands, QWidget* parent)
    : QDialog(parent),
      commands_(commands),
      table_(new QTableWidget(this)),
      verdict_(new QLabel(this)) {
  setWindowTitle(tr("Keys"));
  resize(560, 600);
  table_->setColumnCount(2);
  table_->setHorizontalHeaderLabels({tr("Command"), tr("Key")});
  table_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
  table_->horizontalHeader()->resizeSection(1, 180);
  table_->verticalHeader()->hide();
  table_->setAccessibleName(tr("Commands and their keys"));
  auto* const buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
  QPushButton* const reset = buttons->addButton(tr("Reset all"), QDialogButtonBox::ResetRole);
  auto* const layout = new QVBoxLayout(this);
  layout->addWidget(table_, 1);
  layout->addWidget(verdict_);
  layout->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(reset, &QPushButton::clicked, this, &KeysDialog::reset);
  fill();
}

QString KeysDialog::verdict() const {
  return verdict_->text();
}

void KeysDialog::fill() {
  const QList<QAction*>& actions = commands_->actions();
  table_->setRowCount(static_cast<int>(actions.size()));
  for (int row = 0; row < actions.size(); ++row) {
    QString name = actions[row]->text();
    name.remove(QLatin1Char('&'));
    auto* const item = new QTableWidgetItem(name);
    item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable);
    table_->setItem(row, 0, item);
    auto* const edit = new QKeySequenceEdit(actions[row]->shortcut(), table_);
    edit->setAccessibleName(name);
    connect(edit, &QKeySequenceEdit::editingFinished, this, [this, edit, row] {
      if (!set_key(row, edit->keySequence())) {
        edit->setKeySequence(commands_->actions()[row]->shortcut());
      }
    });
    table_->setCellWidget(row, 1, edit);
  }
}

bool KeysDialog::set_key(int row, const QKeySequence& key) {
  QAction* const action = commands_->actions()[row];
  if (const QAction* const holder = commands_->holder_of(key, action)) {
    QString name = holder->text();
    verdict_->setText(
        tr("%1 already does: %2")
            .arg(key.toString(QKeySequence::NativeText), name.remove(QLatin1Char('&'))));
    return false;
  }
  verdict_->clear();
  commands_->set_keys(action, key.isEmpty() ? QList<QKeySequence>{} : QList<QKeySequence>{key});
  return true;
}

void KeysDialog::reset() {
  for (QAction* const action : commands_->actions()) {
    commands_->set_keys(action, commands_->default_keys(action));
  }
  verdict_->clear();
  fill();
}

}  // namespace stagewright::gui
