#include "gui/widgets/search_bar.h"

#include <QtGui/QKeyEvent>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QToolButton>

#include "gui/models/search_query.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace stagewright::gui {

SearchBar::SearchBar(TimelineView* timeline, QWidget* parent)
    : QWidget(parent), timeline_(timeline), text_(new QLineEdit(this)), verdict_(new QLabel(this)) {
  setObjectName(QStringLiteral("search"));
  text_->setPlaceholderText(tr("F12, or kind:B mb:12 rank:3-5 stage:1 dur>2ms"));
  text_->setClearButtonEnabled(true);
  text_->setAccessibleName(tr("Find actions"));
  auto* const close = new QToolButton(this);
  close->setText(QStringLiteral("\u00d7"));
  close->setAccessibleName(tr("Close the search"));
  close->setAutoRaise(true);
  auto* const layout = new QHBoxLayout(this);
  layout->setContentsMargins(8, 4, 8, 4);
  layout->addWidget(new QLabel(tr("Find"), this));
  layout->addWidget(text_, 1);
  layout->addWidget(verdict_);
  layout->addWidget(close);
  connect(text_, &QLineEdit::textChanged, this, &SearchBar::run);
  connect(timeline_->document(), &Document::changed, this, &SearchBar::run);
  connect(close, &QToolButton::clicked, this, &SearchBar::closed);
  hide();
}

void SearchBar::start() {
  show();
  text_->setFocus();
  text_->selectAll();
}

void SearchBar::search(const QString& text) {
  text_->setText(text);
}

QString SearchBar::verdict() const {
  return verdict_->text();
}

void SearchBar::run() {
  const auto actions = timeline_->document()->actions();
  const auto query = parse_search(text_->text().toStdString());
  if (!query) {
    verdict_->setText(QString::fromStdString(query.error().message));
    timeline_->selection()->set_hits({});
    return;
  }
  const bool asks = actions && !query->empty();
  timeline_->selection()->set_hits(asks ? find_actions(*query, *actions)
                                        : std::vector<ActionIndex>{});
  verdict_->setText(
      asks ? tr("%n found", nullptr, static_cast<int>(timeline_->selection()->hits().size()))
           : QString());
}

void SearchBar::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
      timeline_->select_hit(event->modifiers().testFlag(Qt::ShiftModifier) ? Direction::kBack
                                                                           : Direction::kForth);
      break;
    case Qt::Key_Escape:
      emit closed();
      break;
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace stagewright::gui
