#include "gui/widgets/run_panel.h"

#include <QtCore/QFileInfo>
#include <QtCore/QSettings>
#include <QtWidgets/QCheckBox>
#include <QtWidgets/QFileDialog>
#include <QtWidgets/QFormLayout>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QHeaderView>
#include <QtWidgets/QLabel>
#include <QtWidgets/QLineEdit>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QSpinBox>
#include <QtWidgets/QSplitter>
#include <QtWidgets/QTableView>
#include <QtWidgets/QVBoxLayout>

#include "core/schedule/schedule.h"
#include "gui/models/statistics_model.h"
#include "gui/widgets/timeline/timeline_view.h"

namespace stagewright::gui {

RunPanel::RunPanel(Document* document, QWidget* parent)
    : QWidget(parent),
      document_(document),
      metrics_(new MetricsModel(this)),
      data_(new QLineEdit(QSettings().value(QStringLiteral("run/data")).toString(), this)),
      steps_(new QSpinBox(this)),
      virtual_clock_(new QCheckBox(tr("As if every rank had a &core of its own"), this)),
      start_(new QPushButton(tr("&Run"), this)),
      stop_(new QPushButton(tr("&Stop"), this)),
      open_(new QPushButton(tr("&Open its trace"), this)),
      compare_(new QPushButton(tr("&Compare with the prediction"), this)),
      verdict_(new QLabel(this)),
      lanes_(new TimelineView(&lanes_file_, &lanes_selection_, this)),
      lanes_title_(new QLabel(this)) {
  setObjectName(QStringLiteral("run"));
  build();
  connect(start_, &QPushButton::clicked, this, &RunPanel::start);
  connect(stop_, &QPushButton::clicked, this, &RunPanel::stop);
  connect(open_, &QPushButton::clicked, this, [this] { emit open_asked(process_.trace_path()); });
  compare_->setObjectName(QStringLiteral("run_compare"));
  connect(
      compare_, &QPushButton::clicked, this, [this] { emit compare_asked(process_.trace_path()); });
  connect(document_, &Document::changed, this, &RunPanel::refresh);
  connect(&process_, &RunProcess::step_done, this, &RunPanel::take_step);
  connect(&process_, &RunProcess::failed, this, &RunPanel::fail);
  connect(&process_, &RunProcess::live_trace_written, this, [this] {
    show_lanes(process_.live_trace_path());
  });
  connect(&lanes_file_, &Document::changed, this, &RunPanel::take_lanes);
  connect(&process_, &RunProcess::finished, this, [this] {
    show_lanes(process_.trace_path());
    verdict_->setText(tr("%n step(s) done.", nullptr, static_cast<int>(process_.steps().size())));
    refresh();
  });
  refresh();
}

void RunPanel::build() {
  constexpr int kMostSteps = 1'000'000;
  constexpr int kUsualSteps = 5;
  data_->setObjectName(QStringLiteral("run_data"));
  data_->setPlaceholderText(
      tr("text file, folder of texts, or tokens (.bin); empty: a sample text"));
  steps_->setObjectName(QStringLiteral("run_steps"));
  steps_->setRange(1, kMostSteps);
  steps_->setValue(kUsualSteps);
  verdict_->setWordWrap(true);
  verdict_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  verdict_->setAccessibleDescription(tr("State of the run"));
  auto* const browse = new QPushButton(tr("&Choose..."), this);
  connect(browse, &QPushButton::clicked, this, &RunPanel::choose_data);
  auto* const data_row = new QHBoxLayout;
  data_row->addWidget(data_, 1);
  data_row->addWidget(browse);
  auto* const form = new QFormLayout;
  auto* const data_label = new QLabel(tr("&Data"), this);
  data_label->setBuddy(data_);
  form->addRow(data_label, data_row);
  form->addRow(tr("S&teps"), steps_);
  virtual_clock_->setObjectName(QStringLiteral("run_virtual_clock"));
  virtual_clock_->setToolTip(
      tr("Times are those that the threads computed, put together as if they had not shared cores: "
         "for more ranks than this machine has cores (--clock virtual)."));
  form->addRow(tr("Times"), virtual_clock_);
  auto* const buttons = new QHBoxLayout;
  for (QPushButton* const button : {start_, stop_, open_, compare_}) {
    buttons->addWidget(button);
  }
  auto* const table = new QTableView(this);
  table->setModel(metrics_);
  table->setAccessibleName(tr("Steps of the run"));
  table->verticalHeader()->hide();
  table->setShowGrid(false);
  table->setAlternatingRowColors(true);
  table->setTabKeyNavigation(false);
  table->horizontalHeader()->setSectionResizeMode(QHeaderView::Stretch);
  constexpr int kLanesHeight = 200;
  lanes_->setObjectName(QStringLiteral("run_lanes"));
  lanes_->setAccessibleName(tr("Last step of the run"));
  lanes_->setMinimumHeight(kLanesHeight / 2);
  auto* const lower = new QSplitter(Qt::Vertical, this);
  lower->addWidget(lanes_);
  lower->addWidget(table);
  lower->setSizes({kLanesHeight, kLanesHeight});
  auto* const layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addLayout(buttons);
  layout->addWidget(verdict_);
  layout->addWidget(lanes_title_);
  layout->addWidget(lower, 1);
  take_lanes();
}

void RunPanel::choose_data() {
  const QString path = QFileDialog::getOpenFileName(this, tr("Data to train on"), data_->text());
  if (!path.isEmpty()) {
    set_data(path);
  }
}

void RunPanel::set_data(const QString& path) {
  data_->setText(path);
  QSettings().setValue(QStringLiteral("run/data"), path);
}

void RunPanel::set_steps(int steps) {
  steps_->setValue(steps);
}

QString RunPanel::verdict() const {
  return verdict_->text();
}

void RunPanel::refresh() {
  const bool runs = process_.is_running();
  const bool runnable =
      document_->file() != nullptr && document_->file()->plan && document_->file()->schedule;
  start_->setEnabled(!runs && runnable);
  stop_->setEnabled(runs);
  open_->setEnabled(!runs && QFileInfo::exists(process_.trace_path()));
  // Of another plan, or of this one before it was changed, it predicted nothing.
  const bool other = open_->isEnabled() && runnable &&
                     schedule_hash(*document_->file()->schedule) != process_.schedule_hash();
  compare_->setEnabled(open_->isEnabled() && runnable && !other);
  compare_->setToolTip(other ? tr("Another plan was run than the one that is open.") : QString());
  if (!runs && process_.trace_path().isEmpty()) {  // nothing ran yet
    verdict_->setText(runnable
                          ? tr("Runs the plan with ranks as threads of this machine.")
                          : tr("Open a plan to run it with ranks as threads of this machine."));
  }
}

void RunPanel::start() {
  if (process_.is_running() || document_->file() == nullptr) {
    return;
  }
  if (!data_->text().isEmpty() && !QFileInfo::exists(data_->text())) {
    fail(tr("The data \"%1\" do not exist; choose a text file.").arg(data_->text()));
    return;
  }
  const QString command = find_command();
  if (command.isEmpty()) {
    fail(
        tr("The command stagewright is not installed beside this program, nor in the search "
           "path; install it, or add its folder to PATH."));
    return;
  }
  metrics_->clear();
  lanes_file_.close();
  verdict_->setText(tr("Starting ..."));
  const Result<void> started = process_.start(*document_->file(),
                                              {.program = command,
                                               .data = data_->text(),
                                               .steps = steps_->value(),
                                               .virtual_clock = virtual_clock_->isChecked()});
  if (!started) {
    fail(QString::fromStdString(started.error().to_string()));
  }
  refresh();
}

void RunPanel::stop() {
  if (!process_.is_running()) {
    return;
  }
  verdict_->setText(tr("Stopping after this step; press again to end it at once."));
  process_.stop();
}

void RunPanel::take_step() {
  const StepMetrics& last = process_.steps().back();
  metrics_->add(last);
  verdict_->setText(tr("Step %1 of %2").arg(last.step + 1).arg(steps_->value()));
}

void RunPanel::show_lanes(const QString& path) {
  // One that comes while the last is still being read takes its turn with the next step.
  if (!lanes_file_.is_busy() || path == process_.trace_path()) {
    lanes_file_.reload(path);
  }
}

void RunPanel::take_lanes() {
  const OpenedFile* const file = lanes_file_.file();
  lanes_->setVisible(file != nullptr);
  lanes_title_->setVisible(file != nullptr);
  if (file == nullptr) {
    return;
  }
  const auto told = file->trace.made_by.find("step");
  const int step = told == file->trace.made_by.end() ? lanes_file_.step()->step
                                                     : QString::fromStdString(told->second).toInt();
  const auto length = static_cast<double>(lanes_file_.actions()->length);
  lanes_title_->setText(tr("Step %1: %2")
                            .arg(step + 1)
                            .arg(time_text(Duration(lanes_file_.actions()->length), file->unit)));
  // Steps differ in length: whoever sees a whole one sees the next one whole.
  if (lanes_->window_shown().length >= lanes_length_) {
    lanes_->fit();
  }
  lanes_length_ = length;
}

void RunPanel::fail(const QString& why) {
  refresh();
  verdict_->setText(why);
}

}  // namespace stagewright::gui
