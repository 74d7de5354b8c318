#include "planner/search/equal_layers.h"

#include <algorithm>

#include "core/base/divide_up.h"

namespace stagewright {
namespace {

/// Least slowest stage of the first layer and `equal` others in that many stages.  With at most q
/// of them in each stage but the first, that one has equal - q (stages - 1) left: the sides meet
/// where q stages * each = first + equal * each.
Duration least_slowest(const EqualLayers& chain, std::int64_t equal, std::int64_t stages) {
  if (stages == 1) {
    return chain.first + equal * chain.each;
  }
  const std::int64_t most = divide_up(equal, stages - 1);
  const std::int64_t all = (chain.first + equal * chain.each).count();
  const std::int64_t meet =
      std::clamp<std::int64_t>(divide_up(all, stages * chain.each.count()), 1, most);
  const auto slowest = [&](std::int64_t q) {
    const std::int64_t left = std::max<std::int64_t>(0, equal - q * (stages - 1));
    return std::max(chain.first + left * chain.each, q * chain.each);
  };
  return meet > 1 ? std::min(slowest(meet), slowest(meet - 1)) : slowest(meet);
}

/// The same of the whole chain: the more of the layers between stand with the last one, the longer
/// is its stage and the shorter the others.
Duration least_slowest_of_all(const EqualLayers& chain, std::int64_t stages) {
  const auto own = [&](std::int64_t with) { return chain.last + with * chain.each; };
  const auto others = [&](std::int64_t with) {
    return least_slowest(chain, chain.between - with, stages - 1);
  };
  std::int64_t low = 0;
  std::int64_t high = chain.between - (stages - 2);
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (own(middle) >= others(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  const Duration at = std::max(own(low), others(low));
  return low > 0 ? std::min(at, std::max(own(low - 1), others(low - 1))) : at;
}

}  // namespace

std::optional<EqualLayers> equal_layers(std::span<const Duration> times) {
  if (times.size() < 3 || times[1] <= Duration{}) {
    return std::nullopt;
  }
  const auto between = times.subspan(1, times.size() - 2);
  if (std::ranges::any_of(between, [&](Duration time) { return time != times[1]; })) {
    return std::nullopt;
  }
  return EqualLayers{.first = times.front(),
                     .each = times[1],
                     .last = times.back(),
                     .between = static_cast<std::int64_t>(between.size())};
}

std::vector<std::int32_t> cut_equal_layers(const EqualLayers& chain, std::int32_t stages) {
  std::vector<std::int32_t> layers(static_cast<std::size_t>(stages));
  std::int64_t left = chain.between;
  // From the last: as long as the least slowest stage of what is up to it allows.
  for (std::int64_t s = stages; s > 1; --s) {
    const bool last = s == stages;
    const Duration slowest = last ? least_slowest_of_all(chain, s) : least_slowest(chain, left, s);
    const Duration room = last ? slowest - chain.last : slowest;
    const std::int64_t most = last ? left - (s - 2) : left - s + 2;
    const std::int64_t taken = std::min(most, room.count() / chain.each.count());
    layers[static_cast<std::size_t>(s - 1)] = static_cast<std::int32_t>(taken + (last ? 1 : 0));
    left -= taken;
  }
  layers.front() = static_cast<std::int32_t>(left + 1 + (stages == 1 ? 1 : 0));
  return layers;
}

}  // namespace stagewright
