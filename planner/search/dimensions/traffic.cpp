// Where ranks sit, and what travels between them.

#include <algorithm>
#include <array>
#include <bit>

#include "core/base/dtype.h"
#include "planner/search/dimensions/registry.h"

namespace stagewright {
namespace {

constexpr std::array<std::int64_t, 3> kBucketMegabytes{0, 25, 200};

/// Orders with the names that they have as constraints.
struct Orders {
  std::vector<RankOrder> orders;
  std::vector<std::string> names;

  Orders() {
    std::array<int, 4> place{0, 1, 2, 3};
    const std::array<const char*, 4> axes{"tp", "cp", "dp", "pp"};
    do {
      RankOrder order;
      std::string name;
      for (const int axis : place) {
        order.emplace_back(axes[static_cast<std::size_t>(axis)]);
        name += (name.empty() ? "" : "-") + order.back();
      }
      orders.push_back(std::move(order));
      names.push_back(std::move(name));
    } while (std::next_permutation(place.begin(), place.end()));
  }
};

const Orders& all_orders() {
  static const Orders kOrders;
  return kOrders;
}

/// Bits of the axes with more than one member.
std::uint64_t divided_axes(const PlanPoint& point) {
  return std::uint64_t{point.tp > 1} | std::uint64_t{point.cp > 1} << 1U |
         std::uint64_t{point.dp > 1} << 2U | std::uint64_t{point.pp > 1} << 3U;
}

/// Axes of one member lie in the usual places behind each other, so that every way to number the
/// ranks is there once.
bool distinct(const RankOrder& order, std::uint64_t divided) {
  static constexpr std::array<std::string_view, 4> kUsual{"tp", "cp", "dp", "pp"};
  const auto singles = kUsual.size() - static_cast<std::size_t>(std::popcount(divided));
  std::size_t last = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto usual =
        static_cast<std::size_t>(std::ranges::find(kUsual, order[i]) - kUsual.begin());
    const bool single = (divided >> usual & 1U) == 0;
    if (single != (i < singles)) {
      return false;
    }
    if (single) {
      if (i > 0 && usual < last) {
        return false;
      }
      last = usual;
    }
  }
  return true;
}

/// Of axes that are divided so; the first of them numbers the ranks as the usual order does.
std::vector<std::int64_t> distinct_orders(std::uint64_t divided) {
  std::vector<std::int64_t> values;
  const auto& orders = all_orders().orders;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    if (distinct(orders[i], divided)) {
      values.push_back(values.empty() ? 0 : static_cast<std::int64_t>(i));
    }
  }
  return values;
}

const std::vector<std::int64_t>& known_orders(std::uint64_t divided) {
  static const std::vector<std::vector<std::int64_t>> kKnown = [] {
    std::vector<std::vector<std::int64_t>> known;
    for (std::uint64_t axes = 0; axes < 16; ++axes) {
      known.push_back(distinct_orders(axes));
    }
    return known;
  }();
  return kKnown[divided];
}

}  // namespace

std::span<const RankOrder> rank_orders() {
  return all_orders().orders;
}

Dimension rank_order_dimension() {
  return {.name = "rank-order",
          .help = "What fills a node first, as tp-cp-dp-pp",
          .values =
              [](const SpaceJob& job, const PlanPoint& point, std::vector<std::int64_t>& out) {
                if (closed_form_point(point) || job.devices <= job.devices_per_node) {
                  out.push_back(0);
                  return;
                }
                const std::vector<std::int64_t>& orders = known_orders(divided_axes(point));
                out.insert(out.end(), orders.begin(), orders.end());
              },
          .get = [](const PlanPoint& point) { return std::int64_t{point.rank_order}; },
          .set = [](PlanPoint& point,
                    std::int64_t value) { point.rank_order = static_cast<std::int32_t>(value); },
          .reads =
              [](const SpaceJob&, const PlanPoint& point) {
                return divided_axes(point) << 1U | std::uint64_t{closed_form_point(point)};
              },
          .names =
              [] {
                const auto& names = all_orders().names;
                return std::vector<std::string_view>(names.begin(), names.end());
              }};
}

Dimension bucket_dimension() {
  return {
      .name = "bucket",
      .help = "Megabytes of a gradient bucket (0: one a stage)",
      .values =
          [](const SpaceJob&, const PlanPoint& point, std::vector<std::int64_t>& out) {
            out.push_back(0);
            if (point.dp > 1 && !closed_form_point(point)) {
              out.insert(out.end(), kBucketMegabytes.begin() + 1, kBucketMegabytes.end());
            }
          },
      .get = [](const PlanPoint& point) { return std::int64_t{point.bucket_megabytes}; },
      .set = [](PlanPoint& point,
                std::int64_t value) { point.bucket_megabytes = static_cast<std::int32_t>(value); },
      .reads =
          [](const SpaceJob&, const PlanPoint& point) {
            return std::uint64_t{point.dp > 1 && !closed_form_point(point)};
          },
      .takes =
          [](const SpaceJob&, const PlanPoint& point, std::int64_t value) {
            return point.dp > 1 && !closed_form_point(point) && value < (1 << 20);
          }};
}

Dimension transfer_dimension() {
  return {.name = "transfer",
          .help = "Precision between stages: as computed, or bf16 under fp32",
          .values =
              [](const SpaceJob& job, const PlanPoint& point, std::vector<std::int64_t>& out) {
                out.push_back(0);
                const bool wide = job.compute == DType::kFloat32 || job.compute == DType::kTf32;
                // It changes what is computed: only where it is asked for.
                if (wide && point.pp > 1 && job.constraint("transfer") != nullptr &&
                    !closed_form_point(point)) {
                  out.push_back(1);
                }
              },
          .get = [](const PlanPoint& point) { return std::int64_t{point.short_transfers ? 1 : 0}; },
          .set = [](PlanPoint& point, std::int64_t value) { point.short_transfers = value != 0; },
          .reads =
              [](const SpaceJob&, const PlanPoint& point) {
                return std::uint64_t{point.pp > 1 && !closed_form_point(point)};
              },
          .names =
              [] {
                return std::vector<std::string_view>{"computed", "bf16"};
              }};
}

}  // namespace stagewright
