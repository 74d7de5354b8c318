#include "core/schedule/lifetimes.h"

#include <algorithm>

#include "core/schedule/semantics.h"
#include "core/schedule/touches.h"

namespace stagewright {
namespace {

ProgramPoint last_point(const RankProgram& program) {
  if (program.actions.empty()) {
    return {};
  }
  const auto ops = operations_of(program, program.actions.back()).ops.size();
  return {static_cast<std::int32_t>(program.actions.size()) - 1,
          ops == 0 ? 0 : static_cast<std::int32_t>(ops) - 1};
}

/// Walks the actions; per micro-batch and tensor it knows the lifetime that is open.
class Walk {
 public:
  explicit Walk(const RankProgram& program)
      : program_(program),
        table_(program),
        next_send_(next_send_on_channel(program.actions)),
        end_(last_point(program)),
        last_action_(count_micro_batches(program)),
        open_(last_action_.size()) {
    for (const TensorSpec& tensor : program.tensors) {
      sizes_.push_back(arena_bytes(tensor));
    }
    for (std::size_t i = 0; i < program.actions.size(); ++i) {
      last_action_[program.actions[i].micro_batch.index()] = i;
    }
  }

  [[nodiscard]] std::vector<Lifetime> run() && {
    add_persistent();
    for (std::size_t i = 0; i < program_.actions.size(); ++i) {
      const MicroBatchId micro_batch = program_.actions[i].micro_batch;
      std::vector<std::size_t>& open = open_[micro_batch.index()];
      if (open.empty()) {
        open.assign(program_.tensors.size(), kNone);
      }
      visit(i, open);
      if (last_action_[micro_batch.index()] == i) {
        std::vector<std::size_t>().swap(open);
      }
    }
    return std::move(found_);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  static std::size_t count_micro_batches(const RankProgram& program) {
    std::size_t count = 0;
    for (const Action& action : program.actions) {
      count = std::max(count, action.micro_batch.index() + 1);
    }
    return count;
  }

  void add_persistent() {
    for (std::size_t i = 0; i < program_.tensors.size(); ++i) {
      const TensorSpec& tensor = program_.tensors[i];
      if (tensor.scope == TensorScope::kPersistent && !tensor.view) {
        found_.push_back({TensorId(i), std::nullopt, sizes_[i], ProgramPoint{}, end_});
      }
    }
  }

  void visit(std::size_t index, std::vector<std::size_t>& open) {
    const Action& action = program_.actions[index];
    const auto at = static_cast<std::int32_t>(index);
    for (const Touch& touch : table_.of(action)) {
      std::size_t& lifetime = open[touch.tensor.index()];
      if (touch.fresh || lifetime == kNone) {
        lifetime = found_.size();
        found_.push_back({touch.tensor,
                          action.micro_batch,
                          sizes_[touch.tensor.index()],
                          {at, touch.first_op},
                          {at, touch.first_op}});
      }
      ProgramPoint last{at, touch.last_op};
      if (is_send(action.kind)) {
        last = next_send_[index] ? ProgramPoint{*next_send_[index], 0} : end_;
      }
      found_[lifetime].last = std::max(found_[lifetime].last, last);
    }
  }

  const RankProgram& program_;
  TouchTable table_;
  std::vector<std::optional<std::int32_t>> next_send_;
  ProgramPoint end_;
  std::vector<std::size_t> last_action_;        ///< by micro-batch
  std::vector<std::vector<std::size_t>> open_;  ///< by micro-batch, by tensor, while in use
  std::vector<Bytes> sizes_;
  std::vector<Lifetime> found_;
};

}  // namespace

Bytes arena_bytes(const TensorSpec& tensor) {
  return Bytes((tensor.bytes().count() + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment);
}

std::vector<Lifetime> lifetimes(const RankProgram& program) {
  return Walk(program).run();
}

}  // namespace stagewright
