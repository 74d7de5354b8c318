#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/lower/insert_collectives.h"
#include "planner/lower/rank_draft.h"

namespace stagewright {

/// Whether a gradient's tensor may be added to in place.
enum class Ownership : std::uint8_t {
  kOwned,   ///< made for this value alone
  kShared,  ///< also the gradient of another value (both sides of an addition)
};

/// Writes the operations of one layer on one rank: what the rules in lower/rules ask for and write
/// to.  Values become tensors named "layer.value" on first use, gradients "layer.value.grad".
/// One writer serves the forward and the backward of a layer, so that both name the same
/// tensors.
class LayerWriter {
 public:
  /// `input` is the tensor of the layer's input, absent where tokens come in.
  LayerWriter(const RankContext& context,
              RankDraft& draft,
              StageProgram& stage,
              LayerId layer,
              std::optional<TensorId> input);

  [[nodiscard]] const RankContext& context() const { return *context_; }
  [[nodiscard]] const Layer& layer() const { return *layer_; }
  [[nodiscard]] const LayerValue& value(ValueId id) const { return layer_->values[id.index()]; }
  /// The operation that writes a value first, and how many read it.
  [[nodiscard]] const LayerOp* producer(ValueId id) const;
  [[nodiscard]] std::size_t consumers(ValueId id) const;

  /// Columns and rows of a value on this rank.
  [[nodiscard]] std::int64_t width(ValueId id) const;
  [[nodiscard]] std::int64_t rows(ValueId id) const;
  [[nodiscard]] TensorId tensor(ValueId id);
  /// A further result of an operation, the same in forward and backward: "block.3.qkv.lse".
  [[nodiscard]] TensorId extra(const LayerOp& op,
                               std::string_view suffix,
                               DType type,
                               std::vector<std::int64_t> shape,
                               TensorClass tensor_class = TensorClass::kActivation);
  [[nodiscard]] TensorId weight(const LayerOp& op, std::size_t index) const;
  [[nodiscard]] TensorId weight_gradient(const LayerOp& op, std::size_t index) const;
  [[nodiscard]] TensorId tokens();
  /// In place of tokens: (images, elements of each).
  [[nodiscard]] TensorId images(std::int64_t elements);
  [[nodiscard]] TensorId targets();
  [[nodiscard]] TensorId loss() const { return draft_->loss; }

  /// An operation on all rows of the micro-batch, computed in the plan's precision.
  [[nodiscard]] Operation operation(OpKind kind) const;
  /// The same on those rows of a value that are here.
  [[nodiscard]] Operation operation(OpKind kind, ValueId rows_of) const;
  void emit(Operation op, std::optional<OpVariant> partial = std::nullopt);
  /// Emits an operation on all rows whose first output, the value `id` or its gradient, is one term
  /// of a sum over the tensor group.  Of the sum this rank gets the rows that it has of the value.
  void emit_term(Operation op, ValueId id);

  /// Who reads the gathered rows: the operations that need an input's gradient, or only those of a
  /// weight's, which a split backward runs later.
  enum class GatherFor : std::uint8_t {
    kInputs,
    kWeights
  };
  /// All rows of a value: its tensor, or one into which an operation emitted here gathers it.
  [[nodiscard]] TensorId whole(ValueId id, GatherFor use = GatherFor::kInputs);
  /// The same of a gradient of the value.
  [[nodiscard]] TensorId whole_gradient(ValueId id,
                                        TensorId gradient,
                                        GatherFor use = GatherFor::kInputs);

  // Backward: each value's gradient is the sum of what its readers add.
  void add_gradient(ValueId id, TensorId tensor, Ownership ownership);
  /// The sum, complete once all readers have added theirs; emits the additions.  What was taken is
  /// gone: an operation in place adds it again.
  [[nodiscard]] TensorId take_gradient(ValueId id);
  /// A tensor for what the operation named `by` adds to the gradient of `id`.
  [[nodiscard]] TensorId new_gradient(ValueId id, std::string_view by);

  /// What was emitted since the last call.
  [[nodiscard]] std::vector<DraftOperation> take_operations();

 private:
  [[nodiscard]] bool computes_loss() const;

  struct Contribution {
    TensorId tensor;
    Ownership ownership = Ownership::kOwned;
  };

  void choose_in_place();
  [[nodiscard]] TensorId add_tensor(std::string name, std::int64_t rows, std::int64_t columns);
  /// Between the parts of rows that the members have and all of them.
  void emit_exchange(OpKind kind, TensorId from, TensorId to, GatherFor use);
  [[nodiscard]] TensorId input_tensor(std::optional<TensorId>& tensor,
                                      const char* name,
                                      std::vector<std::int64_t> shape);
  [[nodiscard]] const HeldWeight& held(const LayerOp& op, std::size_t index) const;

  const RankContext* context_;
  RankDraft* draft_;
  StageProgram* stage_;
  LayerId id_;
  const Layer* layer_;
  std::vector<ValueId> root_;                     ///< value whose tensor a value shares, by value
  std::vector<std::optional<TensorId>> tensors_;  ///< by root value
  std::vector<std::optional<TensorId>> whole_;    ///< by root value
  std::map<std::pair<std::size_t, std::string>, TensorId> extras_;
  std::vector<std::vector<Contribution>> gradients_;  ///< by value
  std::vector<std::size_t> gradients_made_;           ///< by value
  std::vector<DraftOperation> operations_;
};

}  // namespace stagewright
