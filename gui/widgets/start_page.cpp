#include "gui/widgets/start_page.h"

#include <QtCore/QFileInfo>
#include <QtWidgets/QLabel>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QVBoxLayout>

namespace stagewright::gui {
namespace {

constexpr int kWidth = 460;
constexpr int kChoiceHeight = 40;

/// A wide button with a line below it that says more.
QPushButton* add_choice(const QString& text, const QString& more, QVBoxLayout& column) {
  auto* const button = new QPushButton(text);
  button->setMinimumHeight(kChoiceHeight);
  button->setAccessibleDescription(more);
  auto* const line = new QLabel(more);
  line->setForegroundRole(QPalette::PlaceholderText);
  column.addWidget(button);
  column.addWidget(line);
  column.addSpacing(kChoiceHeight / 4);
  return button;
}

}  // namespace

StartPage::StartPage(QWidget* parent)
    : QWidget(parent), recent_(new QVBoxLayout), recent_title_(new QLabel(this)) {
  setObjectName(QStringLiteral("start"));
  // It makes no window taller, least of all while it is not shown.
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Ignored);
  auto* const title = new QLabel(tr("Stagewright"), this);
  QFont font = title->font();
  font.setPointSizeF(font.pointSizeF() * 2);
  title->setFont(font);
  auto* const text = new QLabel(
      tr("Shows what every device does during a training step: of a plan, a schedule, or a run."),
      this);
  text->setWordWrap(true);
  recent_title_->setText(tr("Opened lately"));
  auto* const column = new QVBoxLayout;
  column->addWidget(title);
  column->addWidget(text);
  column->addSpacing(12);
  QPushButton* const explore =
      add_choice(tr("Plan a model"), tr("Search how to train it on a cluster"), *column);
  explore->setObjectName(QStringLiteral("start_explore"));
  QPushButton* const open =
      add_choice(tr("Open a file"), tr("A plan, a schedule, a pipeline order or a trace"), *column);
  QPushButton* const example =
      add_choice(tr("Look at an example"), tr("Llama 3 70B on 128 H100, simulated"), *column);
  auto* const drop = new QLabel(tr("Or drop a file anywhere on this window."), this);
  drop->setForegroundRole(QPalette::PlaceholderText);
  column->addWidget(drop);
  column->addSpacing(16);
  column->addWidget(recent_title_);
  column->addLayout(recent_);
  auto* const box = new QWidget(this);
  box->setLayout(column);
  box->setFixedWidth(kWidth);
  auto* const layout = new QVBoxLayout(this);
  layout->addStretch(1);
  layout->addWidget(box, 0, Qt::AlignHCenter);
  layout->addStretch(2);
  connect(explore, &QPushButton::clicked, this, &StartPage::explore_asked);
  connect(open, &QPushButton::clicked, this, &StartPage::open_asked);
  connect(example, &QPushButton::clicked, this, &StartPage::example_asked);
  set_recent({});
}

void StartPage::set_recent(const QStringList& paths) {
  while (QLayoutItem* const item = recent_->takeAt(0)) {
    item->widget()->deleteLater();
    delete item;  // NOLINT: Qt hands it over
  }
  for (const QString& path : paths) {
    auto* const link = new QLabel(this);
    link->setText(QStringLiteral("<a href=\"%1\">%2</a>")
                      .arg(path.toHtmlEscaped(), QFileInfo(path).fileName().toHtmlEscaped()));
    link->setToolTip(path);
    link->setMinimumHeight(link->sizeHint().height() + 4);
    link->setFocusPolicy(Qt::StrongFocus);
    link->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    connect(link, &QLabel::linkActivated, this, &StartPage::file_chosen);
    recent_->addWidget(link);
  }
  recent_title_->setVisible(!paths.empty());
}

}  // namespace stagewright::gui
