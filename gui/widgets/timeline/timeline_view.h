#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <QtCore/QElapsedTimer>
#include <QtCore/QTimer>
#include <QtGui/QImage>
#include <QtWidgets/QAbstractScrollArea>

#include "gui/models/action_walk.h"
#include "gui/models/document.h"
#include "gui/models/picture_worker.h"
#include "gui/models/row_layout.h"
#include "gui/models/selection.h"
#include "gui/models/view_history.h"

namespace stagewright::gui {

/// The ranks of a step over time.  The boxes are drawn by a worker; until its picture of a new view
/// is there, the last one is shown stretched.  Labels, selection and marks lie on top.
///
/// Every operation that a key or menu can ask for is a public function, so that the mouse has none
/// of its own.
class TimelineView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  TimelineView(Document* document, Selection* selection, QWidget* parent = nullptr);

  // What is shown.
  [[nodiscard]] const TimeWindow& window_shown() const { return window_; }
  void show_window(TimeWindow window);
  [[nodiscard]] const RowChoices& choices() const { return choices_; }
  void set_choices(const RowChoices& choices);
  [[nodiscard]] const RowLayout* rows() const { return rows_.get(); }
  [[nodiscard]] ColourBy colour_by() const { return colour_by_; }
  void set_colour_by(ColourBy by);
  [[nodiscard]] bool shows_gaps() const { return show_gaps_; }
  void set_show_gaps(bool show);
  [[nodiscard]] bool shows_path() const { return show_path_; }
  void set_show_path(bool show);
  [[nodiscard]] bool shows_stretched_picture() const { return shown_number_ != asked_number_; }

  // Moving.
  void zoom(double factor, std::optional<double> at_time = std::nullopt);
  void pan(double share_of_window);
  void fit();
  void zoom_to_selection();
  void view_back();
  void view_forward();
  void change_row_height(double factor);
  void set_row_height(double height);
  /// All rows at once, as high as they then can be; they follow the room until a height is set.
  void fit_rows();
  void bring_into_view(ActionIndex action);

  // Selecting.
  void select_neighbour(Direction direction);
  void select_in_next_row(Direction direction);
  void select_same_micro_batch(Direction direction);
  void select_cause(bool whole_chain);
  void select_effect();
  void toggle_follow();
  void select_hit(Direction direction);
  void add_mark(bool kept);
  void go_to_next_mark();
  void clear_selection();

  // Rows.
  void pin_selected_rank();
  void hide_selected_rank();
  void show_all_ranks();
  void group_by_next_axis();
  void toggle_group(std::int32_t group);

  /// Draws everything at once, for pictures without an event loop.
  void draw_now();

  // For screen readers and tests: geometry in pixels of the viewport.
  [[nodiscard]] QRect content_rect() const;
  [[nodiscard]] QRect rect_of_row(std::size_t row) const;
  [[nodiscard]] std::optional<QRectF> rect_of_action(ActionIndex action) const;
  [[nodiscard]] std::optional<ActionIndex> action_at(const QPointF& at) const;
  [[nodiscard]] Document* document() const { return document_; }
  [[nodiscard]] Selection* selection() const { return selection_; }

 signals:
  /// An action was dragged, with Ctrl held, to the place of another one of its lane.
  void move_asked(std::size_t action, std::size_t onto);
  void window_changed(const stagewright::gui::TimeWindow& window);
  void choices_changed();
  /// Colouring, tints, path.
  void look_changed();
  /// The pointer is over this time, or has left.
  void pointed_at(std::optional<double> time);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  bool viewportEvent(QEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void changeEvent(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  friend class TimelineOverlay;

  enum class Drag : std::uint8_t {
    kNone,
    kPressed,  ///< a click, until the pointer moves
    kRange,
    kPan,
    kMove,  ///< of an action to another place in its lane
  };

  void take_document();
  /// Another version of the plan: the view stays, and so does the selected action.
  void take_revision();
  void take_analysis();
  void take_selection();
  void lay_out();
  void apply_row_height(double height);
  void repaint_actions();
  void ask_for_picture();
  void take_picture(const QImage& image, const TimeWindow& window, double scroll, quint64 number);
  [[nodiscard]] TimelinePicture picture() const;
  void update_scroll_bar();
  void set_window(TimeWindow window);
  void note_view();
  void select(std::optional<ActionIndex> action);
  void draw_stretched(QPainter& painter) const;
  [[nodiscard]] double scroll() const;
  [[nodiscard]] double time_at(double x) const;
  [[nodiscard]] double x_of(double time) const;
  [[nodiscard]] std::optional<RankId> rank_of_interest() const;
  [[nodiscard]] std::optional<std::size_t> row_at(const QPointF& at) const;
  void select_range_to(const QPointF& at);
  void show_tip(const QPoint& at, const QPoint& global);

  Document* document_;
  Selection* selection_;
  PictureWorker worker_;

  std::shared_ptr<const ActionStore> actions_;
  std::shared_ptr<const ActionPaint> paint_;
  std::shared_ptr<const RowLayout> rows_;
  RowChoices choices_;
  bool rows_fit_ = true;  ///< their height follows the room that there is
  TimeWindow window_;
  ColourBy colour_by_ = ColourBy::kAction;
  bool show_gaps_ = true;
  bool show_path_ = false;
  std::optional<std::int32_t> painted_follow_;
  ViewHistory history_;
  QTimer rest_;  ///< since the view last moved

  QImage image_;
  TimeWindow image_window_;
  double image_scroll_ = 0;
  quint64 asked_number_ = 0;
  quint64 shown_number_ = 0;

  Drag drag_ = Drag::kNone;
  QPointF drag_start_;
  TimeWindow drag_window_;
  double drag_scroll_ = 0;
  std::optional<ActionIndex> dragged_;
  std::optional<double> pointer_time_;
};

}  // namespace stagewright::gui
