#include "sim/cost/analytical_compute.h"
#include "sim/cost/analytical_links.h"
#include "sim/cost/cost_model.h"

namespace stagewright {
namespace {

class AnalyticalCost final : public CostModel {
 public:
  [[nodiscard]] Price operation(const Operation& op, const DeviceType& device) const override {
    return {compute_time(op, device), PriceSource::kAnalytical};
  }
  [[nodiscard]] std::optional<Price> segment(std::span<const Operation> /*ops*/,
                                             const DeviceType& /*device*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] Price collective(const Operation& op, const GroupGeometry& group) const override {
    return {collective_time(op.kind, bytes_moved(op), group), PriceSource::kAnalytical};
  }
  [[nodiscard]] Price transfer(Bytes size, const GroupGeometry& ends) const override {
    return {transfer_time(size, ends), PriceSource::kAnalytical};
  }
};

}  // namespace

Duration CostModel::issue(const Operation& /*op*/, const DeviceType& /*device*/) const {
  return {};
}

ExecutionRules CostModel::rules(const DeviceType& /*device*/) const {
  return {};
}

std::unique_ptr<CostModel> make_analytical_cost() {
  return std::make_unique<AnalyticalCost>();
}

}  // namespace stagewright
