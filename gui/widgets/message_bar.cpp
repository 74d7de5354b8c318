#include "gui/widgets/message_bar.h"

#include <QtGui/QClipboard>
#include <QtGui/QGuiApplication>
#include <QtGui/QPainter>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QProgressBar>
#include <QtWidgets/QPushButton>

#include "gui/widgets/theme.h"

namespace stagewright::gui {

MessageBar::MessageBar(QWidget* parent)
    : QFrame(parent),
      text_(new QLabel(this)),
      progress_(new QProgressBar(this)),
      cancel_(new QPushButton(tr("Cancel"), this)),
      copy_(new QPushButton(tr("Copy"), this)),
      close_(new QPushButton(tr("Close"), this)) {
  setObjectName(QStringLiteral("message"));
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  progress_->setRange(0, 0);
  progress_->setMaximumWidth(160);
  progress_->setTextVisible(false);
  auto* const layout = new QHBoxLayout(this);
  layout->setContentsMargins(16, 6, 8, 6);
  layout->addWidget(text_, 1);
  layout->addWidget(progress_);
  layout->addWidget(cancel_);
  layout->addWidget(copy_);
  layout->addWidget(close_);
  connect(cancel_, &QPushButton::clicked, this, &MessageBar::cancelled);
  connect(copy_, &QPushButton::clicked, this, [this] {
    QGuiApplication::clipboard()->setText(text_->text());
  });
  connect(close_, &QPushButton::clicked, this, &QWidget::hide);
  hide();
}

QString MessageBar::text() const {
  return text_->text();
}

void MessageBar::show_error(const QString& message) {
  error_ = true;
  text_->setText(message);
  progress_->hide();
  cancel_->hide();
  copy_->show();
  close_->show();
  show();
  update();
}

void MessageBar::show_work(const QString& what) {
  error_ = false;
  text_->setText(what);
  progress_->show();
  cancel_->show();
  copy_->hide();
  close_->hide();
  show();
  update();
}

void MessageBar::work_done() {
  if (!error_) {
    hide();
  }
}

void MessageBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const QColor accent = error_ ? warning_colour(palette()) : palette().color(QPalette::Highlight);
  QColor fill = accent;
  fill.setAlpha(28);
  painter.fillRect(rect(), fill);
  painter.fillRect(QRect(0, 0, 5, height()), accent);
}

}  // namespace stagewright::gui
