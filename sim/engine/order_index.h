#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/schedule/pipeline_order.h"

namespace stagewright {

/// The actions of a pipeline order by what they do, and what each of them needs (rule 7 of
/// core/schedule/semantics.h).  Actions are counted over the ranks' lists, one after the other.
class OrderIndex {
 public:
  /// `order` must outlive this.
  explicit OrderIndex(const PipelineOrder& order);
  /// To be called first.  Fails with kInvalidInput, naming rank and action, when one is out of
  /// range or stands twice.
  [[nodiscard]] Result<void> fill();

  struct Place {
    std::int32_t action = 0;
    std::int32_t rank = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct Need {
    std::optional<Place> from;      ///< absent: it stands nowhere in the order
    std::optional<StageId> border;  ///< what it comes over, if it lies on another rank: the lower
                                    ///< of the two stages
    const char* what = "";
  };
  static constexpr std::size_t kMostNeeds = 3;
  struct Needs {
    std::array<Need, kMostNeeds> all;
    std::size_t count = 0;
  };
  [[nodiscard]] Needs needs_of(const Action& action) const;

  /// First action of each rank, and the end.
  [[nodiscard]] const std::vector<std::int32_t>& rank_begin() const { return rank_begin_; }
  /// "rank 1, action 2F3"
  [[nodiscard]] static std::string place_text(std::size_t rank, const Action& action);

 private:
  [[nodiscard]] std::size_t slot(std::int32_t stage, MicroBatchId m) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(order_.micro_batches) +
           m.index();
  }
  [[nodiscard]] Result<void> add(const Action& action, std::size_t rank, std::int32_t number);
  [[nodiscard]] bool has(ActionKind kind, std::size_t at) const;
  [[nodiscard]] std::optional<Place> place(const std::vector<std::int32_t>& table,
                                           std::size_t at) const;

  const PipelineOrder& order_;
  std::vector<std::int32_t> rank_begin_;
  std::vector<std::int32_t> rank_of_;  ///< by action
  // By stage and micro-batch.
  std::vector<std::uint8_t> present_;  ///< a bit for every kind of action that computes
  std::vector<std::int32_t> forward_;
  std::vector<std::int32_t> gradient_;   ///< whoever makes it for the stage before
  std::vector<std::int32_t> recompute_;  ///< empty if the order has none
};

}  // namespace stagewright
