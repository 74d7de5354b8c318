#include "study/fit_link.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/check.h"
#include "sim/cost/analytical_links.h"

namespace stagewright {
namespace {

GroupGeometry geometry(const LinkSpec& link, std::int32_t nodes, std::int32_t per_node) {
  GroupGeometry group;
  group.members = nodes * per_node;
  group.nodes = nodes;
  group.members_per_node = per_node;
  group.intra_node = link;
  group.inter_node = link;
  if (nodes > 1) {
    group.intra_node.bandwidth = BytesPerSecond(1e15);
    group.intra_node.latency = Duration{};
    group.intra_node.ramp = Bytes{};
  }
  return group;
}

std::vector<double> log_errors(const CollectiveLog& log, const GroupGeometry& group) {
  std::vector<double> errors;
  for (const CollectivePoint& point : log.points) {
    const Duration predicted = collective_time(log.kind, point.size, group);
    errors.push_back(std::log(to_seconds(predicted) / to_seconds(point.time)));
  }
  return errors;
}

double squares(const CollectiveLog& log, const GroupGeometry& group) {
  double sum = 0;
  for (const double error : log_errors(log, group)) {
    sum += error * error;
  }
  return sum;
}

/// Tries every factor on one number of the link and keeps the best.
template <class Set>
void improve(const CollectiveLog& log,
             LinkSpec& best,
             double& least,
             std::int32_t nodes,
             std::int32_t per_node,
             double reach,
             const Set& set) {
  const LinkSpec start = best;
  for (int i = -20; i <= 20; ++i) {
    LinkSpec trial = start;
    set(trial, std::exp(reach * i / 20));
    const double value = squares(log, geometry(trial, nodes, per_node));
    if (value < least) {
      least = value;
      best = trial;
    }
  }
}

}  // namespace

LinkFit fit_link(const CollectiveLog& log,
                 const LinkSpec& link,
                 std::int32_t nodes,
                 std::int32_t per_node) {
  SW_CHECK(nodes * per_node >= 2, "a group of two or more");
  LinkSpec best = link;
  if (best.latency == Duration{}) {
    best.latency = from_seconds(1e-6);
  }
  if (nodes == 1 && best.ramp == Bytes{}) {
    best.ramp = Bytes(1'000'000);
  }
  double least = squares(log, geometry(best, nodes, per_node));
  for (const double reach : {4.0, 1.0, 0.25, 0.1, 0.05}) {
    for (int round = 0; round < 3; ++round) {
      improve(log, best, least, nodes, per_node, reach, [](LinkSpec& spec, double factor) {
        spec.efficiency = std::clamp(spec.efficiency * factor, 0.01, 1.0);
      });
      improve(log, best, least, nodes, per_node, reach, [](LinkSpec& spec, double factor) {
        spec.latency = from_seconds(to_seconds(spec.latency) * factor);
      });
      if (nodes == 1) {
        improve(log, best, least, nodes, per_node, reach, [](LinkSpec& spec, double factor) {
          spec.ramp =
              Bytes(static_cast<std::int64_t>(static_cast<double>(spec.ramp.count()) * factor));
        });
      }
    }
  }
  std::vector<double> errors = log_errors(log, geometry(best, nodes, per_node));
  for (double& error : errors) {
    error = std::abs(std::expm1(error));
  }
  std::ranges::sort(errors);
  return {.link = best, .median_error = errors[errors.size() / 2]};
}

}  // namespace stagewright
