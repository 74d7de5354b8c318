#include "sim/engine/pass_messages.h"

namespace stagewright {

PassMessages pass_messages(const RankProgram& program, const Action& action) {
  if (action.kind == ActionKind::kForward) {
    const StageProgram& stage = program.stage(action.stage);
    return {.awaited = stage.input, .sent = stage.output};
  }
  if (action.kind == ActionKind::kBackward || action.kind == ActionKind::kBackwardInput) {
    const StageProgram& stage = program.stage(action.stage);
    return {.awaited = stage.output_gradient, .sent = stage.input_gradient};
  }
  return {};
}

}  // namespace stagewright
