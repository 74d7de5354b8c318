#include "planner/lower/lower.h"

#include <algorithm>
#include <utility>

#include "core/cluster/device_types.h"
#include "planner/axes/pipeline.h"
#include "planner/lower/assign_parameters.h"
#include "planner/lower/assign_weight_versions.h"
#include "planner/lower/bucket_gradients.h"
#include "planner/lower/check_order.h"
#include "planner/lower/check_plan.h"
#include "planner/lower/emit_optimizer_step.h"
#include "planner/lower/emit_stages.h"
#include "planner/lower/emit_weight_versions.h"
#include "planner/lower/list_actions.h"
#include "planner/lower/order_reductions.h"
#include "planner/lower/order_transfers.h"
#include "planner/lower/place_gathers.h"
#include "planner/lower/place_recomputation.h"
#include "planner/lower/rank_draft.h"
#include "planner/lower/rank_grid.h"
#include "planner/lower/rank_groups.h"
#include "planner/lower/shared_weights.h"
#include "planner/schedules/pipeline_order.h"

namespace stagewright {
namespace {

/// By pipeline rank: whether some of its devices cannot do without a workspace for attention.
std::vector<bool> need_attention_workspace(const Cluster& cluster, const RankGrid& grid) {
  std::vector<bool> lacking;  // by type
  for (const DeviceType& type : cluster.types) {
    lacking.push_back(!type.can("flash-attention"));
  }
  std::vector<bool> need(static_cast<std::size_t>(grid.size.pipeline), false);
  if (std::ranges::find(lacking, true) == lacking.end()) {
    return need;
  }
  const std::vector<std::int32_t> types = device_types(cluster);
  for (std::int32_t rank = 0; rank < grid.ranks(); ++rank) {
    const DeviceId device = grid.devices[static_cast<std::size_t>(rank)];
    if (lacking[static_cast<std::size_t>(types[device.index()])]) {
      need[static_cast<std::size_t>(grid.coordinates(RankId(rank)).pipeline)] = true;
    }
  }
  return need;
}

/// What is the same for all ranks of one pipeline rank; model, plan and devices apart.
RankContext make_context(const RankGrid& grid,
                         const GroupSlots& slots,
                         const SharedWeights& shared,
                         const Plan& plan,
                         PipelineAxis axis) {
  RankContext context;
  context.tensor = {.degree = grid.size.tensor,
                    .group = slots.tensor,
                    .divides_rows = plan.sequence_parallel && grid.size.tensor > 1};
  context.context = {.degree = grid.size.context, .group = slots.context};
  context.data = {.degree = grid.size.data * grid.size.context, .group = slots.data};
  context.expert = {
      .degree = plan.ep,
      .group = slots.expert,
      .replicas = {.degree = context.data.degree / plan.ep, .group = slots.expert_replicas}};
  context.world = slots.world;
  context.shared = &shared;
  context.sharing_groups = slots.sharing[static_cast<std::size_t>(axis.rank)];
  context.pipeline = std::move(axis);
  return context;
}

/// The passes over one pipeline rank, in order: all of its program but the list of actions.
RankDraft draft_rank(const RankContext& context) {
  RankDraft draft;
  assign_weights(context, draft);
  bucket_gradients(context, draft);
  fill_parameter_table(context, draft);
  make_totals(draft);
  emit_stages(context, draft);
  plan_updates(context, draft);
  emit_weight_versions(context, draft);
  emit_optimizer_step(context, draft);
  return draft;
}

/// Binds every rank to the program of its pipeline rank.
std::vector<RankBinding> bind_ranks(const RankGrid& grid,
                                    RankGroups groups,
                                    const std::vector<PipelineAxis>& axes) {
  std::vector<RankBinding> bindings;
  bindings.reserve(static_cast<std::size_t>(grid.ranks()));
  for (std::int32_t rank = 0; rank < grid.ranks(); ++rank) {
    const RankCoordinates at = grid.coordinates(RankId(rank));
    RankBinding binding;
    binding.program = ProgramId(at.pipeline);
    binding.device = grid.devices[static_cast<std::size_t>(rank)];
    binding.groups = std::move(groups.of_rank[static_cast<std::size_t>(rank)]);
    binding.positions = std::move(groups.position_of[static_cast<std::size_t>(rank)]);
    binding.replica = at.data;
    binding.sequence_part = at.context;
    const std::vector<std::int32_t>& peers = axes[static_cast<std::size_t>(at.pipeline)].peers;
    binding.peers.reserve(peers.size());
    for (const std::int32_t peer : peers) {
      RankCoordinates there = at;
      there.pipeline = peer;
      binding.peers.push_back(grid.rank(there));
    }
    bindings.push_back(std::move(binding));
  }
  return bindings;
}

/// All but the model's hash.
Schedule describe(const ModelGraph& model, const Plan& plan) {
  Schedule schedule;
  schedule.model_name = model.name;
  schedule.schedule_name = plan.schedule;
  schedule.stages = static_cast<std::int32_t>(plan.stages.size());
  schedule.micro_batches = plan.micro_batches;
  schedule.micro_batch_size = plan.micro_batch_size;
  schedule.sequence = plan.sequence;
  schedule.replicas = plan.stages.front().dp;
  schedule.sequence_parts = plan.cp;
  schedule.streams = {"compute", "tensor", "data"};
  if (plan.cp > 1 || plan.ep > 1) {
    schedule.streams.emplace_back("exchange");
  }
  schedule.optimizer = plan.optimizer;
  return schedule;
}

/// REQUIRES: check_plan() has passed.
Result<Schedule> lower_checked(const ModelGraph& model,
                               const Cluster& cluster,
                               const Plan& plan,
                               PipelineOrder given,
                               const RepeatRules& repeats) {
  if (Result<void> checked = check_order(plan, given); !checked) {
    return pass_on(std::move(checked));
  }
  const SharedWeights shared = find_shared_weights(model, plan, given);
  if (Result<void> checked = check_updates(plan, given, shared); !checked) {
    return pass_on(std::move(checked));
  }
  const auto ahead = stages_that_recompute_ahead(plan, given);
  if (!ahead) {
    return tl::unexpected(ahead.error());
  }
  Result<VersionedOrder> versioned = assign_weight_versions(std::move(given));
  if (!versioned) {
    return tl::unexpected(versioned.error());
  }
  PipelineOrder& order = versioned->order;
  const Result<RankGrid> grid = place_ranks(plan, order);
  if (!grid) {
    return tl::unexpected(grid.error());
  }
  RankGroups groups = build_groups(*grid, plan.ep, shared.sharings);
  const std::vector<PipelineAxis> axes = pipeline_axes(order);

  const std::vector<bool> workspaces = need_attention_workspace(cluster, *grid);
  std::vector<RankDraft> drafts;
  for (std::size_t p = 0; p < axes.size(); ++p) {
    RankContext context = make_context(*grid, groups.slots, shared, plan, axes[p]);
    context.model = &model;
    context.plan = &plan;
    context.repeats = repeats;
    context.updates = order.updates;
    context.versions = &versioned->stages;
    context.ahead = *ahead;
    context.splits_backward = std::ranges::any_of(order.ranks[p], [](const Action& action) {
      return action.kind == ActionKind::kBackwardWeight;
    });
    context.blockwise_attention = workspaces[static_cast<std::size_t>(axes[p].rank)];
    drafts.push_back(draft_rank(context));
  }
  place_recomputation(order, drafts);
  const Result<std::vector<Transfer>> transfers = order_transfers(order);
  if (!transfers) {
    return tl::unexpected(transfers.error());
  }
  const auto reductions = order_reductions(order, drafts);

  Schedule schedule = describe(model, plan);
  for (std::size_t p = 0; p < axes.size(); ++p) {
    const auto gathers = place_gathers(plan, drafts[p], order.ranks[p]);
    RankProgram& program = schedule.programs.emplace_back(std::move(drafts[p].program));
    program.actions =
        list_actions(program, axes[p], order.ranks[p], *transfers, reductions[p], gathers);
  }
  schedule.groups = std::move(groups.groups);
  schedule.ranks = bind_ranks(*grid, std::move(groups), axes);
  return schedule;
}

Result<Schedule> with_hash(Result<Schedule> schedule, const ModelGraph& model, const Plan& plan) {
  if (schedule) {
    // check_plan has held the plan's against the model.
    schedule->model_hash = plan.model_hash.empty() ? model_hash(model) : plan.model_hash;
  }
  return schedule;
}

}  // namespace

Result<Schedule> lower(const ModelGraph& model,
                       const Cluster& cluster,
                       const Plan& plan,
                       const RepeatRules& repeats) {
  if (Result<void> checked = check_plan(model, cluster, plan); !checked) {
    return pass_on(std::move(checked));
  }
  Result<PipelineOrder> order = pipeline_order(plan);
  if (!order) {
    return pass_on(std::move(order));
  }
  return with_hash(lower_checked(model, cluster, plan, *std::move(order), repeats), model, plan);
}

Result<Schedule> lower_to_price(const ModelGraph& model,
                                const Cluster& cluster,
                                Plan plan,
                                const RepeatRules& repeats) {
  plan.model_hash.clear();
  if (Result<void> checked = check_plan(model, cluster, plan); !checked) {
    return pass_on(std::move(checked));
  }
  Result<PipelineOrder> order = pipeline_order(plan);
  if (!order) {
    return pass_on(std::move(order));
  }
  return lower_checked(model, cluster, plan, *std::move(order), repeats);
}

Result<Schedule> lower(const ModelGraph& model,
                       const Cluster& cluster,
                       const Plan& plan,
                       PipelineOrder given,
                       const RepeatRules& repeats) {
  if (Result<void> checked = check_plan(model, cluster, plan); !checked) {
    return pass_on(std::move(checked));
  }
  return with_hash(lower_checked(model, cluster, plan, std::move(given), repeats), model, plan);
}

}  // namespace stagewright
