#include "planner/search/space.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"
#include "planner/axes/tensor.h"
#include "planner/schedules/registry.h"

namespace stagewright {
namespace {

bool walk(const SpaceJob& job,
          std::size_t level,
          const PlanPoint& point,
          const std::function<bool(const PlanPoint&)>& visit) {
  const auto all = dimensions();
  if (level == all.size()) {
    return visit(point);
  }
  std::vector<std::int64_t> values;
  allowed_values(job, level, point, values);
  for (const std::int64_t value : values) {
    PlanPoint next = point;
    all[level].set(next, value);
    if (!walk(job, level + 1, next, visit)) {
      return false;
    }
  }
  return true;
}

}  // namespace

SpaceJob space_job(const ModelGraph& model, const Cluster& cluster, const SearchRequest& request) {
  SW_CHECK(dimensions().size() == kDimensionCount, "one count of dimensions");
  SpaceJob job;
  job.model = &model;
  job.devices = cluster.device_count();
  job.devices_per_node = static_cast<std::int64_t>(cluster.nodes.front().devices.size());
  job.global_batch = request.global_batch;
  job.sequence = request.sequence;
  job.compute = request.precision.compute;
  job.tensor_degrees = tensor_degrees(model);
  // The closed form without lists knows transformers.
  job.closed_form_only = request.step_prices.has_value() && !sees_images(model);
  job.every_cut_up_to = request.every_cut_up_to;
  job.constraints = request.constraints;
  return job;
}

void allowed_values(const SpaceJob& job,
                    std::size_t level,
                    const PlanPoint& point,
                    std::vector<std::int64_t>& out) {
  const Dimension& dimension = dimensions()[level];
  out.clear();
  dimension.values(job, point, out);
  const ValueSet* allowed = job.constraint(dimension.name);
  if (allowed == nullptr) {
    return;
  }
  if (dimension.names == nullptr) {
    if (dimension.takes != nullptr) {
      for (const std::int64_t value : allowed->named()) {
        if (std::ranges::find(out, value) == out.end() && dimension.takes(job, point, value)) {
          out.push_back(value);
        }
      }
    }
    std::erase_if(out, [&](std::int64_t value) { return !allowed->has(value); });
    return;
  }
  const std::vector<std::string_view> words = dimension.names();
  std::erase_if(out, [&](std::int64_t value) {
    const auto index = static_cast<std::size_t>(value);
    return index >= words.size() || !allowed->has(words[index]);
  });
}

std::size_t SpaceCounter::KeyHash::operator()(const Key& key) const {
  // FNV-1a over words, with the high bits brought down, where buckets are chosen.
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::uint64_t word : key) {
    hash = (hash ^ word ^ (word >> 32U)) * 0x100000001b3U;
  }
  return static_cast<std::size_t>(hash ^ (hash >> 32U));
}

SpaceCounter::Key SpaceCounter::key_of(std::size_t level, const PlanPoint& point) const {
  const auto all = dimensions();
  Key key{};
  for (std::size_t i = level; i < all.size(); ++i) {
    key[i] = all[i].reads(*job_, point);
  }
  return key;
}

std::int64_t SpaceCounter::counted(std::size_t level, const PlanPoint& point) const {
  if (level == dimensions().size()) {
    return 1;
  }
  const auto found = known_[level].find(key_of(level, point));
  SW_CHECK(found != known_[level].end(), "a point of the space that was counted");
  return found->second;
}

std::int64_t SpaceCounter::below(std::size_t level, const PlanPoint& point) {
  return below(level, point, key_of(level, point));
}

std::int64_t SpaceCounter::below(std::size_t level, const PlanPoint& point, const Key& key) {
  const auto all = dimensions();
  if (level == all.size()) {
    return 1;
  }
  const auto found = known_[level].find(key);
  if (found != known_[level].end()) {
    return found->second;
  }
  std::vector<std::int64_t> values;
  allowed_values(*job_, level, point, values);
  std::int64_t count = 0;
  std::int64_t more = 0;
  std::optional<Key> last;
  for (const std::int64_t value : values) {
    PlanPoint next = point;
    all[level].set(next, value);
    const Key below_it = key_of(level + 1, next);
    // Many values in a row have equal subtrees.
    if (!last || *last != below_it) {
      more = below(level + 1, next, below_it);
      last = below_it;
    }
    count = more > std::numeric_limits<std::int64_t>::max() - count
                ? std::numeric_limits<std::int64_t>::max()
                : count + more;
  }
  known_[level].emplace(key, count);
  return count;
}

std::optional<PlanPoint> first_point(const SpaceJob& job) {
  std::optional<PlanPoint> first;
  for_each_point(job, [&](const PlanPoint& point) {
    first = point;
    return false;
  });
  return first;
}

void for_each_point(const SpaceJob& job, const std::function<bool(const PlanPoint&)>& visit) {
  walk(job, 0, PlanPoint{}, visit);
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

Plan plan_of(const PlanPoint& point,
             const std::vector<std::int32_t>& stage_layers,
             const std::vector<std::int32_t>& recomputed,
             const Plan& common) {
  Plan plan = common;
  plan.micro_batch_size = point.micro_batch_size;
  plan.micro_batches = point.micro_batches;
  plan.schedule = schedule_generators()[static_cast<std::size_t>(point.schedule)].name;
  plan.virtual_stages = point.virtual_stages;
  plan.cp = point.cp;
  plan.ep = point.ep;
  plan.zero_stage = point.zero;
  plan.sequence_parallel = point.sequence_parallel;
  if (point.bucket_megabytes > 0) {
    plan.bucket_size = Bytes(std::int64_t{point.bucket_megabytes} * 1'000'000);
  }
  if (point.short_transfers) {
    plan.precision.transfer = DType::kBFloat16;
  }
  plan.rank_order = rank_orders()[static_cast<std::size_t>(point.rank_order)];
  std::int32_t first = 0;
  for (std::size_t s = 0; s < stage_layers.size(); ++s) {
    StagePlan stage{.first_layer = first,
                    .layers = stage_layers[s],
                    .dp = point.dp,
                    .tp = point.tp,
                    .recompute = point.recompute};
    if (!recomputed.empty()) {
      if (recomputed[s] == 0) {
        stage.recompute = Recompute::kNone;
      } else if (recomputed[s] < stage_layers[s]) {
        stage.recompute_layers = recomputed[s];
      }
    } else if (point.recompute_layers > 0) {
      stage.recompute_layers = std::min(point.recompute_layers, stage_layers[s]);
    }
    plan.stages.push_back(stage);
    first += stage_layers[s];
  }
  return plan;
}

}  // namespace stagewright
