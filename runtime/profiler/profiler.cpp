#include "runtime/profiler/profiler.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "core/base/version.h"
#include "runtime/compute/library_versions.h"
#include "runtime/profiler/link_benchmark.h"
#include "runtime/profiler/segment_samples.h"
#include "runtime/trainer/random_tokens.h"
#include "runtime/trainer/trainer.h"

namespace stagewright {

namespace {

void report(const ProfileOptions& options, std::string what, double done) {
  if (options.on_progress) {
    options.on_progress({std::move(what), done});
  }
}

[[nodiscard]] std::vector<std::int32_t> group_sizes(std::span<const Schedule> schedules) {
  std::set<std::int32_t> sizes;
  for (const Schedule& schedule : schedules) {
    for (const Group& group : schedule.groups) {
      if (group.members.size() > 1) {
        sizes.insert(static_cast<std::int32_t>(group.members.size()));
      }
    }
    if (schedule.ranks.size() > 1) {
      sizes.insert(2);  // sends
    }
  }
  return {sizes.begin(), sizes.end()};
}

[[nodiscard]] std::vector<Bytes> usual_sizes() {
  std::vector<Bytes> sizes;
  constexpr std::int64_t kSmallest = 256;
  constexpr std::int64_t kLargest = std::int64_t{16} << 20;
  for (std::int64_t size = kSmallest; size <= kLargest; size *= 4) {
    sizes.emplace_back(size);
  }
  return sizes;
}

[[nodiscard]] std::map<std::string, std::string> provenance() {
  std::map<std::string, std::string> made_by = library_versions();
  made_by["program"] = "stagewright " + std::string(version());
  made_by["date"] = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  return made_by;
}

/// Trains by one schedule and gathers its times.
[[nodiscard]] Result<void> measure(const Schedule& schedule,
                                   const ProfileOptions& options,
                                   SegmentSamples& samples) {
  const std::optional<std::int64_t> vocabulary = vocabulary_of(schedule);
  if (!vocabulary) {
    return fail(ErrorCode::kUnsupported,
                "the schedule has neither an embedding nor a loss to give data to",
                schedule.model_name);
  }
  RunOptions run_options;
  run_options.steps = options.warm_up + options.steps;
  run_options.first_traced_step = options.warm_up;
  run_options.traced_steps = std::nullopt;
  run_options.virtual_clock = options.virtual_clock;
  run_options.seed = options.seed;
  run_options.timeout = options.timeout;
  run_options.stop = options.stop;
  run_options.make_world = options.make_world;
  run_options.make_device = options.make_device;
  if (options.clocks) {
    run_options.on_step = [&options](const StepProgress&) { options.clocks->look(); };
  }
  const std::vector<const Schedule*> schedule_of_rank(schedule.ranks.size(), &schedule);
  const auto ran = run(schedule_of_rank, RandomTokens(*vocabulary, options.seed), run_options);
  if (!ran) {
    return tl::unexpected(ran.error());
  }
  if (ran->stopped) {
    return fail(ErrorCode::kBackendFailed, "the measurement was stopped", schedule.model_name);
  }
  if (ran->virtual_trace) {
    samples.add(schedule, *ran->virtual_trace, 0);  // holds the traced steps alone
  } else {
    samples.add(schedule, ran->trace, options.warm_up);
  }
  return {};
}

}  // namespace

Result<Profile> measure_segments(std::span<const Schedule> schedules,
                                 const ProfileOptions& options) {
  if (schedules.empty()) {
    return fail(ErrorCode::kInvalidInput, "there is no schedule to measure", "profile");
  }
  if (options.steps < 1 || options.warm_up < 0) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{} steps after {} to warm up; measure at least one step",
                            options.steps,
                            options.warm_up),
                "profile");
  }
  SegmentSamples samples;
  Profile result;
  result.device = options.device;
  result.made_by = provenance();
  result.made_by["clock"] = options.virtual_clock ? "virtual" : "wall";
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    const Schedule& schedule = schedules[i];
    report(options,
           fmt::format("schedule {} of {}: {}, {} ranks",
                       i + 1,
                       schedules.size(),
                       schedule.schedule_name,
                       schedule.ranks.size()),
           static_cast<double>(i) / static_cast<double>(schedules.size()));
    if (auto good = measure(schedule, options, samples); !good) {
      return pass_on(std::move(good));
    }
    result.concurrent_ranks =
        std::max(result.concurrent_ranks, static_cast<std::int32_t>(schedule.ranks.size()));
  }
  if (options.clocks) {
    for (auto& [what, seen] : options.clocks->summary()) {
      result.made_by[what] = std::move(seen);
    }
  }
  result.operations = samples.operations();
  result.segments = samples.segments();
  result.links = samples.links();
  return result;
}

Result<Profile> profile(std::span<const Schedule> schedules, const ProfileOptions& options) {
  auto result = measure_segments(schedules, options);
  if (!result || !options.links) {
    return result;
  }
  report(options, "links", 1.0);
  LinkBenchmarkOptions link_options;
  link_options.ranks = group_sizes(schedules);
  link_options.sizes = options.message_sizes.empty() ? usual_sizes() : options.message_sizes;
  link_options.repeats = options.link_repeats;
  link_options.stop = options.stop;
  link_options.make_world = options.make_world;
  link_options.make_device = options.make_device;
  auto links = measure_links(link_options);
  if (!links) {
    return pass_on(std::move(links));
  }
  std::ranges::move(*links, std::back_inserter(result->links));
  std::ranges::sort(result->links, in_order);
  return result;
}

}  // namespace stagewright
