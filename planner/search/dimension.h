#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "planner/search/plan_point.h"
#include "planner/search/space_job.h"

namespace stagewright {

/// One dimension of the search space: all that the planner, the command line and the documentation
/// know about it.  To add one: a field of PlanPoint, an entry in a file of
/// planner/search/dimensions, its line in dimensions/registry.cpp, and what it does to a plan and
/// its price.
struct Dimension {
  std::string_view name;   ///< "tp": the option is --tp
  std::string_view help;   ///< one line
  std::int64_t least = 0;  ///< number
  /// Appends the values that the job and the dimensions before this one leave, in the order in
  /// which they are tried.  Independent of constraints.
  void (*values)(const SpaceJob& job, const PlanPoint& point, std::vector<std::int64_t>& out);
  std::int64_t (*get)(const PlanPoint& point);
  void (*set)(PlanPoint& point, std::int64_t value);
  /// Everything that `values` reads of the dimensions before this one, as a number: points that
  /// agree on it have the same values (counting subtrees without walking them).
  std::uint64_t (*reads)(const SpaceJob& job, const PlanPoint& point);
  /// Text of the values, which are then numbers from 0; null: numbers are written as numbers.
  std::vector<std::string_view> (*names)() = nullptr;
  /// Numbers that a constraint names are values even where `values` does not list them; absent: no.
  bool (*takes)(const SpaceJob& job, const PlanPoint& point, std::int64_t value) = nullptr;
  /// Whether lowering can execute the point's value; null: always.  Points that it cannot execute
  /// are priced in closed form alone.
  bool (*executable)(const PlanPoint& point) = nullptr;

  [[nodiscard]] std::vector<std::string_view> words() const {
    return names == nullptr ? std::vector<std::string_view>{} : names();
  }
};

/// All dimensions, in the order in which the space nests them.
[[nodiscard]] std::span<const Dimension> dimensions();

/// kNotFound with a suggestion where there is none of that name.
[[nodiscard]] Result<const Dimension*> find_dimension(std::string_view name);

/// "8", "zb-h1": a value as constraints write it.
[[nodiscard]] std::string value_text(const Dimension& dimension, std::int64_t value);

/// Whether every dimension's value can be lowered and run.
[[nodiscard]] bool executable(const PlanPoint& point);

/// "tp", "cp", "dp", "pp" in every order, the usual one first.
[[nodiscard]] std::span<const RankOrder> rank_orders();

}  // namespace stagewright
