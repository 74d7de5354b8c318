#include "planner/search/pareto.h"

#include <algorithm>

namespace stagewright {

bool beats(const Candidate& a, const Candidate& b) {
  const bool no_worse = a.step_time <= b.step_time && a.peak_memory <= b.peak_memory &&
                        a.point.devices() <= b.point.devices();
  const bool better = a.step_time < b.step_time || a.peak_memory < b.peak_memory ||
                      a.point.devices() < b.point.devices();
  return no_worse && better;
}

std::vector<Candidate> pareto_front(const std::vector<Candidate>& all) {
  std::vector<Candidate> front;
  for (const Candidate& candidate : all) {
    const bool beaten =
        std::ranges::any_of(all, [&](const Candidate& other) { return beats(other, candidate); });
    if (!beaten) {
      front.push_back(candidate);
    }
  }
  std::ranges::stable_sort(front, {}, &Candidate::step_time);
  return front;
}

}  // namespace stagewright
