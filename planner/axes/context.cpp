#include "planner/axes/context.h"

#include <fmt/format.h>

namespace stagewright {

Result<void> check_context_degree(const Plan& plan) {
  if (plan.cp > 1 && plan.sequence % (2 * std::int64_t{plan.cp}) != 0) {
    return fail(
        ErrorCode::kInfeasible,
        fmt::format("cp is {}, and each member has two blocks of a sequence, but {} does not "
                    "divide its {} tokens; use another cp or sequence",
                    plan.cp,
                    2 * std::int64_t{plan.cp},
                    plan.sequence),
        "plan:/cp");
  }
  return {};
}

}  // namespace stagewright
