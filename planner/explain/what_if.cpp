#include "planner/explain/what_if.h"

#include <utility>

#include <fmt/format.h>

namespace stagewright {
namespace {

constexpr int kTwice = 2;
constexpr int kTenth = 10;

/// Applies a change to every specification of links of that level.
template <class Change>
void change_links(Cluster& cluster, bool between_nodes, const Change& change) {
  for (DeviceType& type : cluster.types) {
    change(between_nodes ? type.inter_node : type.intra_node);
  }
  if (auto& link = between_nodes ? cluster.inter_node : cluster.intra_node) {
    change(*link);
  }
}

void widen(LinkSpec& link) {
  link.bandwidth = BytesPerSecond(link.bandwidth.count() * kTwice);
}

void quicken(LinkSpec& link) {
  link.latency = Duration(link.latency.count() / kTenth);
}

bool has_neighbours(const Cluster& cluster) {
  for (const Node& node : cluster.nodes) {
    if (node.devices.size() > 1) {
      return true;
    }
  }
  return false;
}

class Scenarios {
 public:
  explicit Scenarios(const ExplainJob& job) : job_(job) {}

  template <class Change>
  void add(std::string name, const Change& change) {
    Scenario& scenario = all_.emplace_back(Scenario{std::move(name), job_});
    change(scenario.job);
  }
  [[nodiscard]] std::vector<Scenario> take() && { return std::move(all_); }

 private:
  const ExplainJob& job_;
  std::vector<Scenario> all_;
};

/// The plan with as many micro-batches as the scenario's batch asks for.
Result<Plan> adapted(const ExplainJob& job, Plan plan) {
  if (plan.global_batch() == job.request.global_batch) {
    return plan;
  }
  const std::int64_t each = std::int64_t{plan.stages.front().dp} * plan.micro_batch_size;
  if (job.request.global_batch % (each * plan.flushes) != 0) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("{} sequences are no multiple of dp {} x micro-batches of {}",
                            job.request.global_batch,
                            plan.stages.front().dp,
                            plan.micro_batch_size));
  }
  plan.micro_batches = static_cast<std::int32_t>(job.request.global_batch / each);
  return plan;
}

}  // namespace

std::vector<Scenario> usual_scenarios(const ExplainJob& job,
                                      const std::vector<DeviceType>& devices) {
  Scenarios scenarios(job);
  if (has_neighbours(job.cluster)) {
    scenarios.add("bandwidth inside nodes x 2",
                  [](ExplainJob& other) { change_links(other.cluster, false, widen); });
  }
  if (job.cluster.nodes.size() > 1) {
    scenarios.add("bandwidth between nodes x 2",
                  [](ExplainJob& other) { change_links(other.cluster, true, widen); });
  }
  scenarios.add("latency of all links / 10", [](ExplainJob& other) {
    change_links(other.cluster, false, quicken);
    change_links(other.cluster, true, quicken);
    for (SwitchTier& tier : other.cluster.tiers) {
      tier.latency = Duration(tier.latency.count() / kTenth);
    }
  });
  scenarios.add("memory x 2", [](ExplainJob& other) {
    for (DeviceType& type : other.cluster.types) {
      type.memory = Bytes(type.memory.count() * kTwice);
    }
  });
  if (job.request.global_batch % kTwice == 0) {
    scenarios.add("batch / 2", [](ExplainJob& other) { other.request.global_batch /= kTwice; });
  }
  scenarios.add("batch x 2", [](ExplainJob& other) { other.request.global_batch *= kTwice; });
  scenarios.add("one more node", [](ExplainJob& other) {
    other.cluster.nodes.push_back(other.cluster.nodes.back());
  });
  for (const DeviceType& device : devices) {
    scenarios.add(fmt::format("devices: {}", device.name), [&](ExplainJob& other) {
      for (DeviceType& type : other.cluster.types) {
        type = device;
      }
    });
  }
  return std::move(scenarios).take();
}

WhatIf what_if(const Scenario& scenario, const Plan& plan, const SearchControl& control) {
  WhatIf answer{
      .name = scenario.name, .same = {}, .same_reason = {}, .best = {}, .best_reason = {}};
  if (auto same = adapted(scenario.job, plan).and_then([&](const Plan& adapted_plan) {
        return price_plan(scenario.job, adapted_plan);
      })) {
    answer.same = *std::move(same);
    if (!answer.same->summary.fits) {
      answer.same_reason = "does not fit into the memory";
    }
  } else {
    answer.same_reason = same.error().to_string();
  }
  if (auto best = best_plan(scenario.job, control)) {
    answer.best = *std::move(best);
  } else {
    answer.best_reason = best.error().to_string();
  }
  return answer;
}

}  // namespace stagewright
