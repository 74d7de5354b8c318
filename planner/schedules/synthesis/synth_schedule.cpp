#include "planner/schedules/synthesis/synth_schedule.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/counted.h"
#include "planner/schedules/synthesis/synthesize.h"

namespace stagewright {
namespace {

constexpr std::array<std::string_view, 14> kParameters{"f",
                                                       "i",
                                                       "w",
                                                       "b",
                                                       "r",
                                                       "transfer",
                                                       "held",
                                                       "checkpoint",
                                                       "released",
                                                       "pending",
                                                       "cap",
                                                       "span",
                                                       "effort",
                                                       "seed"};
constexpr std::size_t kIndexedCount = 11;
constexpr std::span kIndexed = std::span(kParameters).first<kIndexedCount>();
constexpr std::array<std::string_view, 1> kAliases{"synthesis"};
constexpr std::int64_t kUnit = 100;
/// Sums of all times of a step have to stay inside 64 bits, with room for slopes.
constexpr std::int64_t kLongest = std::int64_t{1} << 62;
/// Beyond it even one replay of a few hundred takes minutes.
constexpr std::int64_t kMostSteps = 4'000'000;

std::string indexed(std::string_view name, std::size_t index) {
  return fmt::format("{}.{}", name, index);
}

/// "f.3" over "f" over `otherwise`.
std::int64_t at(const PipelineShape& shape,
                const std::string& name,
                std::size_t index,
                std::int64_t otherwise) {
  return shape.parameter(indexed(name, index), shape.parameter(name, otherwise));
}

std::vector<Duration> by_stage(const PipelineShape& shape,
                               const std::string& name,
                               std::int64_t otherwise) {
  std::vector<Duration> times;
  for (std::int32_t stage = 0; stage < shape.stages(); ++stage) {
    times.emplace_back(at(shape, name, static_cast<std::size_t>(stage), otherwise));
  }
  return times;
}

std::vector<std::int64_t> held_in(const PipelineShape& shape,
                                  const std::string& name,
                                  std::int64_t otherwise) {
  std::vector<std::int64_t> held;
  for (std::int32_t stage = 0; stage < shape.stages(); ++stage) {
    held.push_back(at(shape, name, static_cast<std::size_t>(stage), otherwise));
  }
  return held;
}

/// Whether the parameter is given, for all stages or for some.
bool given(const PipelineShape& shape, const std::string& name) {
  const auto found = shape.parameters.lower_bound(name);
  return found != shape.parameters.end() &&
         (found->first == name || found->first.starts_with(name + "."));
}

Result<void> read_memory(const PipelineShape& shape, SynthesisRequest& request) {
  request.held = held_in(shape, "held", 1);
  request.pending = held_in(shape, "pending", 0);
  request.released = held_in(shape, "released", 0);
  request.checkpoint = request.held;
  if (given(shape, "checkpoint")) {
    request.checkpoint = held_in(shape, "checkpoint", 0);
  }
  for (std::size_t stage = 0; stage < request.held.size(); ++stage) {
    if (request.released[stage] > request.held[stage] ||
        request.checkpoint[stage] > request.held[stage]) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("stage {} holds {}, so that it cannot release {} or keep {}",
                              stage,
                              request.held[stage],
                              request.released[stage],
                              request.checkpoint[stage]),
                  "plan:/schedule_parameters/held");
    }
  }
  const std::int64_t most = *std::max_element(request.held.begin(), request.held.end());
  for (std::int32_t rank = 0; rank < shape.ranks; ++rank) {
    request.memory_cap.push_back(
        at(shape, "cap", static_cast<std::size_t>(rank), shape.stages() * most));
  }
  return {};
}

PipelineCosts costs_in(const PipelineShape& shape) {
  PipelineCosts costs{.forward = by_stage(shape, "f", kUnit),
                      .backward_input = by_stage(shape, "i", kUnit),
                      .backward_weight = by_stage(shape, "w", kUnit),
                      .recompute = by_stage(shape, "r", 0),
                      .transfer = by_stage(shape, "transfer", 0)};
  for (std::size_t stage = 0; stage < costs.forward.size(); ++stage) {
    const Duration halves = costs.backward_input[stage] + costs.backward_weight[stage];
    costs.backward.emplace_back(at(shape, "b", stage, halves.count()));
  }
  return costs;
}

