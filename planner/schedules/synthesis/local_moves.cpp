#include "planner/schedules/synthesis/local_moves.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "planner/schedules/synthesis/critical_steps.h"

namespace stagewright::synthesis {
namespace {

/// How many moves back late acceptance looks.
constexpr std::size_t kMemory = 64;
constexpr std::size_t kLongestShift = 16;
/// Short lists are exhausted long before the limit on steps.
constexpr std::int64_t kMovesPerStep = 100;

/// Changes lists by swaps of neighbours, and takes them back.
class Swaps {
 public:
  Swaps(const StepTable& table, StepLists& lists) : table_(table), lists_(lists) {}

  /// Swaps a step with the one behind it; false where the second needs the first.
  bool swap(std::size_t rank, std::size_t index) {
    std::vector<OrderStep>& list = lists_[rank];
    if (index + 1 >= list.size() || needs(list[index + 1], list[index])) {
      return false;
    }
    std::swap(list[index], list[index + 1]);
    done_.push_back({rank, index});
    return true;
  }
  void shift_later(ListPlace place, std::size_t by) {
    for (std::size_t i = 0; i < by && swap(place.rank, place.index + i); ++i) {
    }
  }
  void shift_earlier(ListPlace place, std::size_t by) {
    for (std::size_t i = 0; i < by && i < place.index && swap(place.rank, place.index - i - 1);
         ++i) {
    }
  }
  [[nodiscard]] std::size_t count() const { return done_.size(); }
  void keep() { done_.clear(); }
  void undo() {
    for (; !done_.empty(); done_.pop_back()) {
      const ListPlace& place = done_.back();
      std::swap(lists_[place.rank][place.index], lists_[place.rank][place.index + 1]);
    }
  }

 private:
  [[nodiscard]] bool needs(const OrderStep& later, const OrderStep& earlier) const {
    if (later.micro_batch != earlier.micro_batch) {
      return false;
    }
    const StepType& type = table_.types[static_cast<std::size_t>(later.type)];
    const std::int32_t slot = table_.types[static_cast<std::size_t>(earlier.type)].slot;
    return type.own == slot || type.dependency == slot;
  }

  const StepTable& table_;
  StepLists& lists_;
  std::vector<ListPlace> done_;
};

class LocalSearch {
 public:
  LocalSearch(const StepTable& table, StepLists lists, std::mt19937& engine)
      : table_(table),
        lists_(std::move(lists)),
        engine_(engine),
        clock_(table),
        swaps_(table, lists_),
        path_(table) {}

  StepLists run(const LocalSearchLimits& limits) {
    SW_CHECK(clock_.run(lists_), "lists that run within the caps");
    std::size_t size = 0;
    for (const std::vector<OrderStep>& list : lists_) {
      size += list.size();
    }
    OrderScore current = clock_.score();
    OrderScore best = current;
    StepLists best_lists = lists_;
    std::vector<OrderScore> memory(kMemory, current);
    critical_ = path_.find(lists_, clock_, engine_);
    const auto steps = static_cast<std::int64_t>(size + 1);
    const std::int64_t moves = std::min(limits.steps / steps, kMovesPerStep * steps);
    for (std::int64_t i = 0; i < moves && best.time > limits.good_enough; ++i) {
      propose();
      OrderScore& before = memory[static_cast<std::size_t>(i) % kMemory];
      const bool accepted = swaps_.count() > 0 && clock_.run(lists_) &&
                            (clock_.score() <= current || clock_.score() <= before);
      if (accepted) {
        current = clock_.score();
        swaps_.keep();
        critical_ = path_.find(lists_, clock_, engine_);
        if (current < best) {
          best = current;
          best_lists = lists_;
        }
      } else {
        swaps_.undo();
      }
      before = std::min(before, current);
    }
    return best_lists;
  }

 private:
  [[nodiscard]] std::size_t pick(std::size_t below) { return engine_() % below; }

  /// Mostly a step of the critical path that the rank's next one waits for.
  ListPlace choose_place() {
    if (!critical_.empty() && pick(8) != 0) {
      return critical_[pick(critical_.size())];
    }
    const std::size_t rank = pick(lists_.size());
    return {rank, pick(lists_[rank].size())};
  }

  void propose() {
    const ListPlace place = choose_place();
    // Short shifts are the likely ones.
    const std::size_t by = 1 + pick(1 + pick(kLongestShift));
    switch (pick(8)) {
      case 0:
      case 1:
        swaps_.swap(place.rank, place.index);
        break;
      case 2:
      case 3:
        swaps_.shift_later(place, by);
        break;
      case 4:
      case 5:
        swaps_.shift_earlier(
            {place.rank,
             place.index + 1 < lists_[place.rank].size() ? place.index + 1 : place.index},
            by);
        break;
      case 6:
        swap_alike(place);
        break;
      default:
        shift_alike(place, by);
        break;
    }
  }

  /// Swaps all pairs of the rank that are like the one at a place.
  void swap_alike(const ListPlace& place) {
    const std::vector<OrderStep>& list = lists_[place.rank];
    if (place.index + 1 >= list.size()) {
      return;
    }
    const OrderStep first = list[place.index];
    const OrderStep second = list[place.index + 1];
    for (std::size_t i = 0; i + 1 < list.size(); ++i) {
      if (list[i].type == first.type && list[i + 1].type == second.type &&
          list[i].micro_batch - list[i + 1].micro_batch == first.micro_batch - second.micro_batch) {
        swaps_.swap(place.rank, i);
      }
    }
  }

  /// Shifts all steps of the kind of the one at a place, from it on or up to it.
  void shift_alike(const ListPlace& place, std::size_t by) {
    const std::vector<OrderStep>& list = lists_[place.rank];
    const std::int32_t type = list[place.index].type;
    if (pick(2) == 0) {
      for (std::size_t i = list.size(); i-- > place.index;) {
        if (list[i].type == type) {
          swaps_.shift_later({place.rank, i}, by);
        }
      }
    } else {
      for (std::size_t i = place.index; i < list.size(); ++i) {
        if (list[i].type == type) {
          swaps_.shift_earlier({place.rank, i}, by);
        }
      }
    }
  }

  const StepTable& table_;
  StepLists lists_;
  std::mt19937& engine_;
  OrderClock clock_;
  Swaps swaps_;
  CriticalSteps path_;
  std::vector<ListPlace> critical_;
};

}  // namespace

StepLists improve(const StepTable& table,
                  StepLists lists,
                  const LocalSearchLimits& limits,
                  std::mt19937& engine) {
  return LocalSearch(table, std::move(lists), engine).run(limits);
}

}  // namespace stagewright::synthesis
