#include "sim/analysis/list_fault.h"

#include "core/base/check.h"

namespace stagewright {

std::string_view name_of(ListFaultKind kind) {
  switch (kind) {
    case ListFaultKind::kRange:
      return "range";
    case ListFaultKind::kPlacement:
      return "placement";
    case ListFaultKind::kDuplicate:
      return "duplicate";
    case ListFaultKind::kMissing:
      return "missing";
    case ListFaultKind::kOrder:
      return "order";
    case ListFaultKind::kDeadlock:
      return "deadlock";
    case ListFaultKind::kMismatch:
      return "mismatch";
  }
  SW_CHECK(false, "a kind of fault that has a name");
}

}  // namespace stagewright