/// The place after the point is one of the shape's.
bool index_exists(const PipelineShape& shape, const std::string& name) {
  const std::size_t point = name.find('.');
  if (point == std::string::npos) {
    return true;
  }
  const std::int32_t places = name.starts_with("cap.") ? shape.ranks : shape.stages();
  for (std::int32_t place = 0; place < places; ++place) {
    if (name.substr(point + 1) == fmt::format("{}", place)) {
      return true;
    }
  }
  return false;
}

Result<void> check_parameters(const PipelineShape& shape) {
  const std::int64_t steps =
      std::int64_t{3} * shape.stages() * static_cast<std::int64_t>(shape.micro_batches);
  if (steps > kMostSteps) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("schedule 'synth' searches for lists of up to {} actions, but this one "
                            "has {}; take a schedule with a rule, or more flushes",
                            kMostSteps,
                            steps),
                "plan:/micro_batches");
  }
  for (const auto& [name, value] : shape.parameters) {
    const std::string where = "plan:/schedule_parameters/" + name;
    if (!index_exists(shape, name)) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' is for a stage or rank that does not exist: there are {} "
                              "on {}",
                              name,
                              counted(shape.stages(), "stage"),
                              counted(shape.ranks, "rank")),
                  where);
    }
    if (value < 0 || value > kLongest / (4 * steps)) {
      return fail(
          ErrorCode::kInvalidInput,
          fmt::format(
              "'{}' is {}, but has to be from 0 to {}", name, value, kLongest / (4 * steps)),
          where);
    }
  }
  return {};
}

Result<PipelineOrder> generate(const PipelineShape& shape) {
  if (Result<void> checked = check_parameters(shape); !checked) {
    return pass_on(std::move(checked));
  }
  SynthesisRequest request{.shape = shape, .costs = costs_in(shape)};
  if (Result<void> read = read_memory(shape, request); !read) {
    return pass_on(std::move(read));
  }
  request.objective =
      shape.parameter("span", 0) != 0 ? SynthesisObjective::kSpan : SynthesisObjective::kMakespan;
  request.effort = shape.parameter("effort", request.effort);
  request.seed = static_cast<std::uint32_t>(shape.parameter("seed", request.seed));
  Result<Synthesis> synthesis = synthesize(request);
  if (!synthesis) {
    return pass_on(std::move(synthesis));
  }
  return std::move(synthesis->order);
}

/// One number where all places agree, else one for each that differs from the first.
template <class Values, class Count>
void add(std::map<std::string, std::int64_t>& parameters,
         std::string_view name,
         const Values& values,
         const Count& count) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i == 0) {
      parameters[std::string(name)] = count(values[i]);
    } else if (values[i] != values[0]) {
      parameters[indexed(name, i)] = count(values[i]);
    }
  }
}

}  // namespace

ScheduleGenerator synth_schedule() {
  return {.name = "synth",
          .aliases = kAliases,
          .summary =
              "searched for given costs and memory caps; no slower than any of the others "
              "with one copy of the weights and no paired passes that fits",
          .figures = {.bubble = "as small as the search finds",
                      .peak = "at most `cap`, until W",
                      .weights = "1",
                      .constraints = "cap >= V"},
          .parameters = kParameters,
          .indexed_parameters = kIndexed,
          .default_virtual_stages = 1,
          .synthesised = true,
          .generate = generate};
}

std::map<std::string, std::int64_t> synth_parameters(const SynthesisRequest& request) {
  std::map<std::string, std::int64_t> parameters;
  const auto time = [](Duration cost) { return cost.count(); };
  const PipelineCosts& costs = request.costs;
  add(parameters, "f", costs.forward, time);
  add(parameters, "i", costs.backward_input, time);
  add(parameters, "w", costs.backward_weight, time);
  add(parameters, "b", costs.backward, time);
  add(parameters, "r", costs.recompute, time);
  add(parameters, "transfer", costs.transfer, time);
  const auto number = [](std::int64_t value) { return value; };
  add(parameters, "held", request.held, number);
  add(parameters, "checkpoint", request.checkpoint, number);
  add(parameters, "released", request.released, number);
  add(parameters, "pending", request.pending, number);
  add(parameters, "cap", request.memory_cap, number);
  parameters["span"] = request.objective == SynthesisObjective::kSpan ? 1 : 0;
  parameters["effort"] = request.effort;
  parameters["seed"] = request.seed;
  return parameters;
}

}  // namespace stagewright
