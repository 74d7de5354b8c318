#include "gui/models/plan_draft.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "core/schedule/semantics.h"
#include "core/schedule/token_list.h"
#include "planner/lower/lower.h"
#include "planner/schedules/pipeline_order.h"
#include "planner/schedules/registry.h"
#include "sim/analysis/order_check.h"

namespace stagewright::gui {
namespace {

LinkSpec scaled(LinkSpec link, double bandwidth, double latency) {
  link.bandwidth = link.bandwidth * bandwidth;
  link.latency = Duration(std::llround(static_cast<double>(link.latency.count()) * latency));
  return link;
}

Bytes scaled(Bytes size, double factor) {
  return Bytes(std::llround(static_cast<double>(size.count()) * factor));
}

/// The same degrees and recomputation over another number of stages.
std::vector<StagePlan> split_evenly(const PlanDraft& draft, std::int32_t stages) {
  const StagePlan& like = draft.inputs.plan.stages.front();
  auto split = even_stages(
      static_cast<std::int32_t>(draft.inputs.model.layers.size()), stages, like.dp, like.tp);
  for (StagePlan& stage : split) {
    stage.recompute = like.recompute;
  }
  return split;
}

/// The order that the draft has now.
Result<PipelineOrder> current_order(const PlanDraft& draft) {
  return draft.order ? Result<PipelineOrder>(*draft.order) : pipeline_order(draft.inputs.plan);
}

/// Where a lowered action stands in its pipeline rank's order.
Result<std::ptrdiff_t> place_in_order(const std::vector<Action>& order, const Action& action) {
  if (!is_compute(action.kind)) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("{} follows the actions that compute; move one of those", to_string(action)));
  }
  const auto found = std::ranges::find_if(order, [&](const Action& each) {
    return each.kind == action.kind && each.stage == action.stage &&
           each.micro_batch == action.micro_batch;
  });
  if (found == order.end()) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} stands right before its backward; move that", to_string(action)));
  }
  return found - order.begin();
}

/// What keeps an order from running, in the words of the check that lists of other programs get.
Result<void> check_it_runs(const PipelineOrder& order, RankId rank, const Action& moved) {
  using namespace std::chrono_literals;
  const PipelineCosts costs = costs_per_stage(
      {.forward = 1s, .backward = 2s, .backward_input = 1s, .backward_weight = 1s, .recompute = 1s},
      order.stages);
  const OrderCheck check = check_order(token_list(order), costs);
  if (check.fault) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("{} cannot go there on rank {}: {}",
                            to_string(moved),
                            rank.value(),
                            check.fault->to_string()));
  }
  return {};
}

struct Moving {
  PipelineOrder order;
  std::size_t pipeline_rank = 0;
  std::ptrdiff_t from = 0;
};

Result<Moving> start_moving(const PlanDraft& draft,
                            const Schedule& schedule,
                            RankId rank,
                            std::int32_t from) {
  auto order = current_order(draft);
  if (!order) {
    return pass_on(std::move(order));
  }
  const bool paired = std::ranges::any_of(order->pairs, [](const auto& p) { return !p.empty(); });
  if (paired) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("{} runs forwards and backwards in pairs, which cannot be moved apart; "
                            "choose another schedule",
                            draft.inputs.plan.schedule));
  }
  // Lowering makes one program for each pipeline rank, in their order.
  const std::size_t pipeline_rank = schedule.ranks[rank.index()].program.index();
  const Action& action = schedule.programs[pipeline_rank].actions[static_cast<std::size_t>(from)];
  const auto place = place_in_order(order->ranks[pipeline_rank], action);
  if (!place) {
    return tl::unexpected<Error>(place.error());
  }
  return Moving{*std::move(order), pipeline_rank, *place};
}

Result<PlanDraft> finish_moving(PlanDraft draft, Moving moving, RankId rank, std::ptrdiff_t to) {
  auto& list = moving.order.ranks[moving.pipeline_rank];
  const Action moved = list[static_cast<std::size_t>(moving.from)];
  list.erase(list.begin() + moving.from);
  list.insert(list.begin() + to, moved);
  if (auto checked = check_it_runs(moving.order, rank, moved); !checked) {
    return pass_on(std::move(checked));
  }
  draft.order = std::move(moving.order);
  return draft;
}

}  // namespace

Cluster imagined_cluster(const PlanDraft& draft) {
  Cluster cluster = draft.inputs.cluster;
  const WhatIf& what_if = draft.what_if;
  const auto inside = [&](const LinkSpec& link) { return scaled(link, what_if.node_bandwidth, 1); };
  const auto between = [&](const LinkSpec& link) {
    return scaled(link, what_if.network_bandwidth, what_if.network_latency);
  };
  for (DeviceType& type : cluster.types) {
    type.intra_node = inside(type.intra_node);
    type.inter_node = between(type.inter_node);
    type.memory = scaled(type.memory, what_if.memory);
  }
  if (cluster.intra_node) {
    cluster.intra_node = inside(*cluster.intra_node);
  }
  if (cluster.inter_node) {
    cluster.inter_node = between(*cluster.inter_node);
  }
  return cluster;
}

