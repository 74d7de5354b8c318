#include "gui/widgets/command_palette.h"

#include <QtCore/QRegularExpression>
#include <QtCore/QSortFilterProxyModel>
#include <QtGui/QAction>
#include <QtGui/QKeyEvent>
#include <QtGui/QPainter>
#include <QtGui/QStandardItemModel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QListView>
#include <QtWidgets/QStyledItemDelegate>
#include <QtWidgets/QVBoxLayout>

namespace stagewright::gui {
namespace {

constexpr int kCommandRole = Qt::UserRole;
constexpr int kKeyRole = Qt::UserRole + 1;
constexpr int kWidth = 560;
constexpr int kHeight = 420;

/// The command's name on the left, its key on the right.
class CommandDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  void paint(QPainter* painter,
             const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    QStyledItemDelegate::paint(painter, option, index);
    const bool chosen = option.state.testFlag(QStyle::State_Selected);
    painter->setPen(
        option.palette.color(chosen ? QPalette::HighlightedText : QPalette::PlaceholderText));
    painter->drawText(option.rect.adjusted(0, 0, -10, 0),
                      Qt::AlignRight | Qt::AlignVCenter,
                      index.data(kKeyRole).toString());
  }
  [[nodiscard]] QSize sizeHint(const QStyleOptionViewItem& option,
                               const QModelIndex& index) const override {
    return {QStyledItemDelegate::sizeHint(option, index).width(), 26};
  }
};

}  // namespace

CommandPalette::CommandPalette(const QList<QAction*>& commands, QWidget* window)
    : QFrame(window, Qt::Popup),
      commands_(commands),
      text_(new QLineEdit(this)),
      list_(new QListView(this)),
      items_(new QStandardItemModel(this)),
      found_(new QSortFilterProxyModel(this)) {
  setObjectName(QStringLiteral("palette"));
  setFrameShape(QFrame::StyledPanel);
  text_->setPlaceholderText(tr("Type what you want to do"));
  text_->setAccessibleName(tr("Command"));
  text_->installEventFilter(this);
  found_->setSourceModel(items_);
  found_->setFilterCaseSensitivity(Qt::CaseInsensitive);
  list_->setModel(found_);
  list_->setItemDelegate(new CommandDelegate(list_));
  list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setAccessibleName(tr("Commands"));
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(8, 8, 8, 8);
  layout->addWidget(text_);
  layout->addWidget(list_, 1);
  resize(kWidth, kHeight);
  connect(text_, &QLineEdit::textChanged, this, [this](const QString& text) {
    // Parts of words in their order: "gr st" finds "Group by stage".
    QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    for (QString& word : words) {
      word = QRegularExpression::escape(word);
    }
    found_->setFilterRegularExpression(QRegularExpression(
        words.join(QStringLiteral(".*")), QRegularExpression::CaseInsensitiveOption));
    move_choice(0);
  });
  connect(list_, &QListView::clicked, this, &CommandPalette::run_chosen);
}

void CommandPalette::fill() {
  items_->clear();
  for (QAction* const command : commands_) {
    if (!command->isEnabled()) {
      continue;
    }
    QString name = command->text();
    name.remove(QLatin1Char('&'));
    if (command->isCheckable() && command->isChecked()) {
      name += tr(" (on)");
    }
    auto* const item = new QStandardItem(name);
    item->setData(QVariant::fromValue(command), kCommandRole);
    item->setData(command->shortcut().toString(QKeySequence::NativeText), kKeyRole);
    items_->appendRow(item);
  }
}

void CommandPalette::open() {
  fill();
  text_->clear();
  const QWidget* const window = parentWidget();
  move(window->mapToGlobal(QPoint((window->width() - width()) / 2, 60)));
  show();
  text_->setFocus();
  move_choice(0);
}

void CommandPalette::move_choice(int by) {
  const int rows = found_->rowCount();
  if (rows == 0) {
    return;
  }
  const int now = list_->currentIndex().isValid() ? list_->currentIndex().row() : 0;
  list_->setCurrentIndex(found_->index(by == 0 ? 0 : (now + by + rows) % rows, 0));
}

void CommandPalette::run_chosen() {
  const QModelIndex index = list_->currentIndex();
  hide();
  if (index.isValid()) {
    index.data(kCommandRole).value<QAction*>()->trigger();
  }
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) {
    return QFrame::eventFilter(watched, event);
  }
  switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Down:
      move_choice(1);
      return true;
    case Qt::Key_Up:
      move_choice(-1);
      return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      run_chosen();
      return true;
    case Qt::Key_Escape:
      hide();
      return true;
    default:
      return QFrame::eventFilter(watched, event);
  }
}

}  // namespace stagewright::gui
