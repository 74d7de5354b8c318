#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "planner/schedules/generator.h"

namespace stagewright {

/// The rules of a schedule that a shape breaks, told all at once.
class ShapeRules {
 public:
  /// Both must outlive this.
  ShapeRules(const PipelineShape& shape, std::string_view schedule)
      : shape_(shape), schedule_(schedule) {}

  [[nodiscard]] const PipelineShape& shape() const { return shape_; }

  /// A rule about the plan's key of that name ("micro_batches").  What is `broken` goes on behind
  /// "schedule 'x' "; `remedy` says which values would work if it is broken alone.
  void add(bool holds, std::string_view key, std::string broken, std::string remedy);

  /// Fails with kInfeasible if any rule is broken.  Of several, the message ends with the nearest
  /// shape that `accepts` takes.
  [[nodiscard]] Result<void> check(bool (*accepts)(const PipelineShape&)) const;

 private:
  struct Broken {
    std::string key;
    std::string what;
    std::string remedy;
  };

  const PipelineShape& shape_;
  std::string_view schedule_;
  std::vector<Broken> broken_;
};

/// So many stages per rank.
void add_virtual_stages_rule(ShapeRules& rules, std::int32_t virtual_stages);
/// An even number of ranks; virtual stages 1 (or 2, counting both copies).
void add_two_way_rules(ShapeRules& rules);

}  // namespace stagewright
