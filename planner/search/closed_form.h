#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/cluster/cluster.h"
#include "planner/schedules/generator.h"
#include "planner/search/cost_cache.h"
#include "planner/search/least_exposed.h"
#include "planner/search/partition.h"
#include "planner/search/replica_prices.h"
#include "planner/search/stage_profile.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

/// Time and memory that a point needs at least.
struct Bound {
  Duration time{};  ///< never above the static pass's step time
  Bytes memory{};   ///< of the fullest rank, context included; never above the static pass's
};

/// A point with its stages cut, bounded from below.
struct Estimate {
  Bound bound;
  bool fits = true;
  Bytes state{};  ///< part of the fullest rank's memory: parameters, gradients, optimizer
  std::vector<std::int32_t> stage_layers;
  std::vector<std::int32_t> recomputed;  ///< layers by stage; empty: as the point says
};

/// What a point's stages cost in its own order (schedule_bound.h): by stage, but where that is
/// said.
struct StageCosts {
  std::vector<Duration> forward;
  std::vector<Duration> backward;
  std::vector<Duration> backward_input;
  std::vector<Duration> backward_weight;
  std::vector<Duration> leading;  ///< of the backward, before it needs the gradient from behind
  std::vector<Duration> input_leading;  ///< the same of its input half
  std::vector<Duration> trailing;  ///< of the backward, after the gradient for the stage before
  std::vector<Bytes> saved;
  std::vector<Bytes> saved_for_weight;  ///< part of it that waits for the weight half
  std::vector<Bytes> pending;           ///< made by the input half for the weight half
  std::vector<Bytes> working;           ///< beside that, while the backward begins
  Duration border{};
  Duration least_lag{};          ///< between any two stages; may be negative
  Duration update{};             ///< with what comes once a step
  double stretch = 1;            ///< of all times: stragglers
  std::vector<Duration> behind;  ///< by rank: reduction after its last action
  /// Reduction that holds up its rank behind the stage's last backward; empty: none does.
  std::vector<Duration> reduction;
  bool reduces_often = false;  ///< behind each backward instead
  std::vector<Bytes> held;     ///< by rank: state and context
};

/// How often the stages of a point are cut, each time with less room for tensors, before it is
/// given up: by the closed form and by the exact memory alike.
inline constexpr int kMostCuts = 3;

/// Closed form for the points of one (tp, pp).  With q a pipeline rank, i its first stage,
///
///   step >= max_q ( head_i + c_i + M work_q + max(r_i, up_i + c_i + r_0) ) + o
///   head_i = sum_{j<i} f_j,   up_i = sum_{j<i} (b_j - u_j) - sum_{0<j<=i} w_j
///
/// with f, b a stage's forward and backward, u what its backward does before it needs the
/// gradient from the stage behind (recomputation), w what its backward does after the gradient for
/// the stage before is ready, c_i the transfers across the borders before i, M micro-batches, r
/// the gradient reduction after the last backward, o the optimizer step: a rank cannot begin before
/// the first micro-batch has come down to its first stage and must do all its work; the last of it
/// is the first stage's backward, whose gradient must come back up to stage 0.  Where backwards are
/// split, weight gradients may come last: then up counts input halves alone, and the last of the
/// work may follow without it.  What ZeRO 2 and 3 move with every micro-batch is a bound of its own
/// for the stream that it shares.
///
/// Memory: state, and the activations that the schedule holds at least.
/// Not for several threads at once; several of them may share the cache.
class ClosedForm {
 public:
  struct Job {
    const ModelGraph* model = nullptr;
    const Cluster* cluster = nullptr;
    const CostModel* cost = nullptr;
    const GroupPlaces* places = nullptr;
    CostCache* costs = nullptr;
    Bytes capacity{};  ///< for tensors: the device's share, less its context
    Bytes context{};
    bool clips = true;  ///< updates wait for the norm of all gradients
    DType gradient = DType::kFloat32;
  };
  /// Everything must outlive this object.
  explicit ClosedForm(const Job& job) : job_(job), machine_(*job.cost, *job.cluster) {}

