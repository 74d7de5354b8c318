#include "study/plan_inputs.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/file.h"
#include "formats/model_file.h"
#include "sim/cost/calibrated_cost.h"

namespace stagewright {
namespace {

/// A relative path as it is, if there is such a file here; else that file below the folder of the
/// plan at `where` or the nearest folder above it; else unchanged (a preset, or a file that is
/// missing).
std::string seen_from(const std::string& name, const std::string& where) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!name.ends_with(".json") || fs::path(name).is_absolute() || fs::exists(name, error)) {
    return name;
  }
  for (fs::path folder = fs::absolute(where, error).parent_path(); !error;
       folder = folder.parent_path()) {
    if (fs::path file = folder / name; fs::is_regular_file(file, error)) {
      return file.string();
    }
    error.clear();
    if (folder == folder.parent_path()) {
      break;
    }
  }
  return name;
}

Result<FrameworkProfile> named_framework(const DataFiles& files, const std::string& name) {
  auto found = find_framework(files, name);
  if (!found) {
    found.error().where = "--framework";
  }
  return found;
}

}  // namespace

Result<std::optional<Profile>> load_profile(const std::string& path) {
  if (path.empty()) {
    return std::optional<Profile>{};
  }
  auto text = read_file(path);
  if (!text) {
    return pass_on(std::move(text));
  }
  return parse_profile(*text, path).map([](Profile profile) {
    return std::optional<Profile>(std::move(profile));
  });
}

Result<std::unique_ptr<CostModel>> make_cost(const DataFiles& files,
                                             const ModelGraph& model,
                                             const Cluster& cluster,
                                             const Plan& plan,
                                             const std::string& framework,
                                             std::optional<Profile> profile) {
  auto constants = load_step_constants(files);
  if (!constants) {
    return pass_on(std::move(constants));
  }
  auto found = named_framework(files, framework);
  if (!found) {
    return pass_on(std::move(found));
  }
  TrainingSetup setup;
  setup.framework = *std::move(found);
  setup.run.shape = model.shape;
  setup.run.gradient_32 = plan.precision.gradient == DType::kFloat32;
  setup.run.micro_batches = plan.micro_batches;
  setup.device = cluster.types.front();
  auto analytical = make_calibrated_cost(*std::move(constants), setup);
  return profile ? make_profiled_cost(std::move(*profile), std::move(analytical))
                 : std::move(analytical);
}

Result<RepeatRules> repeats_of(const DataFiles& files, const std::string& framework) {
  return named_framework(files, framework).map([](const FrameworkProfile& profile) {
    return repeat_rules(profile, profile.flash_attention);
  });
}

Result<PlanInputs> load_plan(const DataFiles& files,
                             const std::string& path,
                             const std::string& model,
                             const std::string& cluster) {
  const auto text = read_file(path);
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  return parse_plan_inputs(files, *text, path, model, cluster);
}

Result<PlanInputs> parse_plan_inputs(const DataFiles& files,
                                     std::string_view text,
                                     const std::string& where,
                                     const std::string& model,
                                     const std::string& cluster) {
  // The model comes first: a plan in shorthand is spread over the model's layers.
  std::string model_name = model;
  if (model_name.empty()) {
    auto names = parse_plan_names(text, where);
    if (!names) {
      return pass_on(std::move(names));
    }
    model_name = seen_from(names->model, where);
  }
  auto graph = find_model(files, model_name);
  if (!graph) {
    return pass_on(std::move(graph));
  }
  auto plan = parse_plan(text, where, static_cast<std::int32_t>(graph->layers.size()));
  if (!plan) {
    return pass_on(std::move(plan));
  }
  if (model.empty()) {
    plan->model = model_name;
  }
  plan->cluster = seen_from(plan->cluster, where);
  auto machines = find_cluster(files, cluster.empty() ? plan->cluster : cluster);
  if (!machines) {
    return pass_on(std::move(machines));
  }
  return PlanInputs{std::move(*plan), std::move(*graph), std::move(*machines)};
}

Error in_plan_file(Error error, const std::string& path) {
  constexpr std::string_view kPlan = "plan:";
  if (error.where.starts_with(kPlan)) {
    error.where.replace(0, kPlan.size() - 1, path);
  }
  return error;
}

Result<Trace> load_trace(const std::string& path) {
  auto content = read_file(path);
  if (!content) {
    return pass_on(std::move(content));
  }
  return parse_trace(*content, path);
}

Result<void> save_trace(const std::string& path, const Trace& trace) {
  return write_file(path, path.ends_with(".swtrace") ? to_binary(trace) : to_chrome_json(trace));
}

}  // namespace stagewright
