#pragma once

#include <optional>

#include <QtWidgets/QWidget>

#include "core/cluster/cluster.h"

namespace stagewright::gui {

/// A picture of a cluster: its nodes with their devices, the network between them, and the tiers of
/// switches above.  Of many nodes, those that have room.
class TopologyView : public QWidget {
  Q_OBJECT

 public:
  explicit TopologyView(QWidget* parent = nullptr);

  void set_cluster(std::optional<Cluster> cluster);
  [[nodiscard]] QSize sizeHint() const override;
  /// What the picture shows, in words.
  [[nodiscard]] QString text() const;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void draw_tiers(QPainter& painter) const;
  void draw_nodes(QPainter& painter) const;
  void draw_node(QPainter& painter, const Node& node, const QRectF& box) const;
  void draw_text(QPainter& painter) const;
  [[nodiscard]] int nodes_top() const;

  std::optional<Cluster> cluster_;
};

}  // namespace stagewright::gui
