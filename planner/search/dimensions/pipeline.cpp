// Which stage holds what, and in which order it works.

#include <algorithm>

#include "planner/schedules/registry.h"
#include "planner/search/cuts.h"
#include "planner/search/dimensions/registry.h"

namespace stagewright {
namespace {

std::vector<std::string_view> schedule_names() {
  std::vector<std::string_view> names;
  for (const ScheduleGenerator& generator : schedule_generators()) {
    names.push_back(generator.name);
  }
  return names;
}

/// Schedules whose order alone says what is computed.
bool searched(const ScheduleGenerator& generator) {
  return generator.layout != nullptr && !generator.asynchronous && !generator.synthesised;
}

std::size_t number_of(std::string_view schedule) {
  const auto all = schedule_generators();
  return static_cast<std::size_t>(std::ranges::find(all, schedule, &ScheduleGenerator::name) -
                                  all.begin());
}

}  // namespace

Dimension virtual_stages_dimension() {
  return {
      .name = "virtual-stages",
      .help = "Stages on each pipeline rank",
      .least = 1,
      .values =
          [](const SpaceJob& job, const PlanPoint& point, std::vector<std::int64_t>& out) {
            const std::int64_t most = point.pp == 1 ? 1 : job.layers() / point.pp;
            for (std::int64_t stages = 1; stages <= most; ++stages) {
              out.push_back(stages);
            }
          },
      .get = [](const PlanPoint& point) { return std::int64_t{point.virtual_stages}; },
      .set = [](PlanPoint& point,
                std::int64_t value) { point.virtual_stages = static_cast<std::int32_t>(value); },
      .reads = [](const SpaceJob&,
                  const PlanPoint& point) { return static_cast<std::uint64_t>(point.pp); }};
}

Dimension schedule_dimension() {
  return {.name = "schedule",
          .help = "Pipeline schedule, by name or pattern ('zb-*')",
          .values =
              [](const SpaceJob& job, const PlanPoint& point, std::vector<std::int64_t>& out) {
                const PipelineShape shape{.ranks = point.pp,
                                          .virtual_stages = point.virtual_stages,
                                          .micro_batches = point.micro_batches,
                                          .parameters = {}};
                static const std::size_t kPlain = number_of("1f1b");
                static const std::size_t kLooped = number_of("interleaved-1f1b");
                const auto all = schedule_generators();
                // Without a pipeline all are one list, but for the order of memory.
                const bool one = point.pp == 1 && job.constraint("schedule") == nullptr;
                const bool unknown = closed_form_point(point);
                for (std::size_t i = 0; i < all.size(); ++i) {
                  if ((one && i != kPlain) ||
                      (unknown && i != (point.virtual_stages == 1 ? kPlain : kLooped))) {
                    continue;
                  }
                  if (searched(all[i]) && all[i].accepts(shape)) {
                    out.push_back(static_cast<std::int64_t>(i));
                  }
                }
              },
          .get = [](const PlanPoint& point) { return std::int64_t{point.schedule}; },
          .set = [](PlanPoint& point,
                    std::int64_t value) { point.schedule = static_cast<std::int32_t>(value); },
          .reads =
              [](const SpaceJob&, const PlanPoint& point) {
                return (static_cast<std::uint64_t>(point.pp) << 40U) ^
                       (static_cast<std::uint64_t>(point.virtual_stages) << 20U) ^
                       (static_cast<std::uint64_t>(point.micro_batches) << 1U) ^
                       std::uint64_t{closed_form_point(point)};
              },
          .names = schedule_names};
}

Dimension cut_dimension() {
  return {
      .name = "layers",
      .help = "Layers of the stages, embedding and head counted: balanced, even",
      .values =
          [](const SpaceJob& job, const PlanPoint& point, std::vector<std::int64_t>& out) {
            if (point.stages() == 1 || point.stages() == job.layers() || closed_form_point(point)) {
              out.push_back(kBalancedCut);
              return;
            }
            const std::int64_t cuts = cut_count(job.layers(), point.stages());
            if (cuts > job.every_cut_up_to || job.constraint("layers") != nullptr) {
              out.insert(out.end(), {kBalancedCut, kEvenCut});
              return;
            }
            for (std::int64_t cut = 0; cut < cuts; ++cut) {
              out.push_back(kFirstCut + cut);
            }
          },
      .get = [](const PlanPoint& point) { return std::int64_t{point.cut}; },
      .set = [](PlanPoint& point,
                std::int64_t value) { point.cut = static_cast<std::int32_t>(value); },
      .reads =
          [](const SpaceJob&, const PlanPoint& point) {
            return static_cast<std::uint64_t>(point.stages()) << 1U |
                   std::uint64_t{closed_form_point(point)};
          },
      .names =
          [] {
            return std::vector<std::string_view>{"balanced", "even"};
          }};
}

}  // namespace stagewright
