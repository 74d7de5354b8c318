#include "formats/action_colours.h"

#include "core/base/check.h"

namespace stagewright {
namespace {

constexpr ActionLook kForward{0x56B4E9, 0xB5DDF5, false, 'F', "forward"};
constexpr ActionLook kBackward{0x0072B2, 0x00487C, true, 'B', "backward"};
constexpr ActionLook kBackwardInput{0x0072B2, 0x00487C, true, 'I', "backward for inputs"};
constexpr ActionLook kBackwardWeight{0xF0E442, 0xC9BC1F, false, 'W', "backward for weights"};
constexpr ActionLook kRecompute{0x56B4E9, 0xB5DDF5, false, 'R', "recompute"};
constexpr ActionLook kTransfer{0xCC79A7, 0xCC79A7, false, 'T', "transfer"};
constexpr ActionLook kCollective{0xD55E00, 0xD55E00, false, 'C', "collective"};
constexpr ActionLook kOptimizer{0x444444, 0x444444, true, 'O', "optimizer step"};
constexpr ActionLook kLoad{0x999999, 0x999999, false, 'L', "load"};

}  // namespace

const ActionLook& look_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return kForward;
    case ActionKind::kBackward:
      return kBackward;
    case ActionKind::kBackwardInput:
      return kBackwardInput;
    case ActionKind::kBackwardWeight:
      return kBackwardWeight;
    case ActionKind::kRecompute:
      return kRecompute;
    case ActionKind::kSendActivation:
    case ActionKind::kRecvActivation:
    case ActionKind::kSendGradient:
    case ActionKind::kRecvGradient:
      return kTransfer;
    case ActionKind::kReduceGradients:
    case ActionKind::kGatherParameters:
      return kCollective;
    case ActionKind::kOptimizerStep:
    case ActionKind::kUpdateParameters:
      return kOptimizer;
    case ActionKind::kLoadMicroBatch:
      return kLoad;
  }
  SW_CHECK(false, "an action of a kind that is listed");
}

}  // namespace stagewright
