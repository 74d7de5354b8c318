#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "planner/search/walk.h"

namespace stagewright {

/// Leaves in the order of their bounds: of equal ones those whose bound is the closed form's come
/// before those that were refined (front.h), and else the first that was added.
class LeafQueue {
 public:
  void add(Leaf leaf, bool refined);
  [[nodiscard]] bool empty() const { return leaves_.empty(); }
  /// Objective of the first one's bound; infinite where there is none.
  [[nodiscard]] double least() const {
    return empty() ? std::numeric_limits<double>::infinity() : leaves_.begin()->first.value;
  }
  /// REQUIRES: not empty.
  [[nodiscard]] bool first_is_refined() const { return leaves_.begin()->first.refined; }
  /// Takes out the first ones, as long as they are like the first of all, `enough` does not
  /// hold for their objective, and at most `most`.
  [[nodiscard]] std::vector<Leaf> take(std::size_t most,
                                       const std::function<bool(double next)>& enough);

 private:
  struct Key {
    double value = 0;
    bool refined = false;
    std::int64_t number = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::map<Key, Leaf> leaves_;
  std::int64_t added_ = 0;
};

}  // namespace stagewright
