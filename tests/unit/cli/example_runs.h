#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace stagewright {

/// Runs the command, which must succeed; what it prints.
std::string run_well(const std::vector<std::string>& arguments);

/// Expects of `run --json` that it took so many steps, in which the loss fell.
void expect_falling_losses(const nlohmann::json& trained, std::size_t steps);

/// Expects that two traces hold the same memory of every class, to the byte.
void expect_equal_memory(const std::string& predicted, const std::string& measured);

/// Expects of `plan --json` that there are plans, and that `run` can train by each.
void expect_runnable_plans(const nlohmann::json& searched);

}  // namespace stagewright
