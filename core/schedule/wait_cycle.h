#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/check.h"

namespace stagewright {

/// One that waits in a cycle, and how it waits for the next one.
struct WaitLink {
  std::string who;  ///< "rank 0 pos 3 (0SEND_F1)"
  std::string_view how = "waits for";
};

/// "A waits for B, which is reached only after C, which waits for A".  Of long cycles the first and
/// the last ones are named, and how many stand between them.  REQUIRES: length > 0.
[[nodiscard]] std::string wait_cycle_text(std::size_t length,
                                          const std::function<WaitLink(std::size_t)>& link);

/// A cycle of a graph in which every node that can be reached from `starts` waits for another one:
/// each node of the answer waits for the one behind it, and the last for the first, the least.  Of
/// the cycles through the nodes of those into which the starts lead, the shortest; in graphs so
/// large that looking for it would take seconds, one that is not much longer than it has to be.
/// `blockers(node)` lists what a node waits for, in an order that is always the same.
/// REQUIRES: starts is not empty; no node without blockers is reached.
template <class Node, class Blockers>
class WaitCycles {
 public:
  explicit WaitCycles(Blockers blockers) : blockers_(std::move(blockers)) {}

  std::vector<Node> shortest(const std::vector<Node>& starts) {
    std::vector<Node> best;
    for (const Node& start : starts) {
      const std::vector<Node> found = walk(start);
      if (!found.empty() && (best.empty() || found.size() < best.size())) {
        best = found;
      }
      for (const Node& node : found) {
        if (work_ > kMostWork) {
          return from_least(std::move(best));
        }
        std::vector<Node> through = back_to(node, best.size());
        if (!through.empty()) {
          best = std::move(through);
        }
      }
    }
    return from_least(std::move(best));
  }

 private:
  static constexpr std::size_t kMostWork = 1'000'000;  ///< steps; a second or less

  /// Follows first blockers until one comes twice; nothing where another walk has been.
  std::vector<Node> walk(Node node) {
    std::vector<Node> path;
    std::map<Node, std::size_t> place;
    while (!walked_.contains(node)) {
      place.emplace(node, path.size());
      walked_.insert(node);
      path.push_back(node);
      const std::vector<Node> next = blockers_(node);
      SW_CHECK(!next.empty(), "a node that waits for another one");
      node = next.front();
    }
    const auto again = place.find(node);
    if (again == place.end()) {
      return {};
    }
    return {path.begin() + static_cast<std::ptrdiff_t>(again->second), path.end()};
  }

  /// The shortest way from a node back to it, if it is shorter than that.
  std::vector<Node> back_to(const Node& start, std::size_t shorter_than) {
    std::map<Node, Node> before;
    std::vector<Node> level{start};
    for (std::size_t length = 1; length < shorter_than && !level.empty(); ++length) {
      std::vector<Node> next;
      for (const Node& node : level) {
        if (step_from(node, start, before, next)) {
          return way(start, node, before);
        }
      }
      if (work_ > kMostWork) {
        return {};
      }
      level = std::move(next);
    }
    return {};
  }

  /// Adds to `next` what a node waits for and was not met before; whether `start` is one of it.
  bool step_from(const Node& node,
                 const Node& start,
                 std::map<Node, Node>& before,
                 std::vector<Node>& next) {
    for (const Node& blocker : blockers_(node)) {
      ++work_;
      if (blocker == start) {
        return true;
      }
      if (before.emplace(blocker, node).second) {
        next.push_back(blocker);
      }
    }
    return false;
  }

  static std::vector<Node> from_least(std::vector<Node> cycle) {
    SW_CHECK(!cycle.empty(), "a graph in which all nodes wait");
    std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
    return cycle;
  }

  static std::vector<Node> way(const Node& start, Node last, const std::map<Node, Node>& before) {
    std::vector<Node> cycle{last};
    while (last != start) {
      last = before.at(last);
      cycle.push_back(last);
    }
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
  }

  Blockers blockers_;
  std::set<Node> walked_;
  std::size_t work_ = 0;
};

template <class Node, class Blockers>
[[nodiscard]] std::vector<Node> shortest_wait_cycle(const std::vector<Node>& starts,
                                                    Blockers blockers) {
  return WaitCycles<Node, Blockers>(std::move(blockers)).shortest(starts);
}

}  // namespace stagewright
