#include "sim/analysis/list_coverage.h"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "core/schedule/channels.h"

namespace stagewright {
namespace {

class Coverage {
 public:
  explicit Coverage(const TokenList& list) : list_(list) {}

  std::optional<ListFault> check() {
    for (std::size_t rank = 0; rank < list_.ranks.size(); ++rank) {
      for (std::size_t place = 0; place < list_.ranks[rank].size(); ++place) {
        if (auto fault = check_marker(list_.ranks[rank][place].marker, rank, place)) {
          return fault;
        }
        for (const Action& action : list_.ranks[rank][place].actions) {
          if (auto fault = check_action(action, rank, place)) {
            return fault;
          }
        }
      }
    }
    if (auto gap = find_gap()) {
      return gap;
    }
    return list_.has_transfers() ? find_lone_message() : std::nullopt;
  }

 private:
  using Key = std::uint64_t;

  [[nodiscard]] Key key(ActionKind kind, std::int64_t stage, std::int64_t micro_batch) const {
    const Key row = static_cast<Key>(stage) * static_cast<Key>(list_.micro_batches) +
                    static_cast<Key>(micro_batch);
    return row * kActionKindCount + static_cast<Key>(kind);
  }
  [[nodiscard]] bool has(ActionKind kind, std::int32_t stage, std::int32_t micro_batch) const {
    return seen_.contains(key(kind, stage, micro_batch));
  }

  /// "9UNSHARD" of 4 stages; the empty text of what is no marker is right.
  [[nodiscard]] std::optional<ListFault> check_marker(std::string_view marker,
                                                      std::size_t rank,
                                                      std::size_t place) const {
    std::int64_t stage = 0;
    const auto [end, error] = std::from_chars(marker.data(), marker.data() + marker.size(), stage);
    if (error != std::errc::result_out_of_range && stage < list_.stages) {
      return std::nullopt;
    }
    return ListFault{ListFaultKind::kRange,
                     fmt::format("rank {} pos {}: {} out of range (S={}, M={})",
                                 rank,
                                 place,
                                 marker,
                                 list_.stages,
                                 list_.micro_batches)};
  }

  std::optional<ListFault> check_action(const Action& action, std::size_t rank, std::size_t place) {
    const auto fault = [&](ListFaultKind kind, const std::string& what) {
      return ListFault{kind,
                       fmt::format("rank {} pos {}: {} {}", rank, place, to_string(action), what)};
    };
    const std::int32_t stage = action.stage.value();
    const std::int32_t micro_batch = action.micro_batch.value();
    if (stage >= list_.stages || micro_batch >= list_.micro_batches) {
      return fault(ListFaultKind::kRange,
                   fmt::format("out of range (S={}, M={})", list_.stages, list_.micro_batches));
    }
    if (is_send(action.kind) || is_receive(action.kind)) {
      const bool to_next =
          action.kind == ActionKind::kSendActivation || action.kind == ActionKind::kRecvGradient;
      if (to_next ? stage + 1 == list_.stages : stage == 0) {
        return fault(ListFaultKind::kRange,
                     fmt::format("has no stage on the other side (S={})", list_.stages));
      }
    }
    const std::int32_t holder = list_.rank_of(action.stage, action.micro_batch);
    if (holder != static_cast<std::int32_t>(rank)) {
      return fault(ListFaultKind::kPlacement, fmt::format("belongs on rank {}", holder));
    }
    const bool half =
        action.kind == ActionKind::kBackwardInput || action.kind == ActionKind::kBackwardWeight;
    const bool again = !seen_.insert(key(action.kind, stage, micro_batch)).second ||
                       (half && has(ActionKind::kBackward, stage, micro_batch)) ||
                       (action.kind == ActionKind::kBackward &&
                        (has(ActionKind::kBackwardInput, stage, micro_batch) ||
                         has(ActionKind::kBackwardWeight, stage, micro_batch)));
    if (again) {
      return fault(ListFaultKind::kDuplicate, "is done twice");
    }
    if (action.kind == ActionKind::kRecompute &&
        (has(ActionKind::kBackward, stage, micro_batch) ||
         has(ActionKind::kBackwardInput, stage, micro_batch))) {
      return fault(ListFaultKind::kOrder, "comes after the backward that it recomputes for");
    }
    return std::nullopt;
  }

  /// Stops at the first gap, so it takes no more steps than there are actions.
  [[nodiscard]] std::optional<ListFault> find_gap() const {
    for (std::int32_t stage = 0; stage < list_.stages; ++stage) {
      for (std::int32_t m = 0; m < list_.micro_batches; ++m) {
        if (!has(ActionKind::kForward, stage, m)) {
          return ListFault{ListFaultKind::kMissing,
                           fmt::format("forward of stage {} micro-batch {}", stage, m)};
        }
        const bool input = has(ActionKind::kBackwardInput, stage, m);
        const bool weight = has(ActionKind::kBackwardWeight, stage, m);
        if (!has(ActionKind::kBackward, stage, m) && !(input && weight)) {
          return ListFault{ListFaultKind::kMissing,
                           fmt::format("backward of stage {} micro-batch {} (I {}, W {})",
                                       stage,
                                       m,
                                       input ? "done" : "absent",
                                       weight ? "done" : "absent")};
        }
      }
    }
    return std::nullopt;
  }

  /// A list that has transfers has all of them, each with both sides.  Stops at the first gap, too.
  [[nodiscard]] std::optional<ListFault> find_lone_message() const {
    for (std::int32_t stage = 0; stage + 1 < list_.stages; ++stage) {
      for (std::int32_t m = 0; m < list_.micro_batches; ++m) {
        for (const auto& [kind, from] : {std::pair(ActionKind::kSendActivation, stage),
                                         std::pair(ActionKind::kSendGradient, stage + 1)}) {
          if (auto fault = check_message({.kind = kind,
                                          .stage = StageId(from),
                                          .micro_batch = MicroBatchId(m),
                                          .peer = {},
                                          .bucket = {}})) {
            return fault;
          }
        }
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<ListFault> check_message(const Action& send) const {
    const Action receive = other_side(send);
    const auto listed = [this](const Action& action) {
      return has(action.kind, action.stage.value(), action.micro_batch.value());
    };
    const std::int32_t sender = list_.rank_of(send.stage, send.micro_batch);
    const std::int32_t receiver = list_.rank_of(receive.stage, receive.micro_batch);
    if (listed(send) && listed(receive)) {
      return std::nullopt;
    }
    if (listed(send)) {
      return ListFault{ListFaultKind::kMissing,
                       fmt::format("{} on rank {}, which would receive the {} of rank {}",
                                   to_string(receive),
                                   receiver,
                                   to_string(send),
                                   sender)};
    }
    if (listed(receive)) {
      return ListFault{ListFaultKind::kMissing,
                       fmt::format("{} on rank {}, which the {} of rank {} waits for",
                                   to_string(send),
                                   sender,
                                   to_string(receive),
                                   receiver)};
    }
    if (sender == receiver) {
      return std::nullopt;
    }
    return ListFault{ListFaultKind::kMissing,
                     fmt::format("{} on rank {} and {} on rank {}; a list with sends and receives "
                                 "has all that its stages need",
                                 to_string(send),
                                 sender,
                                 to_string(receive),
                                 receiver)};
  }

  const TokenList& list_;
  std::unordered_set<Key> seen_;
};

}  // namespace

std::optional<ListFault> find_coverage_fault(const TokenList& list) {
  return Coverage(list).check();
}

}  // namespace stagewright
