#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <QtWidgets/QAbstractScrollArea>

#include "gui/models/plan_editor.h"
#include "gui/models/stage_times.h"

namespace stagewright::gui {

/// What each stage takes for a micro-batch, a bar for each, in which every layer is a block.  A
/// block that is dragged onto another stage takes the layers between it and that stage along;
/// Alt+Up and Alt+Down hand one layer of the chosen stage on.
class StageBalance : public QAbstractScrollArea {
  Q_OBJECT

 public:
  StageBalance(Document* document, PlanEditor* editor, QWidget* parent = nullptr);

  [[nodiscard]] const std::vector<StageTime>& stages() const { return stages_; }
  [[nodiscard]] std::int32_t current() const { return current_; }
  void set_current(std::int32_t stage);
  /// One layer of the current stage goes to the stage before (-1) or after (+1), and the choice
  /// with it.
  void hand_on(std::int32_t direction);
  /// In pixels of the viewport; empty where it is scrolled away.
  [[nodiscard]] QRectF block_rect(std::int32_t stage, std::int32_t layer) const;
  /// "stage 2: 6 layers, forward 10 ms, backward 20 ms, 41 GiB of 80 GiB".
  [[nodiscard]] QString describe(std::int32_t stage) const;
  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  struct Block {
    std::int32_t stage = 0;
    std::int32_t layer = 0;  ///< counted from the stage's first
  };
  void take_document();
  void update_scroll_bar();
  void move_layers(const Block& block, std::int32_t to);
  [[nodiscard]] std::optional<std::int32_t> stage_at(double y) const;
  [[nodiscard]] std::optional<Block> block_at(const QPointF& at) const;
  [[nodiscard]] QRectF bar_rect(std::int32_t stage) const;
  [[nodiscard]] bool moves(const Block& block, std::int32_t stage, std::int32_t layer) const;
  void draw_title(QPainter& painter) const;
  void draw_stage(QPainter& painter, std::int32_t stage) const;
  void draw_parts(QPainter& painter, const StageTime& stage, const QRectF& bar) const;

  Document* document_;
  PlanEditor* editor_;
  std::vector<StageTime> stages_;
  double slowest_ = 0;  ///< seconds
  std::int32_t current_ = 0;
  std::optional<Block> dragged_;
  std::optional<std::int32_t> onto_;
};

}  // namespace stagewright::gui
