#include "planner/search/space.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace stagewright {
namespace {

std::vector<std::int32_t> divisors(std::int64_t number) {
  std::vector<std::int32_t> result;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    if (number % d == 0) {
      result.push_back(static_cast<std::int32_t>(d));
      if (d * d != number) {
        result.push_back(static_cast<std::int32_t>(number / d));
      }
    }
  }
  std::ranges::sort(result);
  return result;
}

bool allowed(const std::optional<std::int32_t>& fixed, std::int32_t value) {
  return !fixed || *fixed == value;
}

/// Why no plan has these degrees, or nothing.
std::optional<std::string> impossible(const ModelGraph& model,
                                      const SearchRequest& request,
                                      const SpacePoint& point) {
  const TransformerShape& shape = model.shape;
  if (shape.heads % point.tp != 0) {
    return fmt::format("{} attention heads are not divisible by tp {}", shape.heads, point.tp);
  }
  if (shape.kv_heads % point.tp != 0) {
    return fmt::format("{} key/value heads are not divisible by tp {}", shape.kv_heads, point.tp);
  }
  if (shape.feed_forward % point.tp != 0) {
    return fmt::format(
        "feed-forward width {} is not divisible by tp {}", shape.feed_forward, point.tp);
  }
  const auto layers = static_cast<std::int32_t>(model.layers.size());
  if (layers < point.pp) {
    return fmt::format(
        "{} layers (embedding and head counted) cannot fill {} pipeline stages", layers, point.pp);
  }
  if (request.global_batch % point.dp != 0) {
    return fmt::format("global batch {} is not divisible by dp {}", request.global_batch, point.dp);
  }
  const std::int64_t replica_batch = request.global_batch / point.dp;
  if (request.micro_batch_size && replica_batch % *request.micro_batch_size != 0) {
    return fmt::format("a replica's {} sequences are not divisible by micro-batch size {}",
                       replica_batch,
                       *request.micro_batch_size);
  }
  return std::nullopt;
}

std::vector<Recompute> recompute_choices(const SearchRequest& request) {
  return request.recompute ? std::vector{*request.recompute}
                           : std::vector{Recompute::kNone, Recompute::kFull};
}

std::vector<std::string> schedule_choices(const SearchRequest& request, std::int32_t pp) {
  if (request.schedule) {
    return {*request.schedule};
  }
  // Without a pipeline both are the same list but for memory, where 1f1b is never worse.
  return pp == 1 ? std::vector<std::string>{"1f1b"} : std::vector<std::string>{"1f1b", "gpipe"};
}

void add_points(const SearchRequest& request, SpacePoint point, std::vector<SpacePoint>& points) {
  const std::int64_t replica_batch = request.global_batch / point.dp;
  for (const std::int32_t size : divisors(replica_batch)) {
    if (!allowed(request.micro_batch_size, size)) {
      continue;
    }
    point.micro_batch_size = size;
    point.micro_batches = static_cast<std::int32_t>(replica_batch / size);
    for (const Recompute recompute : recompute_choices(request)) {
      point.recompute = recompute;
      for (const std::string& schedule : schedule_choices(request, point.pp)) {
        point.schedule = schedule;
        points.push_back(point);
      }
    }
  }
}

}  // namespace

Space enumerate_space(const ModelGraph& model,
                      const Cluster& cluster,
                      const SearchRequest& request) {
  Space space;
  const std::int32_t devices = static_cast<std::int32_t>(cluster.device_count());
  for (const std::int32_t tp : divisors(devices)) {
    for (const std::int32_t pp : divisors(devices / tp)) {
      SpacePoint point{.dp = devices / tp / pp, .tp = tp, .pp = pp};
      if (!allowed(request.tp, tp) || !allowed(request.pp, pp) || !allowed(request.dp, point.dp)) {
        continue;
      }
      if (auto reason = impossible(model, request, point)) {
        point.micro_batch_size = request.micro_batch_size.value_or(1);
        point.schedule = request.schedule.value_or("1f1b");
        space.impossible.push_back({point, std::move(*reason)});
        continue;
      }
      add_points(request, point, space.points);
    }
  }
  return space;
}

Plan common_plan(const ModelGraph& model, const Cluster& cluster, const SearchRequest& request) {
  Plan plan;
  plan.model = model.name;
  plan.model_hash = model_hash(model);
  plan.cluster = cluster.name;
  plan.sequence = request.sequence;
  plan.precision = request.precision;
  plan.optimizer = request.optimizer;
  return plan;
}

Plan plan_of(const SpacePoint& point, const Plan& common) {
  Plan plan = common;
  plan.micro_batch_size = point.micro_batch_size;
  plan.micro_batches = point.micro_batches;
  plan.schedule = point.schedule;
  return plan;
}

}  // namespace stagewright
