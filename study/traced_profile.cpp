#include "study/traced_profile.h"

#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/profile/duration_samples.h"
#include "planner/lower/lower.h"
#include "sim/cost/cost_model.h"

namespace stagewright {
namespace {

/// What one rank runs that has the whole model and one micro-batch.
[[nodiscard]] Result<Schedule> whole_model(const ModelGraph& model,
                                           const Cluster& cluster,
                                           const TracedSizes& sizes) {
  Plan plan;
  plan.model = model.name;
  plan.cluster = cluster.name;
  plan.schedule = "1f1b";
  plan.micro_batches = 1;
  plan.micro_batch_size = sizes.micro_batch;
  plan.sequence = sizes.sequence;
  plan.precision = sizes.precision;
  plan.stages = {{.layers = static_cast<std::int32_t>(model.layers.size())}};
  return lower_to_price(model, cluster, std::move(plan));
}

/// Samples of segments and operations by key.
class LayerSamples {
 public:
  LayerSamples(const DeviceType& device, std::string sizes)
      : device_(device), sizes_(std::move(sizes)), cost_(make_analytical_cost()) {}

  /// Adds a pass of a stage, of which traced layer l took `times[l]`.
  void add(std::span<const Operation> ops,
           std::string_view phase,
           const std::vector<const std::vector<Duration>*>& times) {
    for (std::size_t next = 0; next < ops.size();) {
      const std::size_t first = next;
      while (next < ops.size() && ops[next].layer == ops[first].layer) {
        ++next;
      }
      SW_CHECK(ops[first].layer.has_value(), "a layer of every operation of a pass");
      const std::size_t layer = ops[first].layer->index();
      add_layer(ops.subspan(first, next - first),
                layer == 0                  ? "embedding"
                : layer + 1 == times.size() ? "head"
                                            : "block",
                phase,
                *times[layer]);
    }
  }

  void write(Profile& profile) {
    for (auto& [key, segment] : segments_) {
      segment.first.time = summarize(std::move(segment.second));
      profile.segments.push_back(std::move(segment.first));
    }
    for (auto& [key, times] : operations_) {
      profile.operations.push_back({key, summarize(std::move(times))});
    }
  }

 private:
  void add_layer(std::span<const Operation> ops,
                 std::string_view role,
                 std::string_view phase,
                 const std::vector<Duration>& times) {
    if (ops.size() > 1) {  // of one operation its own time says the same
      auto& [segment, samples] = segments_[cost_key(ops)];
      segment.key = cost_key(ops);
      segment.name = fmt::format("{} {}, {}", role, phase, sizes_);
      segment.operations = static_cast<std::int32_t>(ops.size());
      samples.insert(samples.end(), times.begin(), times.end());
    }
    std::vector<double> prices;
    double sum = 0;
    for (const Operation& op : ops) {
      prices.push_back(to_seconds(cost_->operation(op, device_).time));
      sum += prices.back();
    }
    const double typical = to_seconds(summarize(times).median);
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const double share = sum > 0 ? prices[i] / sum : 1.0 / static_cast<double>(ops.size());
      operations_[cost_key(ops[i])].push_back(from_seconds(typical * share));
    }
  }

  const DeviceType& device_;
  std::string sizes_;
  std::unique_ptr<CostModel> cost_;
  std::map<std::string, std::pair<MeasuredSegment, std::vector<Duration>>> segments_;
  std::map<std::string, std::vector<Duration>> operations_;
};

}  // namespace

Result<Profile> traced_profile(const ModelGraph& model,
                               const Cluster& cluster,
                               const TracedModel& traced,
                               const TracedSizes& sizes) {
  SW_CHECK(traced.layers.size() == model.layers.size(), "a traced layer for each of the model's");
  const auto schedule = whole_model(model, cluster, sizes);
  if (!schedule) {
    return tl::unexpected<Error>(schedule.error());
  }
  std::vector<const std::vector<Duration>*> forward;
  std::vector<const std::vector<Duration>*> backward;
  for (const TracedLayer& layer : traced.layers) {
    forward.push_back(&layer.forward);
    backward.push_back(&layer.backward);
  }
  const DeviceType& device = cluster.types.front();
  const StageProgram& stage = schedule->programs.front().stages.front();
  LayerSamples samples(device, fmt::format("{} x {} tokens", sizes.micro_batch, sizes.sequence));
  samples.add(stage.forward, "forward", forward);
  samples.add(stage.backward, "backward", backward);
  Profile profile;
  profile.device = device.name;
  profile.made_by["model"] = model.name;
  profile.made_by["clock"] = traced.on_device ? "device" : "wall";
  profile.made_by["measured"] = fmt::format(
      "layers, in {} passes of PyTorch; single operations are shares of them", traced.passes);
  samples.write(profile);
  return profile;
}

}  // namespace stagewright
