// How many devices, and what each group of them divides.

#include <algorithm>

#include "planner/search/dimensions/registry.h"

namespace stagewright {
namespace {

using Values = std::vector<std::int64_t>;

std::int64_t left(const SpaceJob& job, std::int64_t used) {
  return job.devices / std::max<std::int64_t>(used, 1);
}

/// Powers of two up to `most` that divide `number`.
void powers_of_two(std::int64_t number, std::int64_t most, Values& out) {
  for (std::int64_t value = 1; value <= most && number % value == 0; value *= 2) {
    out.push_back(value);
  }
}

}  // namespace

Dimension tensor_dimension() {
  return {.name = "tp",
          .help = "Tensor parallelism",
          .least = 1,
          .values =
              [](const SpaceJob& job, const PlanPoint&, Values& out) {
                for (const std::int32_t degree : job.tensor_degrees) {
                  if (degree <= job.devices) {
                    out.push_back(degree);
                  }
                }
              },
          .get = [](const PlanPoint& point) { return std::int64_t{point.tp}; },
          .set = [](PlanPoint& point,
                    std::int64_t value) { point.tp = static_cast<std::int32_t>(value); },
          .reads = [](const SpaceJob&, const PlanPoint&) { return std::uint64_t{0}; }};
}

Dimension pipeline_dimension() {
  return {.name = "pp",
          .help = "Pipeline parallelism",
          .least = 1,
          .values =
              [](const SpaceJob& job, const PlanPoint& point, Values& out) {
                const std::int64_t most = std::min<std::int64_t>(job.layers(), left(job, point.tp));
                for (std::int64_t stages = 1; stages <= most; ++stages) {
                  out.push_back(stages);
                }
              },
          .get = [](const PlanPoint& point) { return std::int64_t{point.pp}; },
          .set = [](PlanPoint& point,
                    std::int64_t value) { point.pp = static_cast<std::int32_t>(value); },
          .reads = [](const SpaceJob&,
                      const PlanPoint& point) { return static_cast<std::uint64_t>(point.tp); }};
}

Dimension context_dimension() {
  return {.name = "cp",
          .help = "Context parallelism: a sequence divided among devices",
          .least = 1,
          .values =
              [](const SpaceJob& job, const PlanPoint& point, Values& out) {
                // A causal sequence is dealt in two parts a device; below 1,024 tokens each the
                // exchange outweighs the work.
                const std::int64_t most = std::min(left(job, std::int64_t{point.tp} * point.pp),
                                                   std::int64_t{job.sequence} / 1024);
                powers_of_two(
                    job.sequence, job.closed_form_only ? std::max<std::int64_t>(most, 1) : 1, out);
              },
          .get = [](const PlanPoint& point) { return std::int64_t{point.cp}; },
          .set = [](PlanPoint& point,
                    std::int64_t value) { point.cp = static_cast<std::int32_t>(value); },
          .reads =
              [](const SpaceJob&, const PlanPoint& point) {
                return static_cast<std::uint64_t>(point.tp) * static_cast<std::uint64_t>(point.pp);
              },
          .executable = [](const PlanPoint& point) { return point.cp == 1; }};
}

Dimension expert_dimension() {
  return {.name = "ep",
          .help = "Expert parallelism: the experts of a layer divided among devices",
          .least = 1,
          .values =
              [](const SpaceJob& job, const PlanPoint& point, Values& out) {
                const std::int64_t most =
                    job.closed_form_only && job.experts > 0 ? left(job, std::int64_t{point.pp}) : 1;
                for (std::int64_t degree = 1; degree <= std::max(1, job.experts); ++degree) {
                  if (degree <= most && std::max(1, job.experts) % degree == 0) {
                    out.push_back(degree);
                  }
                }
              },
          .get = [](const PlanPoint& point) { return std::int64_t{point.ep}; },
          .set = [](PlanPoint& point,
                    std::int64_t value) { point.ep = static_cast<std::int32_t>(value); },
          .reads = [](const SpaceJob&,
                      const PlanPoint& point) { return static_cast<std::uint64_t>(point.pp); },
          .executable = [](const PlanPoint& point) { return point.ep == 1; }};
}

Dimension expert_tensor_dimension() {
  return {.name = "expert-tp",
          .help = "Tensor parallelism inside an expert",
          .least = 1,
          .values =
              [](const SpaceJob& job, const PlanPoint& point, Values& out) {
                powers_of_two(point.tp, job.experts > 0 ? point.tp : 1, out);
              },
          .get = [](const PlanPoint& point) { return std::int64_t{point.expert_tp}; },
          .set = [](PlanPoint& point,
                    std::int64_t value) { point.expert_tp = static_cast<std::int32_t>(value); },
          .reads = [](const SpaceJob&,
                      const PlanPoint& point) { return static_cast<std::uint64_t>(point.tp); },
          .executable = [](const PlanPoint& point) { return point.expert_tp == 1; }};
}

Dimension data_dimension() {
  return {.name = "dp",
          .help = "Data parallelism",
          .least = 1,
          .values =
              [](const SpaceJob& job, const PlanPoint& point, Values& out) {
                const std::int64_t most = std::min(
                    job.global_batch, left(job, std::int64_t{point.tp} * point.pp * point.cp));
                for (std::int64_t replicas = most; replicas >= 1; --replicas) {
                  if (job.global_batch % replicas == 0) {
                    out.push_back(replicas);
                  }
                }
              },
          .get = [](const PlanPoint& point) { return std::int64_t{point.dp}; },
          .set = [](PlanPoint& point,
                    std::int64_t value) { point.dp = static_cast<std::int32_t>(value); },
          .reads =
              [](const SpaceJob&, const PlanPoint& point) {
                return static_cast<std::uint64_t>(point.tp) * static_cast<std::uint64_t>(point.pp) *
                       static_cast<std::uint64_t>(point.cp);
              }};
}

Dimension devices_dimension() {
  return {
      .name = "devices",
      .help = "Devices in use (the others stay idle)",
      .least = 1,
      .values = [](const SpaceJob&,
                   const PlanPoint& point,
                   Values& out) { out.push_back(point.devices()); },
      .get = [](const PlanPoint& point) { return point.devices(); },
      .set = [](PlanPoint&, std::int64_t) {},
      .reads = [](const SpaceJob&,
                  const PlanPoint& point) { return static_cast<std::uint64_t>(point.devices()); }};
}

}  // namespace stagewright
