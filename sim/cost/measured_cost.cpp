#include <utility>

#include "core/base/check.h"
#include "sim/cost/cost_model.h"

namespace stagewright {
namespace {

class ProfiledCost final : public CostModel {
 public:
  ProfiledCost(Profile profile, std::unique_ptr<CostModel> fallback)
      : profile_(std::move(profile)), fallback_(std::move(fallback)) {
    SW_CHECK(fallback_ != nullptr, "a model for what the profile does not cover");
  }

  [[nodiscard]] Price operation(const Operation& op, const DeviceType& device) const override {
    if (device.name == profile_.device) {
      if (const MeasuredOperation* measured = profile_.operation(cost_key(op))) {
        return {measured->time.median, PriceSource::kMeasured};
      }
    }
    return fallback_->operation(op, device);
  }

  [[nodiscard]] std::optional<Price> segment(std::span<const Operation> ops,
                                             const DeviceType& device) const override {
    if (device.name == profile_.device && !profile_.segments.empty()) {
      if (const MeasuredSegment* measured = profile_.segment(cost_key(ops))) {
        return Price{measured->time.median, PriceSource::kMeasured};
      }
    }
    return fallback_->segment(ops, device);
  }

  [[nodiscard]] Price collective(const Operation& op, const GroupGeometry& group) const override {
    const auto measured = link(name_of(op.kind), group, bytes_moved(op), op.layer.has_value());
    return measured ? *measured : fallback_->collective(op, group);
  }

  [[nodiscard]] Price transfer(Bytes size, const GroupGeometry& ends) const override {
    const auto measured = link("send", ends, size, false);
    return measured ? *measured : fallback_->transfer(size, ends);
  }
  [[nodiscard]] Duration issue(const Operation& op, const DeviceType& device) const override {
    return fallback_->issue(op, device);
  }
  [[nodiscard]] ExecutionRules rules(const DeviceType& device) const override {
    return fallback_->rules(device);
  }

 private:
  /// A profile is taken on one node: it says nothing about what leaves it.
  [[nodiscard]] std::optional<Price> link(std::string_view operation,
                                          const GroupGeometry& group,
                                          Bytes size,
                                          bool in_layers) const {
    if (group.nodes != 1 || group.members <= 1) {
      return std::nullopt;
    }
    const auto time = profile_.link(operation, group.members, size, in_layers);
    if (!time) {
      return std::nullopt;
    }
    return Price{time->time,
                 time->extrapolated ? PriceSource::kExtrapolated : PriceSource::kMeasured};
  }

  Profile profile_;
  std::unique_ptr<CostModel> fallback_;
};

}  // namespace

std::unique_ptr<CostModel> make_profiled_cost(Profile profile,
                                              std::unique_ptr<CostModel> fallback) {
  return std::make_unique<ProfiledCost>(std::move(profile), std::move(fallback));
}

}  // namespace stagewright
