#include "gui/widgets/explore/cluster_form.h"

#include <cmath>
#include <optional>

#include <QtCore/QFileInfo>
#include <QtCore/QSignalBlocker>
#include <QtWidgets/QComboBox>
#include <QtWidgets/QDoubleSpinBox>
#include <QtWidgets/QFileDialog>
#include <QtWidgets/QFormLayout>
#include <QtWidgets/QHBoxLayout>
#include <QtWidgets/QLabel>
#include <QtWidgets/QPushButton>
#include <QtWidgets/QSpinBox>
#include <QtWidgets/QVBoxLayout>

#include "gui/widgets/explore/topology_view.h"

namespace stagewright::gui {
namespace {

constexpr double kGiga = 1e9;
constexpr double kPicosecondsOfMicrosecond = 1e6;

QSpinBox* count_box(const char* name, const QString& accessible, int most) {
  auto* const box = new QSpinBox;
  box->setObjectName(QString::fromLatin1(name));
  box->setAccessibleName(accessible);
  box->setRange(1, most);
  return box;
}

std::optional<BytesPerSecond> rate_of(const QDoubleSpinBox* box) {
  return box->value() > 0 ? std::optional(BytesPerSecond(box->value() * kGiga)) : std::nullopt;
}

void show_value(QDoubleSpinBox* box, double value) {
  const QSignalBlocker quiet(box);
  box->setValue(value);
}

void show_name(QComboBox* box, const QString& name) {
  const QSignalBlocker quiet(box);
  int at = box->findData(name);
  if (at < 0) {
    box->addItem(QFileInfo(name).fileName(), name);
    at = box->count() - 1;
  }
  box->setCurrentIndex(at);
}

}  // namespace

ClusterForm::ClusterForm(const DataFiles& files, QWidget* parent)
    : QWidget(parent),
      named_(new QComboBox(this)),
      nodes_(count_box("nodes", tr("Nodes"), 65'536)),
      devices_(count_box("devices", tr("Devices of a node"), 1'024)),
      device_(new QComboBox(this)),
      topology_(new TopologyView(this)) {
  named_->setObjectName(QStringLiteral("cluster"));
  named_->addItem(tr("Nodes of one kind"), QString());
  for (const std::string& name : preset_names(files, "clusters")) {
    named_->addItem(QString::fromStdString(name), QString::fromStdString(name));
  }
  device_->setObjectName(QStringLiteral("device"));
  device_->setAccessibleName(tr("Kind of device"));
  for (const std::string& name : preset_names(files, "hardware")) {
    device_->addItem(QString::fromStdString(name), QString::fromStdString(name));
  }
  auto* const open = new QPushButton(tr("O&pen..."), this);
  auto* const name_row = new QHBoxLayout;
  name_row->addWidget(named_, 1);
  name_row->addWidget(open);
  auto* const form = new QFormLayout;
  auto* const name_label = new QLabel(tr("C&luster"), this);
  name_label->setBuddy(named_);  // a row of several widgets gives it none
  form->addRow(name_label, name_row);
  form->addRow(tr("&Nodes"), nodes_);
  form->addRow(tr("De&vices a node"), devices_);
  form->addRow(tr("&Kind"), device_);
  node_bandwidth_ = add_link(form, tr("Links in a node"), "node_bandwidth", tr(" GB/s"));
  network_bandwidth_ = add_link(form, tr("Network rate"), "network_bandwidth", tr(" GB/s"));
  network_latency_ = add_link(form, tr("Network latency"), "network_latency", tr(" us"));
  auto* const layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addWidget(topology_);
  layout->addStretch(1);
  connect(open, &QPushButton::clicked, this, &ClusterForm::choose_file);
  connect(named_, &QComboBox::currentIndexChanged, this, &ClusterForm::changed);
  connect(device_, &QComboBox::currentIndexChanged, this, &ClusterForm::changed);
  connect(nodes_, &QSpinBox::valueChanged, this, &ClusterForm::changed);
  connect(devices_, &QSpinBox::valueChanged, this, &ClusterForm::changed);
  set_choice({});
}

QDoubleSpinBox* ClusterForm::add_link(QFormLayout* form,
                                      const QString& label,
                                      const char* name,
                                      const QString& unit) {
  auto* const box = new QDoubleSpinBox(this);
  box->setObjectName(QString::fromLatin1(name));
  box->setRange(0, 1e6);
  box->setSpecialValueText(tr("as its file says"));
  box->setSuffix(unit);
  box->setStepType(QAbstractSpinBox::AdaptiveDecimalStepType);
  form->addRow(label, box);
  connect(box, &QDoubleSpinBox::valueChanged, this, &ClusterForm::changed);
  return box;
}

ClusterChoice ClusterForm::choice() const {
  ClusterChoice choice{.named = named_->currentData().toString().toStdString(),
                       .nodes = nodes_->value(),
                       .devices = devices_->value(),
                       .device = device_->currentData().toString().toStdString(),
                       .node_bandwidth = rate_of(node_bandwidth_),
                       .network_bandwidth = rate_of(network_bandwidth_),
                       .network_latency = {}};
  if (network_latency_->value() > 0) {
    choice.network_latency =
        Duration(std::llround(network_latency_->value() * kPicosecondsOfMicrosecond));
  }
  return choice;
}

void ClusterForm::set_choice(const ClusterChoice& choice) {
  show_name(named_, QString::fromStdString(choice.named));
  show_name(device_, QString::fromStdString(choice.device));
  for (const auto& [box, value] : {std::pair(nodes_, choice.nodes), {devices_, choice.devices}}) {
    const QSignalBlocker quiet(box);
    box->setValue(value);
  }
  show_value(node_bandwidth_, choice.node_bandwidth.value_or(BytesPerSecond()).count() / kGiga);
  show_value(network_bandwidth_,
             choice.network_bandwidth.value_or(BytesPerSecond()).count() / kGiga);
  show_value(network_latency_,
             static_cast<double>(choice.network_latency.value_or(Duration()).count()) /
                 kPicosecondsOfMicrosecond);
  emit changed();
}

void ClusterForm::set_cluster(const Result<Cluster>& cluster) {
  const bool by_form = named_->currentData().toString().isEmpty();
  nodes_->setEnabled(by_form);
  devices_->setEnabled(by_form);
  device_->setEnabled(by_form);
  topology_->set_cluster(cluster ? std::optional(*cluster) : std::nullopt);
}

void ClusterForm::choose_file() {
  const QString path = QFileDialog::getOpenFileName(
      this, tr("Open a cluster"), {}, tr("Clusters (*.json);;All files (*)"));
  if (!path.isEmpty()) {
    show_name(named_, path);
    emit changed();
  }
}

}  // namespace stagewright::gui
