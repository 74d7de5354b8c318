#pragma once

#include <string>
#include <vector>

namespace stagewright {

/// Inputs that each reader accepts, to start from: files of this repository and what this program
/// writes, all small.
[[nodiscard]] std::vector<std::string> pytorch_csv_seeds();
[[nodiscard]] std::vector<std::string> schedule_vector_seeds();
[[nodiscard]] std::vector<std::string> schedule_file_seeds();
[[nodiscard]] std::vector<std::string> plan_seeds();
[[nodiscard]] std::vector<std::string> trace_seeds();
[[nodiscard]] std::vector<std::string> profile_seeds();
[[nodiscard]] std::vector<std::string> hf_config_seeds();
[[nodiscard]] std::vector<std::string> model_file_seeds();
[[nodiscard]] std::vector<std::string> cluster_seeds();
[[nodiscard]] std::vector<std::string> device_seeds();
[[nodiscard]] std::vector<std::string> measured_record_seeds();
[[nodiscard]] std::vector<std::string> measured_kernels_seeds();
[[nodiscard]] std::vector<std::string> kineto_seeds();
[[nodiscard]] std::vector<std::string> nccl_tests_seeds();

}  // namespace stagewright
