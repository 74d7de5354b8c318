#include "sim/cost/traffic_time.h"

#include <algorithm>
#include <cmath>

#include "sim/cost/analytical_links.h"

namespace stagewright {

double traffic_seconds(OpKind kind,
                       double bytes,
                       const GroupGeometry& group,
                       const StepConstants& constants,
                       double pieces) {
  if (group.members <= 1 || bytes <= 0) {
    return 0;
  }
  const Bytes piece(static_cast<std::int64_t>(bytes / pieces));
  const double each = to_seconds(collective_time(kind, piece, group));
  // A shift goes to the next node, all others once or twice around.
  const int nodes = kind == OpKind::kRingShift ? std::min(group.nodes - 1, 1) : group.nodes - 1;
  const double ring =
      constants[StepConstant::kNodeMicros] * 1e-6 * nodes * (kind == OpKind::kAllReduce ? 2 : 1);
  return pieces * (each + ring);
}

double copies_of_a_token(double visited, std::int32_t nodes) {
  if (nodes <= 1) {
    return visited;
  }
  return nodes * (1 - std::pow(1 - 1.0 / nodes, visited));
}

double bucket_pieces(double bytes, Bytes bucket) {
  return std::max(1.0, std::ceil(bytes / static_cast<double>(bucket.count())));
}

}  // namespace stagewright
