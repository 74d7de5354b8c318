#include "sim/analysis/list_trace.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/base/check.h"
#include "core/schedule/operation.h"

namespace stagewright {
namespace {

constexpr StreamId kTransfers(kComputeStream.value() + 1);

/// The receive that an action needs first, if its input comes from another stage.
std::optional<Action> receive_for(const Action& action, std::int32_t stages) {
  switch (action.kind) {
    case ActionKind::kForward:
      if (action.stage.value() > 0) {
        return Action{.kind = ActionKind::kRecvActivation,
                      .stage = action.stage,
                      .micro_batch = action.micro_batch};
      }
      return std::nullopt;
    case ActionKind::kBackward:
    case ActionKind::kBackwardInput:
      if (action.stage.value() + 1 < stages) {
        return Action{.kind = ActionKind::kRecvGradient,
                      .stage = action.stage,
                      .micro_batch = action.micro_batch};
      }
      return std::nullopt;
    case ActionKind::kBackwardWeight:
    case ActionKind::kRecompute:
    case ActionKind::kLoadMicroBatch:
    case ActionKind::kSendActivation:
    case ActionKind::kRecvActivation:
    case ActionKind::kSendGradient:
    case ActionKind::kRecvGradient:
    case ActionKind::kReduceGradients:
    case ActionKind::kGatherParameters:
    case ActionKind::kOptimizerStep:
    case ActionKind::kUpdateParameters:
      return std::nullopt;
  }
  SW_CHECK(false, "an action of a kind that is listed");
}

class TraceOfList {
 public:
  TraceOfList(const TokenList& list, const PipelineCosts& costs, const ListTiming& timing)
      : list_(list), costs_(costs), timing_(timing) {}

  Trace run() && {
    trace_.clock = "model";
    trace_.ranks = static_cast<std::int32_t>(list_.ranks.size());
    trace_.streams = {"compute", "transfers"};
    trace_.step_times = {timing_.makespan};
    for (std::size_t rank = 0; rank < list_.ranks.size(); ++rank) {
      for (std::size_t place = 0; place < list_.ranks[rank].size(); ++place) {
        if (list_.ranks[rank][place].kind == ListItemKind::kCompute) {
          add_item(rank, place);
        }
      }
    }
    return std::move(trace_);
  }

 private:
  void add_item(std::size_t rank, std::size_t place) {
    const ListItem& item = list_.ranks[rank][place];
    const ItemTimes& times = timing_.items[rank][place];
    TraceEvent event{.rank = RankId(static_cast<std::int32_t>(rank)),
                     .stream = kComputeStream,
                     .action_index = static_cast<std::int32_t>(place)};
    for (std::size_t i = 0; i < item.actions.size(); ++i) {
      add_message(event, item.actions[i], times.ready[i]);
    }
    event.posted = TimePoint(times.posted);
    event.ready = TimePoint(times.start);
    event.start = TimePoint(times.start);
    event.end = TimePoint(times.end);
    for (const Action& action : item.actions) {
      event.action = action.kind;
      event.stage = action.stage;
      event.micro_batch = action.micro_batch;
      trace_.events.push_back(event);
    }
  }

  /// `event` says where and which place of the list needs it.
  void add_message(TraceEvent event, const Action& action, Duration arrived) {
    const auto receive = receive_for(action, list_.stages);
    const auto& transfer = costs_.transfer;
    if (!receive || transfer.empty()) {
      return;
    }
    const std::int32_t from =
        action.stage.value() + (receive->kind == ActionKind::kRecvActivation ? -1 : 1);
    const Duration length =
        transfer[static_cast<std::size_t>(std::min(from, action.stage.value()))];
    if (length == Duration{} ||
        list_.rank_of(StageId(from), action.micro_batch) == event.rank.value()) {
      return;
    }
    event.stream = kTransfers;
    event.action = receive->kind;
    event.stage = receive->stage;
    event.micro_batch = receive->micro_batch;
    event.posted = event.ready = event.start = TimePoint(arrived - length);
    event.end = TimePoint(arrived);
    trace_.events.push_back(event);
  }

  const TokenList& list_;
  const PipelineCosts& costs_;
  const ListTiming& timing_;
  Trace trace_;
};

}  // namespace

Trace list_trace(const TokenList& list, const PipelineCosts& costs, const ListTiming& timing) {
  return TraceOfList(list, costs, timing).run();
}

}  // namespace stagewright