Result<PlanDraft> move_layers(PlanDraft draft,
                              std::int32_t from,
                              std::int32_t to,
                              std::int32_t count) {
  auto& stages = draft.inputs.plan.stages;
  StagePlan& giver = stages[static_cast<std::size_t>(from)];
  if (count >= giver.layers) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("stage {} has {} layer{} and must keep one; at most {} can leave it",
                            from,
                            giver.layers,
                            giver.layers == 1 ? "" : "s",
                            giver.layers - 1));
  }
  giver.layers -= count;
  stages[static_cast<std::size_t>(to)].layers += count;
  std::int32_t first = 0;
  for (StagePlan& stage : stages) {
    stage.first_layer = first;
    first += stage.layers;
    if (stage.recompute_layers) {
      stage.recompute_layers = std::min(*stage.recompute_layers, stage.layers);
    }
  }
  return draft;
}

Result<PlanDraft> with_schedule(PlanDraft draft, const std::string& name) {
  const auto generator = find_schedule(name);
  if (!generator) {
    return tl::unexpected<Error>(generator.error());
  }
  draft.inputs.plan.schedule = name;
  draft.inputs.plan.schedule_parameters.clear();
  draft.order.reset();
  const bool wants_one = generator->default_virtual_stages == 1;
  if (wants_one != (draft.inputs.plan.virtual_stages == 1)) {
    return with_virtual_stages(std::move(draft), generator->default_virtual_stages);
  }
  return draft;
}

Result<PlanDraft> with_parameter(PlanDraft draft,
                                 const std::string& name,
                                 std::optional<std::int64_t> value) {
  draft.order.reset();
  if (value) {
    draft.inputs.plan.schedule_parameters[name] = *value;
  } else {
    draft.inputs.plan.schedule_parameters.erase(name);
  }
  return draft;
}

Result<PlanDraft> with_virtual_stages(PlanDraft draft, std::int32_t stages) {
  Plan& plan = draft.inputs.plan;
  const std::int32_t all = plan.pp() * stages;
  const auto layers = static_cast<std::int32_t>(draft.inputs.model.layers.size());
  if (all > layers) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("{} stages on each of {} ranks are more than the {} layers; at most {}",
                            stages,
                            plan.pp(),
                            layers,
                            layers / plan.pp()));
  }
  auto split = split_evenly(draft, all);
  plan.virtual_stages = stages;
  plan.stages = std::move(split);
  draft.order.reset();
  return draft;
}

Result<PlanDraft> with_micro_batches(PlanDraft draft, std::int32_t count) {
  draft.inputs.plan.micro_batches = count;
  draft.order.reset();
  return draft;
}

Result<PlanDraft> with_micro_batch_size(PlanDraft draft, std::int32_t sequences) {
  draft.inputs.plan.micro_batch_size = sequences;
  return draft;
}

Result<PlanDraft> with_recompute(PlanDraft draft, Recompute recompute) {
  for (StagePlan& stage : draft.inputs.plan.stages) {
    stage.recompute = recompute;
    stage.recompute_layers.reset();
  }
  return draft;
}

Result<PlanDraft> move_action_to(
    PlanDraft draft, const Schedule& schedule, RankId rank, std::int32_t from, std::int32_t to) {
  auto moving = start_moving(draft, schedule, rank, from);
  if (!moving) {
    return pass_on(std::move(moving));
  }
  const auto& actions = schedule.programs[moving->pipeline_rank].actions;
  const auto place = place_in_order(moving->order.ranks[moving->pipeline_rank],
                                    actions[static_cast<std::size_t>(to)]);
  if (!place) {
    return tl::unexpected<Error>(place.error());
  }
  return finish_moving(std::move(draft), *std::move(moving), rank, *place);
}

Result<PlanDraft> move_action_by(
    PlanDraft draft, const Schedule& schedule, RankId rank, std::int32_t from, std::int32_t by) {
  auto moving = start_moving(draft, schedule, rank, from);
  if (!moving) {
    return pass_on(std::move(moving));
  }
  const auto& list = moving->order.ranks[moving->pipeline_rank];
  const std::ptrdiff_t to = moving->from + by;
  if (to < 0 || to >= std::ssize(list)) {
    return fail(ErrorCode::kInfeasible,
                fmt::format("{} is the {} that rank {} computes",
                            to_string(list[static_cast<std::size_t>(moving->from)]),
                            by < 0 ? "first" : "last",
                            rank.value()));
  }
  return finish_moving(std::move(draft), *std::move(moving), rank, to);
}

Result<OpenedFile> simulate_draft(DraftCosts& costs,
                                  const PlanDraft& draft,
                                  const std::string& where,
                                  const OpenOptions& options) {
  const auto cost = costs.of(draft.inputs);
  if (!cost) {
    return tl::unexpected<Error>(cost.error());
  }
  PlanInputs imagined = draft.inputs;
  imagined.cluster = imagined_cluster(draft);
  auto schedule = draft.order ? lower(imagined.model, imagined.cluster, imagined.plan, *draft.order)
                              : lower(imagined.model, imagined.cluster, imagined.plan);
  if (!schedule) {
    return pass_on(std::move(schedule));
  }
  if (draft.order) {
    if (auto valid = validate(*schedule); !valid) {
      return pass_on(std::move(valid));
    }
  }
  return open_lowered(**cost, std::move(imagined), *std::move(schedule), where, options);
}

}  // namespace stagewright::gui
