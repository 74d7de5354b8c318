#pragma once

/// A plan while it is being changed: values, and the changes that users ask for.

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/schedule/pipeline_order.h"
#include "core/schedule/schedule.h"
#include "gui/models/draft_costs.h"
#include "gui/models/opened_file.h"
#include "study/plan_inputs.h"

namespace stagewright::gui {

/// Another cluster than the file describes, as factors on what it says.
struct WhatIf {
  double node_bandwidth = 1;  ///< of the links inside a node
  double network_bandwidth = 1;
  double network_latency = 1;
  double memory = 1;  ///< of a device
  friend bool operator==(const WhatIf&, const WhatIf&) = default;
};

struct PlanDraft {
  PlanInputs inputs;  ///< the cluster as its file describes it
  WhatIf what_if;
  /// Of actions that were moved by hand; absent: as the plan's schedule orders them.
  std::optional<PipelineOrder> order;
};

/// The cluster that a draft is simulated on.
[[nodiscard]] Cluster imagined_cluster(const PlanDraft& draft);

/// `count` layers leave stage `from`; every stage between hands on as many, and `to` gets them.
/// kInfeasible, saying what is left, where a stage would be without a layer.
/// REQUIRES: both are stages of the plan.
[[nodiscard]] Result<PlanDraft> move_layers(PlanDraft draft,
                                            std::int32_t from,
                                            std::int32_t to,
                                            std::int32_t count);

/// Another schedule with its usual number of stages a rank; moved actions go back to their places.
[[nodiscard]] Result<PlanDraft> with_schedule(PlanDraft draft, const std::string& name);
/// Absent: as the schedule chooses it.
[[nodiscard]] Result<PlanDraft> with_parameter(PlanDraft draft,
                                               const std::string& name,
                                               std::optional<std::int64_t> value);
/// Splits the layers evenly over them.
[[nodiscard]] Result<PlanDraft> with_virtual_stages(PlanDraft draft, std::int32_t stages);
[[nodiscard]] Result<PlanDraft> with_micro_batches(PlanDraft draft, std::int32_t count);
[[nodiscard]] Result<PlanDraft> with_micro_batch_size(PlanDraft draft, std::int32_t sequences);
/// Of all stages and layers.
[[nodiscard]] Result<PlanDraft> with_recompute(PlanDraft draft, Recompute recompute);

/// The computing action at place `from` of a rank's list goes where the one at `to` stands, and
/// those between move up; all ranks of that pipeline rank alike.  `schedule` is the draft's,
/// lowered.  Fails with the reason where the order then could not run.
[[nodiscard]] Result<PlanDraft> move_action_to(
    PlanDraft draft, const Schedule& schedule, RankId rank, std::int32_t from, std::int32_t to);
/// The same by so many places among the rank's computing actions.
[[nodiscard]] Result<PlanDraft> move_action_by(
    PlanDraft draft, const Schedule& schedule, RankId rank, std::int32_t from, std::int32_t by);

/// Lowers the draft, proves that it can run, and simulates it on the imagined cluster.
[[nodiscard]] Result<OpenedFile> simulate_draft(DraftCosts& costs,
                                                const PlanDraft& draft,
                                                const std::string& where,
                                                const OpenOptions& options);

}  // namespace stagewright::gui
