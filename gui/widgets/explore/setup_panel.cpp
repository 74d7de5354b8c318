#include "gui/widgets/explore/setup_panel.h"

#include <array>

#include <QtCore/QSignalBlocker>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QDoubleSpinBox>
#include <QtWidgets/QFormLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QSpinBox>
#include <QtWidgets/QTabWidget>
#include <QtWidgets/QVBoxLayout>

#include "gui/models/model_outline.h"
#include "gui/widgets/explore/cluster_form.h"
#include "gui/widgets/explore/constraint_form.h"
#include "gui/widgets/explore/model_chooser.h"
#include "planner/search/objective.h"

namespace stagewright::gui {
namespace {

constexpr std::array kAims{Aim::kStepTime,
                           Aim::kTokens,
                           Aim::kDevices,
                           Aim::kCost,
                           Aim::kEnergy,
                           Aim::kHeadroom,
                           Aim::kRobustness};

QString aim_text(Aim aim) {
  switch (aim) {
    case Aim::kStepTime:
      return SetupPanel::tr("Shortest step");
    case Aim::kTokens:
      return SetupPanel::tr("Most tokens a second");
    case Aim::kDevices:
      return SetupPanel::tr("Fewest devices");
    case Aim::kCost:
      return SetupPanel::tr("Lowest cost of a token");
    case Aim::kEnergy:
      return SetupPanel::tr("Least energy of a token");
    case Aim::kHeadroom:
      return SetupPanel::tr("Most memory left");
    case Aim::kRobustness:
      return SetupPanel::tr("Shortest step under jitter");
  }
  return {};
}

std::string aim_name(int row) {
  return std::string(name_of(kAims.at(static_cast<std::size_t>(std::max(0, row)))));
}

}  // namespace

SetupPanel::SetupPanel(PlanSearch* search, QWidget* parent)
    : QWidget(parent),
      search_(search),
      files_(search->files()),
      check_(files_ ? *files_ : DataFiles::embedded()),
      model_(new ModelChooser(files_ ? *files_ : DataFiles::embedded(), this)),
      cluster_(new ClusterForm(files_ ? *files_ : DataFiles::embedded(), this)),
      constraints_(new ConstraintForm(this)),
      batch_(new QSpinBox(this)),
      sequence_(new QSpinBox(this)),
      aim_(new QComboBox(this)),
      price_(new QDoubleSpinBox(this)),
      price_label_(new QLabel(this)),
      problem_(new QLabel(this)),
      go_(new QPushButton(this)) {
  setObjectName(QStringLiteral("setup"));
  build();
  connect(&check_, &SetupCheck::checked, this, &SetupPanel::take_check);
  set_setup({});
  connect(model_, &ModelChooser::changed, this, &SetupPanel::take_setup);
  connect(cluster_, &ClusterForm::changed, this, &SetupPanel::take_setup);
  connect(constraints_, &ConstraintForm::changed, this, &SetupPanel::take_setup);
  connect(batch_, &QSpinBox::valueChanged, this, &SetupPanel::take_setup);
  connect(sequence_, &QSpinBox::valueChanged, this, &SetupPanel::take_setup);
  connect(aim_, &QComboBox::currentIndexChanged, this, &SetupPanel::take_setup);
  connect(price_, &QDoubleSpinBox::valueChanged, this, &SetupPanel::take_setup);
  connect(go_, &QPushButton::clicked, this, &SetupPanel::search_or_stop);
  connect(search_, &PlanSearch::changed, this, &SetupPanel::take_state);
}

void SetupPanel::build() {
  auto* const pages = new QTabWidget(this);
  pages->setObjectName(QStringLiteral("setup_pages"));
  pages->setDocumentMode(true);
  pages->addTab(model_, tr("&Model"));
  pages->addTab(cluster_, tr("&Cluster"));
  pages->addTab(constraints_, tr("Cons&traints"));
  auto* const form = new QFormLayout;
  add_batch_rows(form);
  add_aim_rows(form);
  problem_->setObjectName(QStringLiteral("setup_problem"));
  problem_->setWordWrap(true);
  problem_->setAccessibleDescription(tr("What stands in the way of a search"));
  go_->setObjectName(QStringLiteral("search_button"));
  go_->setDefault(true);
  auto* const layout = new QVBoxLayout(this);
  layout->addWidget(pages, 1);
  layout->addLayout(form);
  layout->addWidget(problem_);
  layout->addWidget(go_);
}

void SetupPanel::add_batch_rows(QFormLayout* form) {
  constexpr int kMostSequences = 1'000'000;
  constexpr int kMostTokens = 1 << 24U;
  batch_->setObjectName(QStringLiteral("global_batch"));
  batch_->setRange(1, kMostSequences);
  batch_->setSuffix(tr(" sequences"));
  batch_->setKeyboardTracking(false);
  sequence_->setObjectName(QStringLiteral("sequence"));
  sequence_->setRange(0, kMostTokens);
  sequence_->setSpecialValueText(tr("the model's longest"));
  sequence_->setSuffix(tr(" tokens"));
  sequence_->setKeyboardTracking(false);
  form->addRow(tr("&Batch"), batch_);
  form->addRow(tr("Se&quence"), sequence_);
}

void SetupPanel::add_aim_rows(QFormLayout* form) {
  aim_->setObjectName(QStringLiteral("aim"));
  for (const Aim aim : kAims) {
    aim_->addItem(aim_text(aim));
  }
  price_->setObjectName(QStringLiteral("price"));
  price_->setRange(0, 1e6);
  form->addRow(tr("Best &at"), aim_);
  price_label_->setBuddy(price_);
  form->addRow(price_label_, price_);
}

PlanSetup SetupPanel::setup() const {
  PlanSetup setup{.model = model_->name().toStdString(),
                  .cluster = cluster_->choice(),
                  .global_batch = batch_->value(),
                  .sequence = sequence_->value(),
                  .constraints = constraints_->constraints(),
                  .aim = aim_name(aim_->currentIndex())};
  if (setup.aim == name_of(Aim::kCost)) {
    setup.device_hour = price_->value();
  } else if (setup.aim == name_of(Aim::kEnergy)) {
    setup.device_watts = price_->value();
  }
  return setup;
}

void SetupPanel::set_setup(const PlanSetup& setup) {
  const std::array<QSignalBlocker, 7> quiet{QSignalBlocker(model_),
                                            QSignalBlocker(cluster_),
                                            QSignalBlocker(constraints_),
                                            QSignalBlocker(batch_),
                                            QSignalBlocker(sequence_),
                                            QSignalBlocker(aim_),
                                            QSignalBlocker(price_)};
  model_->set_name(QString::fromStdString(setup.model));
  cluster_->set_choice(setup.cluster);
  constraints_->set_constraints(setup.constraints);
  batch_->setValue(static_cast<int>(setup.global_batch));
  sequence_->setValue(setup.sequence);
  const auto aim = parse_aim(setup.aim);
  const auto at = std::ranges::find(kAims, aim.value_or(Aim::kStepTime));
  aim_->setCurrentIndex(static_cast<int>(at - kAims.begin()));
  price_->setValue(std::max(setup.device_hour, setup.device_watts));
  take_setup();
}

void SetupPanel::take_setup() {
  const PlanSetup now = setup();
  const bool cost = now.aim == name_of(Aim::kCost);
  const bool priced = cost || now.aim == name_of(Aim::kEnergy);
  price_label_->setText(cost ? tr("Price of a device-hour") : tr("Watts of a device"));
  price_label_->setVisible(priced);
  price_->setVisible(priced);
  check_.start(now);
  take_state();
}

QString SetupPanel::missing_price() const {
  const std::string aim = aim_name(aim_->currentIndex());
  if (price_->value() > 0) {
    return {};
  }
  return aim == name_of(Aim::kCost)     ? tr("Say what a device costs an hour.")
         : aim == name_of(Aim::kEnergy) ? tr("Say how many watts a device draws.")
                                        : QString();
}

void SetupPanel::take_check(const CheckedSetup& checked) {
  QString problem = missing_price();
  if (!files_) {
    problem = QString::fromStdString(files_.error().to_string());
  } else if (problem.isEmpty()) {
    problem = checked.problem;
  }
  model_->set_outline(checked.outline);
  cluster_->set_cluster(checked.cluster);
  problem_->setText(problem);
  problem_->setVisible(!problem.isEmpty());
  take_state();
}

void SetupPanel::check_now() {
  check_.check_now(setup());
}

void SetupPanel::take_state() {
  const bool running = search_->state() == PlanSearch::State::kRunning;
  go_->setText(running ? tr("S&top the search") : tr("&Search plans"));
  // Nobody has to wait for the check: a search says the same of what is wrong.
  go_->setEnabled(running || check_.is_busy() || problem_->text().isEmpty());
}

void SetupPanel::search_or_stop() {
  if (search_->state() == PlanSearch::State::kRunning) {
    search_->cancel();
  } else if (go_->isEnabled()) {
    search_->start(setup());
    emit search_started();
  }
}

QString SetupPanel::problem() const {
  return problem_->text();
}

}  // namespace stagewright::gui
