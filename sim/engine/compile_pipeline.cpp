#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/schedule/wait_cycle.h"
#include "sim/engine/order_index.h"
#include "sim/engine/pipeline_graph.h"

namespace stagewright {
namespace {

/// Numbers the classes of work in the order in which they come up.
class WorkClasses {
 public:
  explicit WorkClasses(std::int32_t stages)
      : single_(2 * kActionKindCount * static_cast<std::size_t>(stages)),
        joins_(static_cast<std::size_t>(stages)) {
    works.emplace_back();  // class 0: no duration, no lag
  }

  [[nodiscard]] WorkClass of(const Action& action, std::optional<StageId> border) {
    // An action has one border at most, so that it is enough to know whether there is one.
    const std::size_t kind = 2 * static_cast<std::size_t>(action.kind) + (border ? 1 : 0);
    WorkClass& known = single_[kind * joins_.size() + action.stage.index()];
    return known != 0 ? known : known = add({.part = part_of(action), .border = border});
  }
  [[nodiscard]] WorkClass of_pair(const Action& action,
                                  const Action& beside,
                                  std::optional<StageId> border) {
    WorkClass& known = pairs_[{action.kind, action.stage, beside.kind, beside.stage, border}];
    return known != 0
               ? known
               : known =
                     add({.part = part_of(action), .beside = part_of(beside), .border = border});
  }
  [[nodiscard]] WorkClass of_join(std::optional<StageId> border) {
    if (!border) {
      return 0;
    }
    WorkClass& known = joins_[border->index()];
    return known != 0 ? known : known = add({.border = border});
  }
  [[nodiscard]] WorkClass of_begin(std::size_t rank) {
    return add({.late = static_cast<std::int32_t>(rank)});
  }
  /// A class is a number of 16 bits.
  [[nodiscard]] bool too_many() const {
    return works.size() > std::size_t{std::numeric_limits<WorkClass>::max()} + 1;
  }

  std::vector<PipelineWork> works;

 private:
  [[nodiscard]] static PipelineWork::Part part_of(const Action& action) {
    return {action.kind, action.stage};
  }
  [[nodiscard]] WorkClass add(const PipelineWork& work) {
    works.push_back(work);
    return static_cast<WorkClass>(works.size() - 1);
  }

  std::vector<WorkClass> single_;  ///< by kind, whether there is a border, and stage; 0: none yet
  std::vector<WorkClass> joins_;   ///< by border
  std::map<std::tuple<ActionKind, StageId, ActionKind, StageId, std::optional<StageId>>, WorkClass>
      pairs_;
};

/// Lays an order out in levels: in each, every rank whose next action waits for earlier levels
/// alone adds that one.  So neighbours belong to different ranks and do not wait for each other.
class PipelineCompiler {
 public:
  explicit PipelineCompiler(const PipelineOrder& order)
      : order_(order), index_(order), classes_(order.stages), ranks_(order.ranks.size()) {}

  [[nodiscard]] Result<PipelineGraph> run() && {
    if (auto filled = index_.fill(); !filled) {
      return pass_on(std::move(filled));
    }
    begin();
    while (!level_.empty()) {
      level_begin_ = static_cast<SweepIndex>(result_.graph.size());
      next_level_.clear();
      for (const std::int32_t rank : level_) {
        if (auto moved = advance(rank); !moved) {
          return pass_on(std::move(moved));
        }
      }
      std::swap(level_, next_level_);
    }
    if (const auto stuck = first_stuck()) {
      return fail(ErrorCode::kInfeasible, "deadlock: " + cycle_text(*stuck));
    }
    if (classes_.too_many()) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("an order of {} stages has more than 65536 kinds of work; "
                              "use fewer stages",
                              order_.stages));
    }
    result_.works = std::move(classes_.works);
    return std::move(result_);
  }

 private:
  struct Rank {
    std::int32_t next = 0;  ///< in its list
    std::size_t pair = 0;   ///< into its pairs
    SweepIndex last = 0;
    std::optional<std::int32_t> waits_with;  ///< the next rank that waits for the same action
  };
  /// What arrives from another rank.
  struct Arrival {
    SweepIndex from = 0;
    std::optional<StageId> border;
  };

