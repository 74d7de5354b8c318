/// The same step by the event engine.
/// Usage: event_1f1b RANKS CHUNKS [REPEATS]

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/schedule/pipeline_order.h"
#include "one_f_one_b_case.h"
#include "sim/engine/event_engine.h"
#include "sim/engine/order_events.h"

namespace stagewright {
namespace {

PipelineOrder order_for(std::int32_t ranks, std::int32_t micro_batches) {
  PipelineOrder order;
  order.stages = ranks;
  order.micro_batches = micro_batches;
  order.placement.resize(1);
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    order.placement[0].push_back(rank);
    std::vector<Action>& actions = order.ranks.emplace_back();
    const auto add = [&](ActionKind kind, std::int32_t m) {
      actions.push_back({.kind = kind, .stage = StageId(rank), .micro_batch = MicroBatchId(m)});
    };
    one_f_one_b::walk(
        ranks,
        micro_batches,
        rank,
        [&](std::int32_t m) { add(ActionKind::kForward, m); },
        [&](std::int32_t m) { add(ActionKind::kBackward, m); });
  }
  return order;
}

EventGraph graph_for(const PipelineOrder& order) {
  const std::vector<Duration> none(order.ranks.size(), Duration{});
  EventGraph graph =
      order_events(
          order,
          {.forward = none,
           .backward = none,
           .transfer = std::vector<Duration>(order.ranks.size(), Duration(one_f_one_b::kTransfer))},
          {.links = OrderLinks::kPorts})
          .value();
  std::size_t node = 0;
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    for (const Action& action : order.ranks[rank]) {
      graph.alone[node++] = Duration(one_f_one_b::duration(static_cast<std::int32_t>(rank),
                                                           action.micro_batch.value(),
                                                           action.kind == ActionKind::kBackward));
    }
  }
  return graph;
}

/// The best of several runs: each is over in milliseconds.
void run(std::int32_t ranks, std::int32_t micro_batches, int repeats) {
  const EventGraph graph = graph_for(order_for(ranks, micro_batches));
  EventEngine engine(graph);
  double best = 0;
  Duration makespan{};
  for (int i = 0; i < repeats; ++i) {
    const one_f_one_b::Stopwatch watch;
    makespan = engine.run(graph.alone).makespan;
    best = i == 0 ? watch.seconds() : std::min(best, watch.seconds());
  }
  one_f_one_b::report("stagewright", ranks, micro_batches, to_seconds(makespan), best);
}

}  // namespace
}  // namespace stagewright

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: event_1f1b RANKS CHUNKS [REPEATS]\n");
    return EXIT_FAILURE;
  }
  constexpr int kRepeats = 20;
  stagewright::run(
      std::atoi(argv[1]), std::atoi(argv[2]), argc > 3 ? std::atoi(argv[3]) : kRepeats);
  return EXIT_SUCCESS;
}
