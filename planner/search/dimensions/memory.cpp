// What is kept, computed again, or divided to save memory.

#include <algorithm>

#include "planner/schedules/registry.h"
#include "planner/schedules/stage_layout.h"
#include "planner/search/dimensions/registry.h"

namespace stagewright {
namespace {

constexpr std::int64_t kFits = 3;

/// Whether the schedule places every stage twice.
bool two_copies(const PlanPoint& point) {
  return schedule_generators()[static_cast<std::size_t>(point.schedule)].layout == two_way_layout;
}

/// The replicas of a node, where they are some of all and divide them; else 0.
std::int64_t node_group(const SpaceJob& job, const PlanPoint& point) {
  const std::int64_t group = job.devices_per_node / point.tp;
  return group > 1 && group < point.dp && point.dp % group == 0 ? group : 0;
}

/// Whether there is a tensor group that can divide the rows of a micro-batch.
bool divides_rows(const SpaceJob& job, const PlanPoint& point) {
  const std::int64_t rows = std::int64_t{point.micro_batch_size} * job.sequence;
  return point.tp > 1 && rows % point.tp == 0;
}

}  // namespace

Dimension sequence_parallel_dimension() {
  return {
      .name = "sequence-parallel",
      .help = "Norms and residuals divided along the sequence: off, on",
      .values =
          [](const SpaceJob& job, const PlanPoint& point, std::vector<std::int64_t>& out) {
            out.push_back(0);
            if (divides_rows(job, point)) {
              out.push_back(1);
            }
          },
      .get = [](const PlanPoint& point) { return std::int64_t{point.sequence_parallel ? 1 : 0}; },
      .set = [](PlanPoint& point, std::int64_t value) { point.sequence_parallel = value != 0; },
      .reads = [](const SpaceJob& job,
                  const PlanPoint& point) { return std::uint64_t{divides_rows(job, point)}; },
      .names =
          [] {
            return std::vector<std::string_view>{"off", "on"};
          }};
}

Dimension recompute_dimension() {
  return {.name = "recompute",
          .help =
              "Activations computed again: none, selective (attention), full, or fits (as few "
              "layers of each stage as its memory asks for)",
          .values =
              [](const SpaceJob&, const PlanPoint& point, std::vector<std::int64_t>& out) {
                out.insert(out.end(), {0, 1, 2});
                if (!closed_form_point(point)) {
                  out.push_back(kFits);
                }
              },
          .get =
              [](const PlanPoint& point) {
                return point.recompute_fits ? kFits : static_cast<std::int64_t>(point.recompute);
              },
          .set =
              [](PlanPoint& point, std::int64_t value) {
                point.recompute_fits = value == kFits;
                point.recompute = static_cast<Recompute>(std::min<std::int64_t>(value, 2));
              },
          .reads = [](const SpaceJob&,
                      const PlanPoint& point) { return std::uint64_t{closed_form_point(point)}; },
          .names =
              [] {
                return std::vector<std::string_view>{"none", "selective", "full", "fits"};
              }};
}

Dimension recompute_layers_dimension() {
  return {
      .name = "recompute-layers",
      .help = "Layers of each stage that full or selective recomputation applies to (0: all)",
      .values = [](const SpaceJob&,
                   const PlanPoint&,
                   std::vector<std::int64_t>& out) { out.push_back(0); },
      .get = [](const PlanPoint& point) { return std::int64_t{point.recompute_layers}; },
      .set = [](PlanPoint& point,
                std::int64_t value) { point.recompute_layers = static_cast<std::int32_t>(value); },
      .reads =
          [](const SpaceJob& job, const PlanPoint& point) {
            if (job.constraint("recompute-layers") == nullptr) {
              return std::uint64_t{0};
            }
            const bool some = point.recompute != Recompute::kNone && !point.recompute_fits &&
                              !closed_form_point(point);
            return some ? static_cast<std::uint64_t>(point.pp) : std::uint64_t{0};
          },
      .takes =
          [](const SpaceJob& job, const PlanPoint& point, std::int64_t value) {
            return point.recompute != Recompute::kNone && !point.recompute_fits &&
                   !closed_form_point(point) && value <= job.layers() / point.pp;
          }};
}

Dimension zero_dimension() {
  return {.name = "zero",
          .help = "ZeRO stage: what replicas divide (1 optimizer, 2 gradients too, 3 weights too)",
          .values =
              [](const SpaceJob&, const PlanPoint& point, std::vector<std::int64_t>& out) {
                out.push_back(0);
                if (point.dp > 1) {
                  out.push_back(1);
                  // Gradients of two copies are summed at the end of the step alone.
                  if (!two_copies(point)) {
                    out.insert(out.end(), {2, 3});
                  }
                }
              },
          .get = [](const PlanPoint& point) { return std::int64_t{point.zero}; },
          .set = [](PlanPoint& point,
                    std::int64_t value) { point.zero = static_cast<std::int32_t>(value); },
          .reads =
              [](const SpaceJob&, const PlanPoint& point) {
                return std::uint64_t{point.dp > 1} | std::uint64_t{two_copies(point)} << 1U;
              }};
}

Dimension shard_group_dimension() {
  return {.name = "shard-group",
          .help = "Replicas that divide one copy of the ZeRO state (0: all; fewer: hybrid)",
          .values =
              [](const SpaceJob& job, const PlanPoint& point, std::vector<std::int64_t>& out) {
                out.push_back(0);
                const std::int64_t group = node_group(job, point);
                if (closed_form_point(point) && point.zero > 0 && group > 0) {
                  out.push_back(group);
                }
              },
          .get = [](const PlanPoint& point) { return std::int64_t{point.shard_group}; },
          .set = [](PlanPoint& point,
                    std::int64_t value) { point.shard_group = static_cast<std::int32_t>(value); },
          .reads =
              [](const SpaceJob& job, const PlanPoint& point) {
                if (!job.closed_form_only) {
                  return std::uint64_t{0};
                }
                // One replica, or none yet.
                const bool single = point.dp == 1;
                const std::int64_t group =
                    single ? job.devices_per_node / point.tp : node_group(job, point);
                return static_cast<std::uint64_t>(group) << 3U | std::uint64_t{single} << 2U |
                       std::uint64_t{point.zero > 0} << 1U |
                       std::uint64_t{closed_form_point(point)};
              },
          .executable = [](const PlanPoint& point) { return point.shard_group == 0; }};
}

}  // namespace stagewright
