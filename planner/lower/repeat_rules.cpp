#include "planner/lower/repeat_rules.h"

namespace stagewright {

RepeatRules repeat_rules(const FrameworkProfile& framework, bool flash_attention) {
  return {.whole_layers = !framework.spares_recomputation,
          .attention = framework.spares_recomputation || !flash_attention};
}

}  // namespace stagewright
