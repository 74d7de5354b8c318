#include "cli/run_proxy.h"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "planner/lower/lower.h"

namespace stagewright {

Result<Proxy> proxy_for(const DataFiles& files, const PlanInputs& inputs, const std::string& data) {
  ProxyLimits limits;
  if (data.ends_with(".bin")) {
    limits.vocabulary.reset();
  }
  return make_proxy(files, inputs, limits);
}

Result<ProxyRun> against_one_rank(const DataFiles& files,
                                  const Proxy& proxy,
                                  const RunOptions& options,
                                  const std::vector<double>& losses) {
  const auto one = one_rank_of(files, proxy.inputs);
  if (!one) {
    return tl::unexpected<Error>(one.error());
  }
  const auto schedule = lower(one->model, one->cluster, one->plan);
  if (!schedule) {
    return tl::unexpected<Error>(schedule.error());
  }
  RunOptions alone = options;
  alone.steps = static_cast<std::int32_t>(losses.size());
  alone.traced_steps = 0;
  alone.virtual_clock = false;
  alone.on_live_trace = nullptr;
  alone.on_step = nullptr;
  const auto report = stagewright::run(*schedule, alone);
  if (!report) {
    return tl::unexpected<Error>(report.error());
  }
  ProxyRun result{proxy.shrunk, report->trace.losses};
  for (std::size_t i = 0; i < std::min(losses.size(), result.one_rank.size()); ++i) {
    const double difference =
        std::abs(losses[i] - result.one_rank[i]) / std::max(std::abs(result.one_rank[i]), 1e-30);
    if (difference > result.largest_difference) {
      result.largest_difference = difference;
      result.at_step = static_cast<std::int32_t>(i);
    }
  }
  return result;
}

nlohmann::json to_json(const ProxyRun& proxy) {
  return {{"shrunk", proxy.shrunk},
          {"one_rank_losses", proxy.one_rank},
          {"largest_loss_difference", proxy.largest_difference},
          {"at_step", proxy.at_step}};
}

void print(std::ostream& out, const ProxyRun& proxy) {
  out << fmt::format("\nproxy of the plan: {}\n",
                     proxy.shrunk.empty() ? "nothing had to be shrunk"
                                          : fmt::format("{}", fmt::join(proxy.shrunk, ", ")));
  out << fmt::format(
      "one rank on the same batches: losses differ by at most {:.2g} of their value (step {})\n",
      proxy.largest_difference,
      proxy.at_step);
}

}  // namespace stagewright
