#include "gui/widgets/explore/topology_view.h"

#include <algorithm>
#include <utility>

#include <QtGui/QPainter>

#include "gui/models/scanline.h"

namespace stagewright::gui {
namespace {

constexpr int kBorder = 8;
constexpr int kTierHeight = 24;
constexpr int kDrop = 16;  ///< from the network down to a node
constexpr int kNodeWidth = 74;
constexpr int kNodeHeight = 58;
constexpr int kNodeSpace = 10;
constexpr int kDevice = 12;
constexpr int kDeviceSpace = 4;
constexpr int kDevicesInLine = 4;
constexpr int kMostLines = 2;
constexpr int kTextHeight = 66;
/// Of devices, by type, in the colours of the timeline.
constexpr QRgb kTypeColours[] = {0xFF0072B2, 0xFFD55E00, 0xFF009E73, 0xFFCC79A7};

QString link_text(const LinkSpec& link) {
  return TopologyView::tr("%1 %2, %3")
      .arg(QString::fromStdString(link.name),
           QString::fromStdString(to_string(link.bandwidth)),
           QString::fromStdString(to_string(link.latency)));
}

}  // namespace

TopologyView::TopologyView(QWidget* parent) : QWidget(parent) {
  setObjectName(QStringLiteral("topology"));
  setAccessibleName(tr("Picture of the cluster"));
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void TopologyView::set_cluster(std::optional<Cluster> cluster) {
  cluster_ = std::move(cluster);
  setAccessibleDescription(text());
  setToolTip(text());
  updateGeometry();
  update();
}

int TopologyView::nodes_top() const {
  const auto tiers = cluster_ ? static_cast<int>(cluster_->tiers.size()) : 0;
  return kBorder + std::max(1, tiers) * kTierHeight + kDrop;
}

QSize TopologyView::sizeHint() const {
  constexpr int kUsualWidth = 320;
  return {kUsualWidth, nodes_top() + kNodeHeight + kTextHeight};
}

QString TopologyView::text() const {
  if (!cluster_ || cluster_->nodes.empty()) {
    return tr("No cluster.");
  }
  const DeviceType& type = cluster_->types.front();
  QString text =
      tr("%n node(s)", nullptr, static_cast<int>(cluster_->nodes.size())) + QStringLiteral(", ") +
      tr("%n device(s)", nullptr, cluster_->device_count()) +
      tr(", %1 with %2 each")
          .arg(QString::fromStdString(type.name), QString::fromStdString(to_string(type.memory)));
  text += tr("\nIn a node: %1").arg(link_text(cluster_->intra_link(NodeId(0))));
  if (cluster_->nodes.size() > 1) {
    text += tr("\nNetwork: %1").arg(link_text(cluster_->inter_link(NodeId(0))));
  }
  return text;
}

void TopologyView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  if (!cluster_ || cluster_->nodes.empty()) {
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(rect(), Qt::AlignCenter, text());
    return;
  }
  painter.setRenderHint(QPainter::Antialiasing);
  draw_tiers(painter);
  draw_nodes(painter);
  draw_text(painter);
}

void TopologyView::draw_tiers(QPainter& painter) const {
  QRectF bar(kBorder, kBorder, width() - 2 * kBorder, kTierHeight - 6);
  const auto draw = [&](const QString& text) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(palette().color(QPalette::Mid));
    painter.drawRoundedRect(bar, 3, 3);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(bar, Qt::AlignCenter, text);
    bar.translate(0, kTierHeight);
  };
  if (cluster_->tiers.empty()) {
    draw(cluster_->nodes.size() > 1 ? tr("network, %1 a device")
                                          .arg(QString::fromStdString(
                                              to_string(cluster_->inter_link(NodeId(0)).bandwidth)))
                                    : tr("one node, no network"));
  }
  for (auto tier = cluster_->tiers.rbegin(); tier != cluster_->tiers.rend(); ++tier) {
    draw(tr("%1: %2 nodes a switch, %3 : 1")
             .arg(QString::fromStdString(tier->name))
             .arg(tier->nodes)
             .arg(tier->over_subscription));
  }
}

void TopologyView::draw_nodes(QPainter& painter) const {
  const auto all = static_cast<int>(cluster_->nodes.size());
  const int room = std::max(1, (width() - 2 * kBorder + kNodeSpace) / (kNodeWidth + kNodeSpace));
  // The last place says how many more there are.
  const int shown = all <= room ? all : std::max(1, room - 1);
  QRectF box(kBorder, nodes_top(), kNodeWidth, kNodeHeight);
  for (int i = 0; i < shown; ++i) {
    painter.setPen(palette().color(QPalette::WindowText));
    if (all > 1) {
      painter.drawLine(QPointF(box.center().x(), box.top() - kDrop - 6),
                       QPointF(box.center().x(), box.top()));
    }
    draw_node(painter, cluster_->nodes[static_cast<std::size_t>(i)], box);
    box.translate(kNodeWidth + kNodeSpace, 0);
  }
  if (shown < all) {
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(box, Qt::AlignCenter, tr("... and\n%1 more").arg(all - shown));
  }
}

void TopologyView::draw_node(QPainter& painter, const Node& node, const QRectF& box) const {
  painter.setPen(palette().color(QPalette::Mid));
  painter.setBrush(palette().color(QPalette::Base));
  painter.drawRoundedRect(box, 4, 4);
  const auto all = static_cast<int>(node.devices.size());
  const int shown = std::min(all, kDevicesInLine * kMostLines);
  painter.setPen(Qt::NoPen);
  for (int i = 0; i < shown; ++i) {
    const auto type = static_cast<std::size_t>(node.devices[static_cast<std::size_t>(i)]);
    painter.setBrush(QColor::fromRgb(kTypeColours[type % std::size(kTypeColours)]));
    painter.drawRect(QRectF(box.left() + 7 + (i % kDevicesInLine) * (kDevice + kDeviceSpace),
                            box.top() + 6 + (i / kDevicesInLine) * (kDevice + kDeviceSpace),
                            kDevice,
                            kDevice));
  }
  painter.setPen(palette().color(QPalette::Text));
  painter.drawText(box.adjusted(0, 0, 0, -3),
                   Qt::AlignHCenter | Qt::AlignBottom,
                   tr("%n device(s)", nullptr, all));
}

void TopologyView::draw_text(QPainter& painter) const {
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(
      QRectF(kBorder, nodes_top() + kNodeHeight + 6, width() - 2 * kBorder, kTextHeight - 6),
      Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap,
      text());
}

}  // namespace stagewright::gui
