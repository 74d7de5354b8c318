#include "step_result.h"

#include "core/base/file.h"

namespace stagewright::gpu_check {

nlohmann::json to_json(const StepResult& result) {
  return {{"step", result.step},
          {"status", result.status},
          {"summary", result.summary},
          {"figures", result.figures}};
}

Result<void> save(const StepResult& result, const std::string& folder) {
  return write_file(folder + "/" + result.step + ".step.json", to_json(result).dump(2) + "\n");
}

}  // namespace stagewright::gpu_check
