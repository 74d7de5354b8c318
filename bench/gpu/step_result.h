#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/result.h"

namespace stagewright::gpu_check {

/// What one step of the check leaves behind, as a file `NAME.step.json`.
struct StepResult {
  std::string step;     ///< "kernels"
  std::string status;   ///< "passed", "failed" or "not run"
  std::string summary;  ///< one sentence for people
  nlohmann::json figures = nlohmann::json::object();
};

[[nodiscard]] nlohmann::json to_json(const StepResult& result);
/// kIo where the file cannot be written.
[[nodiscard]] Result<void> save(const StepResult& result, const std::string& folder);

}  // namespace stagewright::gpu_check
