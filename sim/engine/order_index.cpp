#include "sim/engine/order_index.h"

#include <fmt/format.h>

#include "core/base/counted.h"

namespace stagewright {
namespace {

std::uint8_t bit_of(ActionKind kind) {
  return static_cast<std::uint8_t>(
      1U << (static_cast<unsigned>(kind) - static_cast<unsigned>(ActionKind::kForward)));
}
static_assert(static_cast<int>(ActionKind::kRecompute) - static_cast<int>(ActionKind::kForward) < 8,
              "kinds that compute fit into the bits of a byte");

}  // namespace

OrderIndex::OrderIndex(const PipelineOrder& order) : order_(order) {}

std::string OrderIndex::place_text(std::size_t rank, const Action& action) {
  return fmt::format("rank {}, action {}", rank, to_string(action));
}

Result<void> OrderIndex::fill() {
  rank_begin_.push_back(0);
  for (const std::vector<Action>& actions : order_.ranks) {
    rank_begin_.push_back(rank_begin_.back() + static_cast<std::int32_t>(actions.size()));
  }
  rank_of_.reserve(static_cast<std::size_t>(rank_begin_.back()));
  const std::size_t slots =
      static_cast<std::size_t>(order_.stages) * static_cast<std::size_t>(order_.micro_batches);
  present_.resize(slots);
  forward_.resize(slots);
  gradient_.resize(slots);
  std::int32_t number = 0;
  for (std::size_t rank = 0; rank < order_.ranks.size(); ++rank) {
    for (const Action& action : order_.ranks[rank]) {
      if (auto added = add(action, rank, number++); !added) {
        return added;
      }
      rank_of_.push_back(static_cast<std::int32_t>(rank));
    }
  }
  return {};
}

Result<void> OrderIndex::add(const Action& action, std::size_t rank, std::int32_t number) {
  if (!is_compute(action.kind)) {
    return fail(ErrorCode::kInvalidInput,
                "a pipeline order holds forward, backward and recompute actions only",
                place_text(rank, action));
  }
  if (action.stage.value() < 0 || action.stage.value() >= order_.stages ||
      action.micro_batch.value() < 0 || action.micro_batch.value() >= order_.micro_batches) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("the order has {} and {}",
                            counted(order_.stages, "stage"),
                            counted(order_.micro_batches, "micro-batch")),
                place_text(rank, action));
  }
  const std::size_t at = slot(action.stage.value(), action.micro_batch);
  if (has(action.kind, at)) {
    return fail(ErrorCode::kInvalidInput, "the action stands twice", place_text(rank, action));
  }
  present_[at] = static_cast<std::uint8_t>(present_[at] | bit_of(action.kind));
  if (action.kind == ActionKind::kForward) {
    forward_[at] = number;
  } else if (action.kind == ActionKind::kBackward || action.kind == ActionKind::kBackwardInput) {
    gradient_[at] = number;
  } else if (action.kind == ActionKind::kRecompute) {
    recompute_.resize(present_.size());
    recompute_[at] = number;
  }
  return {};
}

bool OrderIndex::has(ActionKind kind, std::size_t at) const {
  return (present_[at] & bit_of(kind)) != 0;
}

std::optional<OrderIndex::Place> OrderIndex::place(const std::vector<std::int32_t>& table,
                                                   std::size_t at) const {
  return Place{table[at], rank_of_[static_cast<std::size_t>(table[at])]};
}

OrderIndex::Needs OrderIndex::needs_of(const Action& action) const {
  Needs needs;
  const std::int32_t stage = action.stage.value();
  const std::size_t here = slot(stage, action.micro_batch);
  const auto need = [&](bool there,
                        const std::vector<std::int32_t>& table,
                        std::size_t at,
                        std::optional<StageId> border,
                        const char* what) {
    needs.all[needs.count++] = {there ? place(table, at) : std::nullopt, border, what};
  };
  const auto own_forward = [&] {
    need(has(ActionKind::kForward, here), forward_, here, {}, "its forward");
  };
  if (action.kind == ActionKind::kForward) {
    if (stage > 0) {
      const std::size_t before = slot(stage - 1, action.micro_batch);
      need(has(ActionKind::kForward, before),
           forward_,
           before,
           StageId(stage - 1),
           "the forward of the stage before");
    }
  } else if (action.kind == ActionKind::kBackwardWeight) {
    need(has(ActionKind::kBackwardInput, here), gradient_, here, {}, "its input half");
  } else if (action.kind == ActionKind::kRecompute) {
    own_forward();
  } else {
    own_forward();
    if (has(ActionKind::kRecompute, here)) {
      need(true, recompute_, here, {}, "its recomputation");
    }
    if (stage + 1 < order_.stages) {
      const std::size_t after = slot(stage + 1, action.micro_batch);
      need(has(ActionKind::kBackward, after) || has(ActionKind::kBackwardInput, after),
           gradient_,
           after,
           action.stage,
           "the backward of the stage after");
    }
  }
  return needs;
}

}  // namespace stagewright
