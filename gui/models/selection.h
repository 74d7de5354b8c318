#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <QtCore/QObject>

#include "gui/models/action_store.h"

namespace stagewright::gui {

/// A stretch of time over some lanes.
struct RangeSelection {
  std::int64_t from = 0;  ///< picoseconds
  std::int64_t to = 0;
  std::vector<LaneIndex> lanes;  ///< ascending
  friend bool operator==(const RangeSelection&, const RangeSelection&) = default;
};

/// A place in time that a user wants to come back to.
struct Mark {
  std::int64_t at = 0;
  bool kept = false;  ///< else the next one replaces it
  friend bool operator==(const Mark&, const Mark&) = default;
};

/// What is selected, shared by all views of a document.  The numbers speak of the step that the
/// document shows; whoever shows another one calls clear().
class Selection : public QObject {
  Q_OBJECT

 public:
  explicit Selection(QObject* parent = nullptr) : QObject(parent) {}

  [[nodiscard]] std::optional<ActionIndex> action() const { return action_; }
  /// Actions shown together with the selected one: a chain of dependencies.
  [[nodiscard]] const std::vector<ActionIndex>& chain() const { return chain_; }
  [[nodiscard]] const std::optional<RangeSelection>& range() const { return range_; }
  /// Whose actions stand out in every row.
  [[nodiscard]] std::optional<std::int32_t> followed_micro_batch() const { return followed_; }
  [[nodiscard]] const std::vector<Mark>& marks() const { return marks_; }
  /// Actions that a search found, ascending.
  [[nodiscard]] const std::vector<ActionIndex>& hits() const { return hits_; }

  void select(std::optional<ActionIndex> action);
  void select_chain(ActionIndex action, std::vector<ActionIndex> chain);
  void select_range(std::optional<RangeSelection> range);
  void follow(std::optional<std::int32_t> micro_batch);
  void set_hits(std::vector<ActionIndex> hits);
  /// A mark that is not kept takes the place of the last such one.
  void add_mark(const Mark& mark);
  void clear_marks();
  /// The first mark after that time, or the first of all.
  [[nodiscard]] std::optional<Mark> next_mark(std::int64_t after) const;
  void clear();

 signals:
  void changed();       ///< action, chain, range or followed micro-batch
  void hits_changed();  ///< found actions
  void marks_changed();

 private:
  std::optional<ActionIndex> action_;
  std::vector<ActionIndex> chain_;
  std::optional<RangeSelection> range_;
  std::optional<std::int32_t> followed_;
  std::vector<Mark> marks_;
  std::vector<ActionIndex> hits_;
};

}  // namespace stagewright::gui
