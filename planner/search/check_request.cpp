#include "planner/search/check_request.h"

#include <fmt/format.h>

namespace stagewright {
namespace {

// Keeps sums over a step inside 64 bits.
constexpr std::int64_t kMostSequences = std::int64_t{1} << 30;

}  // namespace

Result<void> check_request(const SearchRequest& request) {
  if (request.global_batch < 1 || request.sequence < 1 || request.keep < 1) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("global batch {}, sequence {} and number of plans {} must be 1 or more",
                            request.global_batch,
                            request.sequence,
                            request.keep));
  }
  if (request.global_batch > kMostSequences) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("global batch {} is more than the {} sequences that are supported",
                            request.global_batch,
                            kMostSequences));
  }
  if (!(request.memory_share > 0 && request.memory_share <= 1)) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("memory share {} is not above 0 and at most 1", request.memory_share));
  }
  if (!(request.gap >= 0 && request.gap < 1)) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("gap {} is not from 0 to below 1", request.gap));
  }
  if (request.objective.aim == Aim::kCost && !request.objective.device_hour) {
    return fail(ErrorCode::kInvalidInput,
                "the cost of a token needs the price of a device for an hour",
                "--device-hour");
  }
  if (request.objective.aim == Aim::kEnergy && !request.objective.device_watts) {
    return fail(ErrorCode::kInvalidInput,
                "the energy of a token needs the power that a device draws",
                "--device-watts");
  }
  return {};
}

}  // namespace stagewright