  /// Layers alone on all ranks, whatever schedule, cut, ZeRO stage and placement.  With
  /// `any_recompute`, whatever is recomputed, too.  Nothing where layers have no price.
  [[nodiscard]] std::optional<Bound> of_layers(const PlanPoint& point, bool any_recompute);
  /// Layers alone in whole numbers on each rank, with what the schedule does not hide of their
  /// waiting; whatever the cut, ZeRO stage and placement.
  [[nodiscard]] Duration of_schedule(const PlanPoint& point);
  /// The work of the last rank alone, cut as the point says, and the way there and back; nothing
  /// where that is not known without more ado.  At most time_of_pipeline(), and found sooner.
  [[nodiscard]] Duration of_last_rank(const PlanPoint& point);
  /// State alone, with everything divided that replicas may divide.  Nothing as above.
  [[nodiscard]] std::optional<Bytes> of_state(const PlanPoint& point);
  /// Cut and scheduled, without what replicas exchange and what crosses borders: whatever the rank
  /// order and the ZeRO stage.
  [[nodiscard]] Duration time_of_pipeline(const PlanPoint& point);
  /// The same of memory; zero where other cuts or more recomputation may make room.
  [[nodiscard]] Bytes memory_of_pipeline(const PlanPoint& point);
  /// The time with what crosses borders under the point's rank order, whatever the ZeRO stage.
  [[nodiscard]] Duration of_rank_order(const PlanPoint& point);
  /// Whether the point's stages are cut evenly, and the cut of least time is the same.
  [[nodiscard]] bool even_is_balanced(const PlanPoint& point);
  /// The whole point.  Where the cut of least time does not fit, one that does is searched for only
  /// if the bound is still below `limit`.
  [[nodiscard]] Estimate whole(const PlanPoint& point, Duration limit);

  /// The estimate with that many layers of every stage recomputed.
  [[nodiscard]] Estimate recomputing(const PlanPoint& point,
                                     const Estimate& estimate,
                                     std::int32_t again);
  /// The costs behind whole()'s estimate.
  [[nodiscard]] StageCosts stage_costs(const PlanPoint& point, const Estimate& estimate);

  /// Why layers have no price.
  [[nodiscard]] const Error& why_not(const PlanPoint& point);

 private:
  using Layout = PipelineOrder (*)(const PipelineShape&);
  using Placement = std::vector<std::vector<std::int32_t>>;
  /// What stages and their costs depend on.
  struct ProfileKey {
    Layout layout = nullptr;
    std::int32_t virtual_stages = 1;
    std::int32_t cut = 0;
    std::int32_t micro_batch_size = 1;
    std::int32_t recompute = 0;
    std::int32_t recompute_layers = 0;
    std::int64_t tensor_place = 0;
    bool sequence_parallel = false;
    bool short_transfers = false;
    friend bool operator==(const ProfileKey&, const ProfileKey&) = default;
  };
  struct KeyHash {
    [[nodiscard]] std::size_t operator()(const ProfileKey& key) const;
  };
  /// Times without replicas' exchange that were worked out for so many micro-batches, by what a
  /// border takes: many rank orders place borders alike.
  struct Bare {
    std::int32_t micro_batches = 0;
    bool replicas = false;
    std::vector<std::pair<Duration, Duration>> by_border;
  };
  struct Profile {
    std::vector<std::int32_t> stage_layers;
    std::vector<std::int32_t> recomputed;
    StageProfile stages;
    std::array<Bare, 4> bare{};  ///< by what the schedule splits and pairs
  };
  /// What replicas and borders cost.
  struct Exchange {
    Duration border{};
    ReplicaPrices* replicas = nullptr;
    /// Two ranks that hold the same stage, nearer to each other than any such pair is.
    ReplicaPrices* copies = nullptr;
  };

  [[nodiscard]] static const ScheduleGenerator& generator_of(const PlanPoint& point);
  [[nodiscard]] static Bytes state_of(const PlanPoint& point,
                                      const RankProfile& rank,
                                      std::int32_t zero);

