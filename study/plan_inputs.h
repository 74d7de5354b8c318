#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "core/profile/profile.h"
#include "core/trace/trace.h"
#include "planner/lower/repeat_rules.h"
#include "sim/cost/cost_model.h"

namespace stagewright {

/// The profile at `path`, or none for an empty path.
[[nodiscard]] Result<std::optional<Profile>> load_profile(const std::string& path);

/// Prices of a step of that model as the framework named runs it: the profile's where it covers an
/// operation, else the calibrated model (make_calibrated_cost).  Of the plan only its precision and
/// whether gradients add up over micro-batches count.  Fails for an unknown framework, or
/// where the calibration cannot be read.
[[nodiscard]] Result<std::unique_ptr<CostModel>> make_cost(const DataFiles& files,
                                                           const ModelGraph& model,
                                                           const Cluster& cluster,
                                                           const Plan& plan,
                                                           const std::string& framework,
                                                           std::optional<Profile> profile);

/// What recomputation repeats where that framework runs the plan.  Fails for an unknown one.
[[nodiscard]] Result<RepeatRules> repeats_of(const DataFiles& files, const std::string& framework);

/// A plan file with the model and cluster that it names (each may be overridden; empty: not).
/// Files that it names are looked for from here and then from the plan's folder upwards; the plan
/// then names them where they were found.
struct PlanInputs {
  Plan plan;
  ModelGraph model;
  Cluster cluster;
};
[[nodiscard]] Result<PlanInputs> load_plan(const DataFiles& files,
                                           const std::string& path,
                                           const std::string& model,
                                           const std::string& cluster);

/// The same from the text of a plan file; `where` names it in errors.
[[nodiscard]] Result<PlanInputs> parse_plan_inputs(const DataFiles& files,
                                                   std::string_view text,
                                                   const std::string& where,
                                                   const std::string& model = {},
                                                   const std::string& cluster = {});

/// An error of lowering, which knows plans but not their files, with the file in its place.
[[nodiscard]] Error in_plan_file(Error error, const std::string& path);

[[nodiscard]] Result<Trace> load_trace(const std::string& path);

/// Writes the trace: binary for "*.swtrace", Chrome JSON otherwise.
[[nodiscard]] Result<void> save_trace(const std::string& path, const Trace& trace);

}  // namespace stagewright