  void begin() {
    result_.rank_begin = index_.rank_begin();
    const auto actions = static_cast<std::size_t>(result_.rank_begin.back());
    result_.index.resize(actions);
    result_.graph.first.reserve(1 + ranks_.size() + actions);
    result_.graph.second.reserve(1 + ranks_.size() + actions);
    result_.graph.work.reserve(1 + ranks_.size() + actions);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      ranks_[rank].last = result_.graph.add(0, 0, classes_.of_begin(rank));
      if (!order_.ranks[rank].empty()) {
        level_.push_back(static_cast<std::int32_t>(rank));
      }
    }
  }

  [[nodiscard]] bool is_paired(std::size_t rank) const {
    return !order_.pairs.empty() && ranks_[rank].pair < order_.pairs[rank].size() &&
           order_.pairs[rank][ranks_[rank].pair] == ranks_[rank].next;
  }

  [[nodiscard]] Result<void> advance(std::int32_t rank) {
    const auto r = static_cast<std::size_t>(rank);
    const auto place = static_cast<std::size_t>(ranks_[r].next);
    const std::size_t parts = is_paired(r) ? 2 : 1;
    SW_CHECK(place + parts <= order_.ranks[r].size(), "a pair has a second action");
    arrivals_ = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      const Action& action = order_.ranks[r][place + part];
      const OrderIndex::Needs needs = index_.needs_of(action);
      for (std::size_t i = 0; i < needs.count; ++i) {
        const OrderIndex::Need& need = needs.all[i];
        if (!need.from) {
          return fail(ErrorCode::kInvalidInput,
                      fmt::format("{} stands nowhere in the order", need.what),
                      OrderIndex::place_text(r, action));
        }
        if (!arrive(rank, need)) {
          return {};
        }
      }
    }
    add(r, place, parts);
    return {};
  }

  /// Whether what is needed is there; if not, the rank will be called again when it is.
  [[nodiscard]] bool arrive(std::int32_t rank, const OrderIndex::Need& need) {
    SweepIndex& from = result_.index[static_cast<std::size_t>(need.from->action)];
    if (from <= 0) {
      // Not laid out yet: until then the entry heads the list of those that wait for it, as
      // -1 - rank.
      Rank& waiting = ranks_[static_cast<std::size_t>(rank)];
      waiting.waits_with = from < 0 ? std::optional(-1 - from) : std::nullopt;
      from = -1 - rank;
      return false;
    }
    if (from >= level_begin_) {
      next_level_.push_back(rank);
      return false;
    }
    if (need.from->rank != rank) {  // else the order of the rank's list says it
      arrivals_of_[arrivals_++] = {from, need.border};
    }
    return true;
  }

  void add(std::size_t r, std::size_t place, std::size_t parts) {
    Rank& rank = ranks_[r];
    const std::vector<Action>& list = order_.ranks[r];
    SweepIndex after = rank.last;
    for (std::size_t i = 0; i + 1 < arrivals_; ++i) {
      after =
          result_.graph.add(after, arrivals_of_[i].from, classes_.of_join(arrivals_of_[i].border));
    }
    const Arrival last = arrivals_ > 0 ? arrivals_of_[arrivals_ - 1] : Arrival{};
    const WorkClass work = parts == 2 ? classes_.of_pair(list[place], list[place + 1], last.border)
                                      : classes_.of(list[place], last.border);
    rank.last = result_.graph.add(after, last.from, work);
    const auto first = static_cast<std::size_t>(result_.rank_begin[r]) + place;
    for (std::size_t action = first; action < first + parts; ++action) {
      wake(result_.index[action]);
      result_.index[action] = rank.last;
    }
    rank.next += static_cast<std::int32_t>(parts);
    rank.pair += parts - 1;
    if (static_cast<std::size_t>(rank.next) < list.size()) {
      next_level_.push_back(static_cast<std::int32_t>(r));
    }
  }

  void wake(SweepIndex entry) {
    std::optional<std::int32_t> rank = entry < 0 ? std::optional(-1 - entry) : std::nullopt;
    while (rank) {
      next_level_.push_back(*rank);
      rank = std::exchange(ranks_[static_cast<std::size_t>(*rank)].waits_with, std::nullopt);
    }
  }

  [[nodiscard]] std::optional<std::size_t> first_stuck() const {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (static_cast<std::size_t>(ranks_[rank].next) < order_.ranks[rank].size()) {
        return rank;
      }
    }
    return std::nullopt;
  }

  /// The rank that an action stands on.
  [[nodiscard]] std::size_t rank_of(std::int32_t action) const {
    const auto& begin = result_.rank_begin;
    return static_cast<std::size_t>(std::upper_bound(begin.begin(), begin.end(), action) -
                                    begin.begin() - 1);
  }

  /// Why an action was not laid out: those that it waits for.
  [[nodiscard]] std::vector<std::int32_t> blockers_of(std::int32_t action) const {
    const std::size_t rank = rank_of(action);
    const std::int32_t next = result_.rank_begin[rank] + ranks_[rank].next;
    if (action != next) {
      return {next};
    }
    std::vector<std::int32_t> all;
    const std::size_t parts = is_paired(rank) ? 2 : 1;
    for (std::size_t part = 0; part < parts; ++part) {
      const auto place = static_cast<std::size_t>(ranks_[rank].next) + part;
      const OrderIndex::Needs needs = index_.needs_of(order_.ranks[rank][place]);
      for (std::size_t i = 0; i < needs.count; ++i) {
        if (result_.index[static_cast<std::size_t>(needs.all[i].from->action)] <= 0) {
          all.push_back(needs.all[i].from->action);
        }
      }
    }
    return all;
  }

  /// The cycle into which a rank that is stuck leads.
  [[nodiscard]] std::string cycle_text(std::size_t stuck) const {
    const std::int32_t start = result_.rank_begin[stuck] + ranks_[stuck].next;
    const std::vector<std::int32_t> cycle = shortest_wait_cycle<std::int32_t>(
        {start}, [this](std::int32_t action) { return blockers_of(action); });
    return wait_cycle_text(cycle.size(), [&](std::size_t i) {
      const std::int32_t blocker = cycle[(i + 1) % cycle.size()];
      const std::size_t rank = rank_of(cycle[i]);
      const std::int32_t place = cycle[i] - result_.rank_begin[rank];
      return WaitLink{
          fmt::format("rank {} action {} ({})",
                      rank,
                      place,
                      to_string(order_.ranks[rank][static_cast<std::size_t>(place)])),
          rank == rank_of(blocker) && blocker < cycle[i] ? "is reached only after" : "waits for"};
    });
  }

  const PipelineOrder& order_;
  OrderIndex index_;
  WorkClasses classes_;
  std::vector<Rank> ranks_;
  PipelineGraph result_;
  std::vector<std::int32_t> level_;  ///< ranks that may add an action
  std::vector<std::int32_t> next_level_;
  SweepIndex level_begin_ = 0;
  std::array<Arrival, 2 * OrderIndex::kMostNeeds> arrivals_of_;
  std::size_t arrivals_ = 0;
};

}  // namespace

Result<PipelineGraph> compile(const PipelineOrder& order) {
  return PipelineCompiler(order).run();
}

}  // namespace stagewright
