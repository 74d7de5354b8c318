#include "cli/event_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/number_check.h"
#include "cli/path_check.h"
#include "core/base/longest_time.h"

namespace stagewright {
namespace {

template <typename Number>
std::optional<Number> parse(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && last == end ? std::optional(number) : std::nullopt;
}

std::optional<double> positive(std::string_view text) {
  const auto number = parse<double>(text);
  return number && std::isfinite(*number) && *number > 0 ? number : std::nullopt;
}

Result<Straggler> read_straggler(std::string_view text, std::int32_t ranks) {
  const std::size_t equals = text.find('=');
  if (equals != std::string_view::npos) {
    const auto rank = parse<std::int32_t>(text.substr(0, equals));
    const auto factor = positive(text.substr(equals + 1));
    if (rank && factor && *rank >= 0 && *rank < ranks) {
      return Straggler{RankId(*rank), *factor};
    }
  }
  return fail(
      ErrorCode::kInvalidInput,
      fmt::format(
          "'{}' is no RANK=FACTOR with a rank from 0 to {}; for example 0=1.2", text, ranks - 1),
      "--straggler");
}

Result<double> read_jitter(std::string_view text) {
  const bool percent = text.ends_with('%');
  const auto number = parse<double>(percent ? text.substr(0, text.size() - 1) : text);
  const double share = number ? *number / (percent ? 100 : 1) : -1;
  if (!(share >= 0) || share > kMostJitter) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("'{}' is no share from 0 to {:.0f}%; for example 5%", text, kMostJitter * 100),
        "--jitter");
  }
  return share;
}

Result<double> read_slowdown(std::string_view text, double calibrated) {
  if (text.empty()) {
    return 1.0;
  }
  if (text == "calibrated") {
    return calibrated;
  }
  const auto factor = parse<double>(text);
  constexpr double kMost = 100;
  if (!factor || !(*factor >= 1) || *factor > kMost) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format(
            "'{}' is no number from 1 to {:.0f}; for example 1.1, or calibrated", text, kMost),
        "--compute-slowdown");
  }
  return *factor;
}

Result<Duration> read_overhead(const std::string& text, std::optional<double> unit_seconds) {
  if (!unit_seconds) {
    auto time = parse_duration(text);
    if (time && *time >= Duration{}) {
      return time;
    }
    return fail(ErrorCode::kInvalidInput,
                time ? fmt::format("'{}' is negative", text) : time.error().message,
                "--action-overhead");
  }
  const auto number = parse<double>(text);
  if (!number || !(*number >= 0) || !(*number * *unit_seconds <= kLongestSeconds)) {
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("'{}' is no number of 0 or more, in the unit of --costs, that the clock "
                    "of picoseconds can count",
                    text),
        "--action-overhead");
  }
  return from_seconds(*number * *unit_seconds);
}

/// Beyond it the memory for their times is worth a thought.
std::string sample_count(const std::string& text) {
  constexpr std::int32_t kMost = 10'000'000;
  const auto number = parse<std::int32_t>(text);
  return number && *number >= 1 && *number <= kMost
             ? std::string()
             : fmt::format("'{}' is not a whole number from 1 to {}", text, kMost);
}

std::string thread_count(const std::string& text) {
  constexpr std::int32_t kMost = 1024;
  const auto number = parse<std::int32_t>(text);
  return number && *number >= 1 && *number <= kMost
             ? std::string()
             : fmt::format("'{}' is not a whole number from 1 to {}", text, kMost);
}

}  // namespace

std::string_view EventCommand::asked_by() const {
  const std::pair<bool, std::string_view> given[] = {
      {!jitter.empty(), "--jitter"},
      {!stragglers.empty(), "--straggler"},
      {!action_overhead.empty(), "--action-overhead"},
      {!compute_slowdown.empty(), "--compute-slowdown"},
      {shared_ports, "--shared-ports"},
      {engine == "event", "--engine"}};
  for (const auto& [is_given, name] : given) {
    if (is_given) {
      return name;
    }
  }
  return {};
}

Result<void> check_engine(const EventCommand& options, std::string_view more) {
  const std::string_view asked = options.asked_by().empty() ? more : options.asked_by();
  if (options.engine == "static" && !asked.empty()) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("the static pass knows nothing of {}; leave one of the two out, or "
                            "take --engine=event",
                            asked),
                "--engine");
  }
  return {};
}

void add_event_options(CLI::App& command, EventCommand& options) {
  const char* const group = "Event engine";
  command
      .add_option("--engine",
                  options.engine,
                  "static (default): one pass over the actions. event: besides, simulate what "
                  "shares links and devices (every option of this group asks for it)")
      ->check(CLI::IsMember({"static", "event"}))
      ->group(group);
  command
      .add_flag("--shared-ports",
                options.shared_ports,
                "Bare schedules: messages of a rank share its port, one for each direction")
      ->group(group);
  command
      .add_option("--straggler",
                  options.stragglers,
                  "RANK=FACTOR: the rank's computation takes so many times as long")
      ->group(group);
  command
      .add_option("--action-overhead",
                  options.action_overhead,
                  "Time before the computation of every action (5us)")
      ->check(value_given)
      ->group(group);
  command
      .add_option("--compute-slowdown",
                  options.compute_slowdown,
                  "Times that computation takes while its device communicates (1.1), or "
                  "calibrated: what profiles/calibration says (default 1)")
      ->check(value_given)
      ->group(group);
  CLI::Option* jitter =
      command
          .add_option("--jitter",
                      options.jitter,
                      "Simulate many steps in which the times of actions and messages scatter by "
                      "this share (5%)")
          ->check(value_given)
          ->group(group);
  command.add_option("--samples", options.samples, "Steps with --jitter (default 1000)")
      ->check(sample_count)
      ->needs(jitter)
      ->group(group);
  command.add_option("--seed", options.seed, "Of --jitter (default 1)")
      ->check(non_negative_count)
      ->needs(jitter)
      ->group(group);
  command
      .add_option("--threads",
                  options.threads,
                  "For --jitter; the result does not depend on them (default: all)")
      ->check(thread_count)
      ->needs(jitter)
      ->group(group);
}

Result<EventRun> read_event_options(const EventCommand& options,
                                    std::int32_t ranks,
                                    std::optional<double> unit_seconds,
                                    double calibrated_slowdown) {
  EventRun run;
  auto slowdown = read_slowdown(options.compute_slowdown, calibrated_slowdown);
  if (!slowdown) {
    return pass_on(std::move(slowdown));
  }
  run.event.compute_slowdown = *slowdown;
  for (const std::string& text : options.stragglers) {
    auto straggler = read_straggler(text, ranks);
    if (!straggler) {
      return pass_on(std::move(straggler));
    }
    const auto known = std::ranges::find(run.steady.stragglers, straggler->rank, &Straggler::rank);
    if (known != run.steady.stragglers.end()) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' gives rank {} another factor; give each rank one",
                              text,
                              straggler->rank.value()),
                  "--straggler");
    }
    run.steady.stragglers.push_back(*straggler);
  }
  if (!options.action_overhead.empty()) {
    auto overhead = read_overhead(options.action_overhead, unit_seconds);
    if (!overhead) {
      return pass_on(std::move(overhead));
    }
    run.steady.action_overhead = *overhead;
  }
  if (!options.jitter.empty()) {
    auto jitter = read_jitter(options.jitter);
    if (!jitter) {
      return pass_on(std::move(jitter));
    }
    run.jitter = *jitter;
  }
  return run;
}

}  // namespace stagewright
