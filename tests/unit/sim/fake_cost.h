#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "sim/cost/cost_model.h"

namespace stagewright::test {

/// Prices that a test can do sums with.
class FakeCost final : public CostModel {
 public:
  /// Of computation; the test's own rule.
  std::function<Duration(const Operation&)> compute = [](const Operation&) { return Duration{}; };
  Duration collective_time{};
  Duration transfer_time{};
  /// By cost_key of the run.
  std::map<std::string, Duration> segments;
  PriceSource source = PriceSource::kAnalytical;

  [[nodiscard]] Price operation(const Operation& op, const DeviceType& /*device*/) const override {
    return {compute(op), source};
  }
  [[nodiscard]] std::optional<Price> segment(std::span<const Operation> ops,
                                             const DeviceType& /*device*/) const override {
    const auto found = segments.find(cost_key(ops));
    return found == segments.end() ? std::nullopt
                                   : std::optional(Price{found->second, PriceSource::kMeasured});
  }
  [[nodiscard]] Price collective(const Operation& /*op*/,
                                 const GroupGeometry& /*group*/) const override {
    return {collective_time, source};
  }
  [[nodiscard]] Price transfer(Bytes /*size*/, const GroupGeometry& /*ends*/) const override {
    return {transfer_time, source};
  }
};

}  // namespace stagewright::test
