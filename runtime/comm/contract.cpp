#include "runtime/comm/contract.h"

#include <fmt/format.h>

namespace stagewright {

std::string describe(const Contract& contract) {
  std::string elements = fmt::format("{} {}", contract.count, name_of(contract.type));
  switch (contract.kind) {
    case CommKind::kAllReduce:
      return fmt::format("all_reduce of {} ({})", elements, name_of(contract.reduction));
    case CommKind::kAllGather:
      return fmt::format("all_gather of {} from each", elements);
    case CommKind::kReduceScatter:
      return fmt::format(
          "reduce_scatter of {} to each ({})", elements, name_of(contract.reduction));
    case CommKind::kBroadcast:
      return fmt::format("broadcast of {} from member {}", elements, contract.root);
    case CommKind::kAllToAll:
      return contract.row == 0
                 ? fmt::format("all_to_all of {} to each", elements)
                 : fmt::format(
                       "all_to_all of rows of {}, {} to each at most", contract.row, elements);
    case CommKind::kRingShift:
      return fmt::format("ring_shift of {}", elements);
    case CommKind::kBarrier:
      return "barrier";
    case CommKind::kTransfer:
      return elements;
  }
  return {};
}

}  // namespace stagewright
