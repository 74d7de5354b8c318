#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json_fwd.hpp>

#include "core/schedule/token_list.h"

namespace stagewright {

/// Names of all schedule vectors under tests/golden/schedules, sorted.
[[nodiscard]] std::vector<std::string> vector_names();
/// The name of a test about a vector: letters, digits and underscores.
[[nodiscard]] std::string vector_test_name(const testing::TestParamInfo<std::string>& vector);
/// The list of a vector.  REQUIRES: a name of vector_names(); the test fails otherwise.
[[nodiscard]] TokenList read_vector(const std::string& name);
/// What golden_times.json says of it.
[[nodiscard]] const nlohmann::json& golden_times(const std::string& name);

}  // namespace stagewright
