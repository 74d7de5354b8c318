#include "gui/app/stored_setup.h"

#include <QtCore/QSettings>
#include <QtCore/QString>
#include <QtCore/QVariantMap>

namespace stagewright::gui {
namespace {

constexpr const char* kGroup = "setup";

/// Absent where the link is as its file says.
QVariant rate(const std::optional<BytesPerSecond>& value) {
  return value ? QVariant(value->count()) : QVariant();
}

std::optional<BytesPerSecond> rate(const QVariant& value) {
  return value.isValid() && value.toDouble() > 0 ? std::optional(BytesPerSecond(value.toDouble()))
                                                 : std::nullopt;
}

}  // namespace

void store_setup(const PlanSetup& setup) {
  QSettings settings;
  settings.remove(QString::fromLatin1(kGroup));
  settings.beginGroup(QString::fromLatin1(kGroup));
  settings.setValue(QStringLiteral("model"), QString::fromStdString(setup.model));
  settings.setValue(QStringLiteral("cluster"), QString::fromStdString(setup.cluster.named));
  settings.setValue(QStringLiteral("nodes"), setup.cluster.nodes);
  settings.setValue(QStringLiteral("devices"), setup.cluster.devices);
  settings.setValue(QStringLiteral("device"), QString::fromStdString(setup.cluster.device));
  settings.setValue(QStringLiteral("node_bandwidth"), rate(setup.cluster.node_bandwidth));
  settings.setValue(QStringLiteral("network_bandwidth"), rate(setup.cluster.network_bandwidth));
  if (setup.cluster.network_latency) {
    settings.setValue(QStringLiteral("network_latency"),
                      static_cast<qlonglong>(setup.cluster.network_latency->count()));
  }
  settings.setValue(QStringLiteral("global_batch"), static_cast<qlonglong>(setup.global_batch));
  settings.setValue(QStringLiteral("sequence"), setup.sequence);
  settings.setValue(QStringLiteral("aim"), QString::fromStdString(setup.aim));
  settings.setValue(QStringLiteral("device_hour"), setup.device_hour);
  settings.setValue(QStringLiteral("device_watts"), setup.device_watts);
  QVariantMap constraints;
  for (const auto& [name, values] : setup.constraints) {
    constraints.insert(QString::fromStdString(name), QString::fromStdString(values));
  }
  settings.setValue(QStringLiteral("constraints"), constraints);
}

PlanSetup stored_setup() {
  PlanSetup setup;
  QSettings settings;
  settings.beginGroup(QString::fromLatin1(kGroup));
  if (!settings.contains(QStringLiteral("model"))) {
    return setup;
  }
  const auto value = [&](const char* key) { return settings.value(QString::fromLatin1(key)); };
  const auto text = [&](const char* key) { return value(key).toString().toStdString(); };
  setup.model = text("model");
  setup.cluster.named = text("cluster");
  setup.cluster.nodes = value("nodes").toInt();
  setup.cluster.devices = value("devices").toInt();
  setup.cluster.device = text("device");
  setup.cluster.node_bandwidth = rate(value("node_bandwidth"));
  setup.cluster.network_bandwidth = rate(value("network_bandwidth"));
  if (value("network_latency").isValid()) {
    setup.cluster.network_latency = Duration(value("network_latency").toLongLong());
  }
  setup.global_batch = value("global_batch").toLongLong();
  setup.sequence = value("sequence").toInt();
  setup.aim = text("aim");
  setup.device_hour = value("device_hour").toDouble();
  setup.device_watts = value("device_watts").toDouble();
  const QVariantMap constraints = value("constraints").toMap();
  for (auto each = constraints.begin(); each != constraints.end(); ++each) {
    setup.constraints[each.key().toStdString()] = each.value().toString().toStdString();
  }
  return setup;
}

}  // namespace stagewright::gui
