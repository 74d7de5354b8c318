#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/schedule/pipeline_order.h"

namespace stagewright {

/// What a schedule is generated for: one flush of one pipeline.
struct PipelineShape {
  std::int32_t ranks = 1;           ///< pipeline ranks (pp)
  std::int32_t virtual_stages = 1;  ///< stages per rank
  std::int32_t micro_batches = 1;   ///< of the flush
  /// Plan::schedule_parameters: only names that the generator lists.
  std::map<std::string, std::int64_t> parameters;
  friend bool operator==(const PipelineShape&, const PipelineShape&) = default;

  [[nodiscard]] std::int32_t stages() const { return ranks * virtual_stages; }
  /// The parameter of that name, or `otherwise`.
  [[nodiscard]] std::int64_t parameter(const std::string& name, std::int64_t otherwise) const;
};

/// What is known of a schedule in closed form, in words: P ranks, M micro-batches, in groups of G,
/// V stages a rank, r the rank; F, B, I, W the cost of a stage's forward, backward and its halves.
struct ScheduleFigures {
  std::string_view bubble;       ///< idle time of a step without transfers
  std::string_view peak;         ///< activations held at most, in micro-batches of a stage
  std::string_view weights;      ///< copies
  std::string_view constraints;  ///< on P, M, V and parameters
};

/// A named pipeline schedule.  To add one: a file with a function that returns it, a line in
/// registry.cpp.
struct ScheduleGenerator {
  std::string_view name;                         ///< as plans write it: "1f1b"
  std::span<const std::string_view> aliases{};   ///< other names in use for the same order
  std::string_view summary;                      ///< one line for people
  ScheduleFigures figures{};                     ///< for people, too
  std::span<const std::string_view> parameters;  ///< names that it reads from the shape
  /// Those of them that may also be given for one stage or rank: "f.3".
  std::span<const std::string_view> indexed_parameters{};
  std::int32_t default_virtual_stages = 1;
  /// Backward passes use other weights than the optimizer has updated last, so that the order alone
  /// does not say what is computed.
  bool asynchronous = false;
  /// The order is searched for, beginning with those of the other schedules.
  bool synthesised = false;
  /// Backward passes run as two actions, so that weight gradients may wait.
  bool splits_backward = false;
  /// Some forwards and backwards run as pairs that hide each other's communication.
  bool pairs = false;
  /// Which rank holds which stage: sizes and placement with empty lists.
  PipelineOrder (*layout)(const PipelineShape& shape) = nullptr;
  /// Whether `generate` succeeds for that shape without parameters and uses all of its stages,
  /// at once.
  bool (*accepts)(const PipelineShape& shape) = nullptr;
  /// The order of compute actions per rank.  REQUIRES: all sizes of the shape positive.  Fails
  /// with kInfeasible where a rule of the schedule is broken, saying which values obey it.
  Result<PipelineOrder> (*generate)(const PipelineShape& shape);

  /// Whether it reads a parameter of that name.
  [[nodiscard]] bool has_parameter(std::string_view parameter) const;
};

}  // namespace stagewright
