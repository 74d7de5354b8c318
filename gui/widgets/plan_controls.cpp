#include "gui/widgets/plan_controls.h"

#include <algorithm>
#include <array>
#include <utility>

#include <QtCore/QLocale>
#include <QtCore/QSignalBlocker>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QDoubleSpinBox>
#include <QtWidgets/QFormLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QSpinBox>
#include <QtWidgets/QVBoxLayout>

#include "gui/widgets/theme.h"
#include "planner/schedules/registry.h"

namespace stagewright::gui {
namespace {

constexpr int kMostNumber = 1'000'000;
constexpr std::array kRecomputes{Recompute::kNone, Recompute::kSelective, Recompute::kFull};

QString qstring(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// Follows each other's steps of one box: they are undone together.
int merge_id(const QObject* box) {
  return static_cast<int>(qHash(box->objectName()) & 0x7FFFFFFFU);
}

QString change_text(double now, double before) {
  const double change = before > 0 ? now / before - 1 : 0;
  return QStringLiteral("%1%2 %")
      .arg(change > 0 ? QStringLiteral("+") : QString())
      .arg(100 * change, 0, 'f', 1);
}

}  // namespace

PlanControls::PlanControls(PlanEditor* editor, QWidget* parent)
    : QWidget(parent),
      editor_(editor),
      schedule_(new QComboBox(this)),
      parameters_(new QWidget(this)),
      parameter_form_(new QFormLayout(parameters_)),
      recompute_(new QComboBox(this)),
      verdict_(new QLabel(this)),
      refusal_(new QLabel(this)) {
  setObjectName(QStringLiteral("plan"));
  auto* const form = new QFormLayout;
  add_plan_rows(form);
  add_factor(form, tr("Links in a node ×"), &WhatIf::node_bandwidth);
  add_factor(form, tr("Network rate ×"), &WhatIf::network_bandwidth);
  add_factor(form, tr("Network latency ×"), &WhatIf::network_latency);
  add_factor(form, tr("Device memory ×"), &WhatIf::memory);
  for (QLabel* const label : {verdict_, refusal_}) {
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  }
  verdict_->setAccessibleDescription(tr("What the plan comes to"));
  refusal_->setAccessibleDescription(tr("Why the change was not made"));
  refusal_->hide();
  auto* const layout = new QVBoxLayout(this);
  layout->addWidget(verdict_);
  layout->addWidget(refusal_);
  layout->addLayout(form);
  layout->addStretch(1);
  connect(editor_, &PlanEditor::changed, this, &PlanControls::take_draft);
  connect(editor_, &PlanEditor::refused, this, &PlanControls::refuse);
  take_draft();
}

void PlanControls::add_plan_rows(QFormLayout* form) {
  schedule_->setObjectName(QStringLiteral("schedule"));
  for (const ScheduleGenerator& generator : schedule_generators()) {
    if (!generator.synthesised) {  // a search is no matter of milliseconds
      schedule_->addItem(qstring(generator.name));
      schedule_->setItemData(schedule_->count() - 1, qstring(generator.summary), Qt::ToolTipRole);
    }
  }
  form->addRow(tr("&Schedule"), schedule_);
  connect(schedule_, &QComboBox::activated, this, [this](int index) {
    const QString name = schedule_->itemText(index);
    editor_->change(tr("Schedule %1").arg(name), [name](PlanDraft draft) {
      return with_schedule(std::move(draft), name.toStdString());
    });
  });
  parameter_form_->setContentsMargins(0, 0, 0, 0);
  form->addRow(parameters_);
  virtual_stages_ = add_number(
      form, tr("Stages a &rank"), "virtual_stages", tr("Stages a rank"), with_virtual_stages);
  micro_batches_ = add_number(form,
                              tr("Micro-&batches"),
                              "micro_batches",
                              tr("Number of micro-batches"),
                              with_micro_batches);
  micro_batch_size_ = add_number(form,
                                 tr("Micro-batch si&ze"),
                                 "micro_batch_size",
                                 tr("Size of a micro-batch"),
                                 with_micro_batch_size);
  recompute_->setObjectName(QStringLiteral("recompute"));
  for (const Recompute each : kRecomputes) {
    recompute_->addItem(qstring(name_of(each)));
  }
  form->addRow(tr("R&ecompute"), recompute_);
  connect(recompute_, &QComboBox::activated, this, [this](int index) {
    const Recompute chosen = kRecomputes.at(static_cast<std::size_t>(index));
    editor_->change(tr("Recompute %1").arg(qstring(name_of(chosen))),
                    [chosen](PlanDraft draft) { return with_recompute(std::move(draft), chosen); });
  });
}

QSpinBox* PlanControls::add_number(QFormLayout* form,
                                   const QString& label,
                                   const char* name,
                                   const QString& undo_text,
                                   Result<PlanDraft> (*set)(PlanDraft, std::int32_t)) {
  auto* const box = new QSpinBox(this);
  box->setObjectName(QString::fromLatin1(name));
  box->setRange(1, kMostNumber);
  box->setKeyboardTracking(false);
  form->addRow(label, box);
  connect(box, &QSpinBox::valueChanged, this, [this, box, undo_text, set](int value) {
    editor_->change(
        undo_text,
        [set, value](PlanDraft draft) { return set(std::move(draft), value); },
        merge_id(box));
  });
  return box;
}

void PlanControls::add_factor(QFormLayout* form, const QString& name, double WhatIf::*value) {
  auto* const box = new QDoubleSpinBox(this);
  box->setObjectName(QStringLiteral("what_if_%1").arg(factors_.size()));
  box->setAccessibleName(name);
  box->setRange(0.01, 100);
  box->setSingleStep(0.1);
  box->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
  box->setKeyboardTracking(false);
  form->addRow(name, box);
  factors_.push_back({box, value});
  connect(box, &QDoubleSpinBox::valueChanged, this, [this, box, name, value](double factor) {
    editor_->change(
        tr("%1 %2").arg(name).arg(factor),
        [value, factor](PlanDraft draft) -> Result<PlanDraft> {
          draft.what_if.*value = factor;
          return draft;
        },
        merge_id(box));
  });
}

void PlanControls::take_draft() {
  const PlanDraft* const draft = editor_->draft();
  setEnabled(draft != nullptr);
  refusal_->hide();
  refusal_->clear();
  show_verdict();
  if (draft == nullptr) {
    return;
  }
  const Plan& plan = draft->inputs.plan;
  const auto show = [](QSpinBox* box, int value) {
    const QSignalBlocker quiet(box);
    box->setValue(value);
  };
  show(virtual_stages_, plan.virtual_stages);
  show(micro_batches_, plan.micro_batches);
  show(micro_batch_size_, plan.micro_batch_size);
  const QSignalBlocker quiet(schedule_);
  schedule_->setCurrentText(QString::fromStdString(plan.schedule));
  recompute_->setCurrentText(qstring(name_of(plan.stages.front().recompute)));
  for (const Factor& factor : factors_) {
    const QSignalBlocker still(factor.box);
    factor.box->setValue(draft->what_if.*factor.value);
  }
  show_parameters(plan);
}

/// A box for each parameter of the schedule; its lowest value leaves the choice to the schedule.
void PlanControls::show_parameters(const Plan& plan) {
  constexpr int kChosenBySchedule = -1;
  const auto name_of_schedule = QString::fromStdString(plan.schedule);
  const auto generator = find_schedule(plan.schedule);
  if (!generator) {
    return;
  }
  if (parameters_of_ != name_of_schedule) {
    parameters_of_ = name_of_schedule;
    while (parameter_form_->rowCount() > 0) {
      parameter_form_->removeRow(0);
    }
    for (const std::string_view parameter : generator->parameters) {
      auto* const box = new QSpinBox(parameters_);
      box->setObjectName(QStringLiteral("parameter_") + qstring(parameter));
      box->setRange(kChosenBySchedule, kMostNumber);
      box->setSpecialValueText(tr("by the schedule"));
      box->setKeyboardTracking(false);
      parameter_form_->addRow(qstring(parameter), box);
      connect(box, &QSpinBox::valueChanged, this, [this, box, parameter](int value) {
        const std::optional<std::int64_t> given =
            value == kChosenBySchedule ? std::nullopt : std::optional<std::int64_t>(value);
        editor_->change(
            tr("Parameter %1").arg(qstring(parameter)),
            [name = std::string(parameter), given](PlanDraft draft) {
              return with_parameter(std::move(draft), name, given);
            },
            merge_id(box));
      });
    }
  }
  for (const std::string_view parameter : generator->parameters) {
    auto* const box =
        parameters_->findChild<QSpinBox*>(QStringLiteral("parameter_") + qstring(parameter));
    const auto given = plan.schedule_parameters.find(std::string(parameter));
    const QSignalBlocker quiet(box);
    box->setValue(given == plan.schedule_parameters.end() ? kChosenBySchedule
                                                          : static_cast<int>(given->second));
  }
  parameters_->setVisible(!generator->parameters.empty());
}

void PlanControls::show_verdict() {
  const std::optional<Summary> now = editor_->shown_summary();
  const auto& before = editor_->opened_summary();
  if (editor_->draft() == nullptr || !now || !before) {
    verdict_->setText(tr("Open a plan to change it."));
    return;
  }
  QString text = tr("<b>%1</b> a step (%2), %3 tokens/s (%4)")
                     .arg(QString::fromStdString(to_string(now->step_time)),
                          change_text(to_seconds(now->step_time), to_seconds(before->step_time)),
                          QLocale().toString(now->tokens_per_second, 'f', 0),
                          change_text(now->tokens_per_second, before->tokens_per_second));
  if (now->mfu) {
    text += tr(", MFU %1 %").arg(100 * *now->mfu, 0, 'f', 1);
  }
  text += tr("<br>idle %1 %, memory %2")
              .arg(QString::number(100 * now->bubble, 'f', 1),
                   QString::fromStdString(to_string(now->peak_memory)));
  if (!now->fits) {
    text +=
        tr(" <b><font color=\"%1\">does not fit</font></b>").arg(warning_colour(palette()).name());
  }
  if (editor_->draft()->order) {
    text += tr("<br>Actions were moved by hand; a schedule file keeps them.");
  }
  verdict_->setText(text);
}

QString PlanControls::verdict() const {
  return verdict_->text();
}

QString PlanControls::refusal() const {
  return refusal_->text();
}

void PlanControls::refuse(const QString& why) {
  take_draft();
  refusal_->setText(tr("Not changed: %1").arg(why.toHtmlEscaped()));
  refusal_->show();
}

}  // namespace stagewright::gui