  [[nodiscard]] ProfileKey key_of(const PlanPoint& point);
  [[nodiscard]] std::int64_t tensor_place(const PlanPoint& point);
  [[nodiscard]] const Result<LayerCosts>& layers_of(const PlanPoint& point, Recompute recompute);
  [[nodiscard]] PointCosts costs_of(const PlanPoint& point);
  [[nodiscard]] Profile& profile_of(const PlanPoint& point);
  [[nodiscard]] const Placement& placement_of(const PlanPoint& point);
  [[nodiscard]] Profile make_profile(const PlanPoint& point,
                                     std::vector<std::int32_t> layers,
                                     std::vector<std::int32_t> recomputed);
  [[nodiscard]] const std::vector<std::int32_t>& unlimited_cut(const PlanPoint& point);
  /// Above which a point of that memory may not be: the least over the ZeRO stages.
  [[nodiscard]] Bytes least_memory_of(const PlanPoint& point, const StageProfile& stages) const;
  [[nodiscard]] Duration totals_of(const PlanPoint& point);
  [[nodiscard]] Duration update_of(const PlanPoint& point,
                                   const StageProfile& stages,
                                   Exchange& exchange);
  [[nodiscard]] Duration time_of(const PlanPoint& point,
                                 const StageProfile& stages,
                                 Exchange& exchange);
  [[nodiscard]] Bytes memory_of(const PlanPoint& point,
                                const StageProfile& stages,
                                std::int32_t zero,
                                Bytes* state) const;
  [[nodiscard]] ReplicaPrices& prices_of(const GroupGeometry& group);
  [[nodiscard]] Exchange exchange_of(const PlanPoint& point, Bytes border);
  [[nodiscard]] Duration reduction(const PlanPoint& point,
                                   Bytes gradients,
                                   Exchange& exchange) const;
  [[nodiscard]] Duration collective(OpKind kind,
                                    ReplicaTraffic traffic,
                                    Bytes bytes,
                                    Exchange& exchange) const;
  [[nodiscard]] Duration between_copies(const StageProfile& stages,
                                        const RankProfile& rank,
                                        Exchange& exchange) const;
  /// StageCosts::reduction.
  [[nodiscard]] std::vector<Duration> stage_reductions(const PlanPoint& point,
                                                       const PointCosts& costs,
                                                       const std::vector<StageSum>& stages,
                                                       const Exchange& exchange);
  /// A cut that fits, or layers recomputed so that it does; nothing where there is none.
  [[nodiscard]] std::optional<Profile> fitting(const PlanPoint& point, Bytes capacity);
  [[nodiscard]] std::optional<Profile> recomputed_in(const PlanPoint& point,
                                                     const PartitionProblem& problem);
  [[nodiscard]] std::optional<Profile> recomputed_evenly(const PlanPoint& point,
                                                         const Profile& profile);

  /// The time of all ZeRO stages, without what replicas exchange.
  [[nodiscard]] Duration time_across(const PlanPoint& point, Profile& profile, Duration border);

  /// What points have in common that differ in ZeRO stage and buckets alone.
  struct Common {
    PlanPoint point;
    const Profile* profile = nullptr;
    Exchange exchange;
  };
  [[nodiscard]] Common& common_of(const PlanPoint& point);
  /// fitting(), worked out once whatever the rank order, but for where it puts tensor groups.
  [[nodiscard]] const std::optional<Profile>& fitted(const PlanPoint& point);
  /// Whether no cut and no recomputation of the point is known to fit, whatever the rank order.
  [[nodiscard]] bool unfit(const PlanPoint& point) const;

  Job job_;
  PricedMachine machine_;
  std::optional<Common> common_;  ///< of the last point
  /// What the points that differ in rank order, ZeRO stage and bucket alone are cut into.
  struct Fitted {
    PlanPoint point;
    std::map<std::pair<std::int32_t, std::int64_t>, std::optional<Profile>>
        profiles;  ///< by ZeRO stage and place of tensor groups
  };
  Fitted fitted_;
  /// tensor_place() of the last tensor, data and pipeline degree and rank order.
  std::pair<std::array<std::int32_t, 4>, std::int64_t> last_place_{};
  /// The last layer costs that were asked for: those of one point, most often.
  std::array<std::pair<CostCache::Key, const Result<LayerCosts>*>, 4> last_costs_{};
  std::size_t oldest_costs_ = 0;
  std::pair<const ProfileKey, Profile>* last_profile_ = nullptr;
  std::unordered_map<ProfileKey, Profile, KeyHash> profiles_;
  std::unordered_map<ProfileKey, std::vector<std::int32_t>, KeyHash> cuts_;
  std::map<std::pair<Layout, std::int32_t>, Placement> placements_;
  std::unordered_map<std::int64_t, Duration> totals_;  ///< by devices
  /// By members, members on a node, and groups on it.
  std::map<std::array<std::int32_t, 3>, ReplicaPrices> prices_;
};

}  // namespace stagewright
