#include "gui/widgets/explore/constraint_form.h"

#include <QtCore/QSignalBlocker>
#include <QtWidgets/QCompleter>
#include <QtWidgets/QFormLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QVBoxLayout>

#include "gui/widgets/theme.h"
#include "planner/search/constraint.h"
#include "planner/search/dimension.h"

namespace stagewright::gui {
namespace {

QString as_text(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

}  // namespace

ConstraintForm::ConstraintForm(QWidget* parent) : QScrollArea(parent), problem_(new QLabel(this)) {
  setObjectName(QStringLiteral("constraints"));
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  auto* const body = new QWidget(this);
  auto* const layout = new QVBoxLayout(body);
  auto* const hint = new QLabel(
      tr("Empty fields are searched. Write 8, or 2,4, or 4..16, or names such as zb-*."), body);
  hint->setWordWrap(true);
  problem_->setWordWrap(true);
  problem_->setAccessibleDescription(tr("What is wrong with the constraints"));
  problem_->hide();
  auto* const form = new QFormLayout;
  for (const Dimension& dimension : dimensions()) {
    auto* const field = new QLineEdit(body);
    field->setObjectName(QStringLiteral("constraint_") + as_text(dimension.name));
    field->setPlaceholderText(tr("any"));
    field->setClearButtonEnabled(true);
    QStringList words;
    for (const std::string_view word : dimension.words()) {
      words.push_back(as_text(word));
    }
    if (!words.empty()) {
      auto* const completer = new QCompleter(words, field);
      completer->setCaseSensitivity(Qt::CaseInsensitive);
      field->setCompleter(completer);
    }
    const QString help = as_text(dimension.help);
    field->setToolTip(
        words.empty() ? help : help + QLatin1String(": ") + words.join(QStringLiteral(", ")));
    field->setAccessibleDescription(help);
    auto* const label = new QLabel(as_text(dimension.name), body);
    label->setToolTip(help);
    label->setBuddy(field);
    form->addRow(label, field);
    fields_.emplace(dimension.name, field);
    connect(field, &QLineEdit::textChanged, this, &ConstraintForm::check);
  }
  layout->addWidget(hint);
  layout->addWidget(problem_);
  layout->addLayout(form);
  layout->addStretch(1);
  setWidget(body);
}

std::map<std::string, std::string> ConstraintForm::constraints() const {
  std::map<std::string, std::string> constraints;
  for (const auto& [name, field] : fields_) {
    // "2, 4" is as good as "2,4".
    if (const QString values = field->text().remove(QLatin1Char(' ')); !values.isEmpty()) {
      constraints.emplace(name, values.toStdString());
    }
  }
  return constraints;
}

void ConstraintForm::set_constraints(const std::map<std::string, std::string>& constraints) {
  for (const auto& [name, field] : fields_) {
    const QSignalBlocker quiet(field);
    const auto given = constraints.find(name);
    field->setText(given == constraints.end() ? QString() : QString::fromStdString(given->second));
  }
  check();
}

QString ConstraintForm::problem() const {
  return problem_->text();
}

void ConstraintForm::check() {
  QString problems;
  for (const auto& [name, values] : constraints()) {
    Constraints alone;
    const auto read = constrain(alone, name, values);
    QLineEdit* const field = fields_.at(name);
    QPalette colours = palette();
    if (!read) {
      colours.setColor(QPalette::Text, warning_colour(palette()));
      problems += (problems.isEmpty() ? QString() : QStringLiteral("\n")) +
                  QString::fromStdString(read.error().to_string());
    }
    field->setPalette(colours);
  }
  problem_->setText(problems);
  problem_->setVisible(!problems.isEmpty());
  emit changed();
}

}  // namespace stagewright::gui
