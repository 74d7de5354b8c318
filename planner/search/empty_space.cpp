#include "planner/search/empty_space.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "planner/axes/tensor.h"

namespace stagewright {
namespace {

std::string option(const std::string& name, const ValueSet& values) {
  return fmt::format("--{} {}", name, values.text());
}

/// Values that the dimension takes anywhere in the space.
void collect_values(const SpaceJob& job,
                    std::size_t level,
                    std::size_t last,
                    const PlanPoint& point,
                    std::set<std::int64_t>& out) {
  std::vector<std::int64_t> values;
  allowed_values(job, level, point, values);
  if (level == last) {
    out.insert(values.begin(), values.end());
    return;
  }
  for (const std::int64_t value : values) {
    PlanPoint next = point;
    dimensions()[level].set(next, value);
    collect_values(job, level + 1, last, next, out);
  }
}

/// The value nearest to what the constraint allows that the space has without it.
std::optional<std::string> nearest_value(const SpaceJob& without,
                                         const Dimension& dimension,
                                         const ValueSet& asked) {
  const auto level = static_cast<std::size_t>(&dimension - dimensions().data());
  std::set<std::int64_t> found;
  collect_values(without, 0, level, PlanPoint{}, found);
  std::vector<std::int64_t> values(found.begin(), found.end());
  if (dimension.names == nullptr) {
    std::ranges::stable_sort(values, {}, [&](std::int64_t value) { return asked.distance(value); });
  }
  for (const std::int64_t value : values) {
    const std::string text = value_text(dimension, value);
    SpaceJob with = without;
    if (constrain(with.constraints, dimension.name, text) && first_point(with)) {
      return text;
    }
  }
  return std::nullopt;
}

/// A fact about the job that explains most empty spaces, or nothing.
std::optional<std::string> known_reason(const SpaceJob& job) {
  const auto single = [&](std::string_view name) -> std::optional<std::int64_t> {
    const ValueSet* values = job.constraint(name);
    return values != nullptr && values->named().size() == 1 &&
                   values->text() == fmt::to_string(values->named().front())
               ? std::optional(values->named().front())
               : std::nullopt;
  };
  if (const auto dp = single("dp"); dp && job.global_batch % std::max<std::int64_t>(*dp, 1) != 0) {
    return fmt::format("global batch {} is not divisible by dp {}", job.global_batch, *dp);
  }
  const std::int64_t heads = job.model->shape.heads;
  const auto sequence = job.sequence;
  if (sees_images(*job.model) && sequence != 1) {
    return fmt::format(
        "a row of '{}' is one image; the sequence is 1, not {}", job.model->name, sequence);
  }
  if (const auto tp = single("tp"); tp && *tp > 1 && sees_images(*job.model)) {
    return check_tensor_degree(*job.model, static_cast<std::int32_t>(*tp), "tp").error().message;
  }
  if (const auto tp = single("tp"); tp && *tp > 0 && heads % *tp != 0) {
    return fmt::format("{} attention heads are not divisible by tp {}", heads, *tp);
  }
  if (const auto tp = single("tp");
      tp && std::ranges::find(job.tensor_degrees, *tp) == job.tensor_degrees.end()) {
    return fmt::format("tp {} does not divide the model's heads and widths; {} do",
                       *tp,
                       fmt::join(job.tensor_degrees, ", "));
  }
  std::int64_t product = 1;
  std::string text;
  for (const char* name : {"tp", "pp", "cp", "dp"}) {
    if (const auto degree = single(name)) {
      product *= std::max<std::int64_t>(*degree, 1);
      text += fmt::format("{}{} {}", text.empty() ? "" : " x ", name, *degree);
    }
  }
  if (product > job.devices) {
    return fmt::format("{} needs {} devices, but there are {} devices", text, product, job.devices);
  }
  if (const auto pp = single("pp"); pp && *pp > job.layers()) {
    return fmt::format(
        "{} layers (embedding and head counted) cannot fill {} pipeline stages", job.layers(), *pp);
  }
  return std::nullopt;
}

}  // namespace

Error explain_empty_space(const SpaceJob& job) {
  std::vector<std::string> all;
  std::vector<std::string> guilty;
  std::vector<std::string> ways_out;
  for (const auto& [name, values] : job.constraints) {
    all.push_back(option(name, values));
    SpaceJob without = job;
    without.constraints.erase(name);
    const Dimension& dimension = **find_dimension(name);
    if (const auto nearest = nearest_value(without, dimension, values)) {
      guilty.push_back(all.back());
      ways_out.push_back(fmt::format("--{} {}", name, *nearest));
    }
  }
  const std::string reason = known_reason(job).value_or("");
  const std::string because = reason.empty() ? "" : fmt::format(": {}", reason);
  if (all.empty()) {
    return {ErrorCode::kInfeasible,
            fmt::format("no plan divides {} sequences over {} devices into steps that are "
                        "supported; use a smaller batch or sequence",
                        job.global_batch,
                        job.devices),
            {}};
  }
  if (guilty.empty()) {
    return {ErrorCode::kInfeasible,
            fmt::format("no plan satisfies {} together{}; no single one of them is to blame, give "
                        "up two or more",
                        fmt::join(all, " and "),
                        because),
            {}};
  }
  if (guilty.size() == 1) {
    return {ErrorCode::kInfeasible,
            fmt::format("no plan satisfies {}{}; the nearest that would do: {}",
                        guilty.front(),
                        because,
                        ways_out.front()),
            {}};
  }
  return {ErrorCode::kInfeasible,
          fmt::format("{} contradict each other{}; any one of these would do: {}",
                      fmt::join(guilty, " and "),
                      because,
                      fmt::join(ways_out, ", or ")),
          {}};
}

}  // namespace stagewright
