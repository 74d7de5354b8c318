#include "gui/models/plan_file.h"

#include <filesystem>

#include "core/base/file.h"

namespace stagewright::gui {
namespace {

std::string beside(const std::string& path) {
  std::string name = path;
  for (const char* const suffix : {".plan.json", ".json"}) {
    if (name.ends_with(suffix)) {
      name.resize(name.size() - std::string_view(suffix).size());
      break;
    }
  }
  return name + ".cluster.json";
}

}  // namespace

Result<void> save_plan_file(const DataFiles& files,
                            const PlanInputs& inputs,
                            const std::string& path) {
  const auto named = find_cluster(files, inputs.plan.cluster);
  if (named && *named == inputs.cluster) {
    return write_file(path, to_json_text(inputs.plan));
  }
  const std::string cluster_path = beside(path);
  if (auto written = write_file(cluster_path, to_json_text(inputs.cluster)); !written) {
    return written;
  }
  Plan plan = inputs.plan;
  plan.cluster = std::filesystem::path(cluster_path).filename().string();
  return write_file(path, to_json_text(plan));
}

}  // namespace stagewright::gui
