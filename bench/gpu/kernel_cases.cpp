#include "kernel_cases.h"

#include <utility>

#include <fmt/format.h>

#include "runtime/compute/attention.h"

namespace stagewright::gpu_check {

namespace {

// Sums of some thousand fp32 products, and functions of a few ulp; rounding to a 16-bit result,
// and of the operands of tf32 to 10 bits.
constexpr double kFloat32 = 2e-5;
constexpr double kTf32 = 3e-3;
constexpr double kBFloat16 = 8e-3;
constexpr double kFloat16 = 1e-3;

struct Sizes {
  std::int64_t rows, cols, inner, sequence, heads, kv_heads, head_dim, vocabulary;
};

[[nodiscard]] Sizes sizes_of(bool small) {
  // No power of two where a kernel could lean on one.
  return small ? Sizes{24, 40, 20, 12, 4, 2, 8, 37} : Sizes{512, 1000, 520, 258, 8, 4, 64, 5003};
}

/// Makes the cases one after the other.
class Cases {
 public:
  explicit Cases(bool small) : of_(sizes_of(small)) {}

  [[nodiscard]] std::vector<KernelCase> all() {
    products();
    norms();
    attention();
    activations();
    element_wise();
    tables();
    losses();
    updates();
    return std::move(cases_);
  }

 private:
  KernelCase& add(std::string name, OpKind kind, OpShape shape, double tolerance = kFloat32) {
    KernelCase& made = cases_.emplace_back();
    made.name = std::move(name);
    made.op.kind = kind;
    made.op.shape = shape;
    made.tolerance = tolerance;
    return made;
  }

  /// The flags are those of Operation.
  struct ProductForm {
    DType result = DType::kFloat32;
    bool transpose_a = false;
    bool transpose_b = false;
    bool accumulate = false;
    bool bias = false;
  };

  void product(DType type, const ProductForm& form, double tolerance) {
    KernelCase& made = add(fmt::format("gemm {}{}{}{}{}",
                                       name_of(type),
                                       form.transpose_a ? " ta" : "",
                                       form.transpose_b ? " tb" : "",
                                       form.accumulate ? " accumulate" : "",
                                       form.bias ? " bias" : ""),
                           OpKind::kGemm,
                           {.rows = of_.rows, .cols = of_.cols, .inner = of_.inner},
                           tolerance);
    made.op.dtype = type;
    made.op.transpose_a = form.transpose_a;
    made.op.transpose_b = form.transpose_b;
    made.op.accumulate = form.accumulate;
    const DType stored = type == DType::kTf32 ? DType::kFloat32 : type;
    made.inputs = {{of_.rows * of_.inner, stored}, {of_.inner * of_.cols, stored}};
    if (form.bias) {
      made.inputs.push_back({of_.cols, form.result});
    }
    made.outputs = {{of_.rows * of_.cols, form.result}};
  }

  void products() {
    for (const auto& [type, tolerance] : {std::pair{DType::kFloat32, kFloat32},
                                          {DType::kTf32, kTf32},
                                          {DType::kBFloat16, kBFloat16},
                                          {DType::kFloat16, kFloat16}}) {
      const DType result = type == DType::kTf32 ? DType::kFloat32 : type;
      product(type, {.result = result, .transpose_b = true, .bias = true}, tolerance);
      product(type, {.result = result}, tolerance);
      product(type, {.transpose_a = true, .accumulate = true}, tolerance);
    }
    KernelCase& sum = add("column-sum", OpKind::kColumnSum, {.rows = of_.rows, .cols = of_.cols});
    sum.inputs = {{of_.rows * of_.cols}};
    sum.outputs = {{of_.cols}};
  }

  void norms() {
    for (const OpVariant variant : {OpVariant::kLayerNorm, OpVariant::kRmsNorm}) {
      const bool layer = variant == OpVariant::kLayerNorm;
      const OpShape shape{.rows = of_.rows, .cols = of_.cols};
      const std::int64_t size = of_.rows * of_.cols;
      const std::int64_t kept = of_.rows * (layer ? 2 : 1);
      Operation forward;
      KernelCase& one =
          add(fmt::format("{} forward", name_of(variant)), OpKind::kNormForward, shape);
      one.op.variant = variant;
      one.op.scalar = 1e-5;
      one.inputs = {{size}, {of_.cols}};
      if (layer) {
        one.inputs.push_back({of_.cols});
      }
      one.outputs = {{size}, {kept}};
      one.compared_outputs = 2;
      forward = one.op;
      const auto statistics = [forward, size, kept, cols = of_.cols](const Doubles& x) {
        const Doubles ones(static_cast<std::size_t>(cols), 1.0);
        return float64_result(
            forward,
            {x, ones, ones},
            {Doubles(static_cast<std::size_t>(size)), Doubles(static_cast<std::size_t>(kept))},
            {})[1];
      };
      KernelCase& back = add(
          fmt::format("{} input gradient", name_of(variant)), OpKind::kNormInputGradient, shape);
      back.op.variant = variant;
      back.inputs = {{size}, {size}, {of_.cols}, {kept}};
      back.outputs = {{size}};
      back.complete = [statistics](auto& inputs) { inputs[3] = statistics(inputs[1]); };
      KernelCase& weights = add(fmt::format("{} parameter gradient", name_of(variant)),
                                OpKind::kNormParameterGradient,
                                shape);
      weights.op.variant = variant;
      weights.op.accumulate = true;
      weights.inputs = {{size}, {size}, {kept}};
      weights.outputs = {{of_.cols}};
      if (layer) {
        weights.outputs.push_back({of_.cols});
      }
      weights.compared_outputs = weights.outputs.size();
      weights.complete = [statistics](auto& inputs) { inputs[2] = statistics(inputs[1]); };
    }
  }

  void attention() {
    constexpr std::int64_t kBatch = 2;
    const OpShape shape{.rows = kBatch * of_.sequence,
                        .batch = kBatch,
                        .sequence = of_.sequence,
                        .heads = of_.heads,
                        .kv_heads = of_.kv_heads,
                        .head_dim = of_.head_dim};
    const std::int64_t packed = shape.rows * (of_.heads + 2 * of_.kv_heads) * of_.head_dim;
    const std::int64_t out = shape.rows * of_.heads * of_.head_dim;
    const std::int64_t kept = shape.rows * of_.heads;
    for (const OpKind kind : {OpKind::kRopeForward, OpKind::kRopeBackward}) {
      KernelCase& turn = add(std::string(name_of(kind)), kind, shape);
      turn.op.scalar = 10000;
      turn.inputs = {{packed}};
      turn.outputs = {{packed}};
    }
    for (const bool causal : {true, false}) {
      const kernels::AttentionShape blocks{
          kBatch, of_.sequence, of_.heads, of_.kv_heads, of_.head_dim, causal};
      const auto floats = [](Bytes bytes) {
        return bytes.count() / static_cast<std::int64_t>(sizeof(float));
      };
      const char* const name = causal ? "causal " : "";
      KernelCase& one =
          add(fmt::format("{}attention forward", name), OpKind::kAttentionForward, shape);
      one.op.causal = causal;
      one.inputs = {{packed}};
      one.outputs = {{out}, {kept}, {floats(kernels::attention_forward_workspace(blocks))}};
      one.compared_outputs = 2;
      const Operation forward = one.op;
      KernelCase& back =
          add(fmt::format("{}attention backward", name), OpKind::kAttentionBackward, shape);
      back.op.causal = causal;
      back.inputs = {{out}, {packed}, {out}, {kept}};
      back.outputs = {{packed}, {floats(kernels::attention_backward_workspace(blocks))}};
      back.complete = [forward](auto& inputs) {
        auto made = float64_result(forward, {inputs[1]}, {inputs[2], inputs[3]}, {});
        inputs[2] = std::move(made[0]);
        inputs[3] = std::move(made[1]);
      };
    }
  }

  void activations() {
    const OpShape shape{.rows = of_.rows, .cols = of_.cols};
    for (const OpVariant variant : {OpVariant::kGelu, OpVariant::kRelu, OpVariant::kSwiGlu}) {
      const std::int64_t y = of_.rows * of_.cols;
      const std::int64_t x = variant == OpVariant::kSwiGlu ? 2 * y : y;
      KernelCase& one =
          add(fmt::format("{} forward", name_of(variant)), OpKind::kActivationForward, shape);
      one.op.variant = variant;
      one.inputs = {{x}};
      one.outputs = {{y}};
      KernelCase& back =
          add(fmt::format("{} backward", name_of(variant)), OpKind::kActivationBackward, shape);
      back.op.variant = variant;
      back.inputs = {{y}, {x}};
      back.outputs = {{x}};
    }
  }

  void element_wise() {
    const OpShape shape{.rows = of_.rows, .cols = of_.cols, .inner = 2 * of_.cols};
    const std::int64_t size = of_.rows * of_.cols;
    KernelCase& plain = add("add", OpKind::kAdd, shape);
    plain.inputs = {{size}, {size}};
    plain.outputs = {{size}};
    KernelCase& with_bias = add("add with bias", OpKind::kAdd, shape);
    with_bias.inputs = {{size}, {size}, {of_.cols}};
    with_bias.outputs = {{size}};
    KernelCase& narrow = add("add bf16", OpKind::kAdd, shape, kBFloat16);
    narrow.op.dtype = DType::kBFloat16;
    narrow.inputs = {{size, DType::kBFloat16}, {size, DType::kBFloat16}};
    narrow.outputs = {{size, DType::kBFloat16}};
    KernelCase& fill = add("fill", OpKind::kFill, shape);
    fill.op.scalar = 0.25;
    fill.outputs = {{size}};
    for (const auto& [from, to, tolerance] :
         {std::tuple{DType::kFloat32, DType::kBFloat16, kBFloat16},
          {DType::kFloat32, DType::kFloat16, kFloat16},
          {DType::kBFloat16, DType::kFloat32, kFloat32},
          {DType::kFloat16, DType::kFloat32, kFloat32},
          {DType::kFloat32, DType::kFloat32, kFloat32}}) {
      KernelCase& copy = add(fmt::format("copy {} to {}", name_of(from), name_of(to)),
                             OpKind::kCopy,
                             shape,
                             tolerance);
      copy.op.dtype = to;
      copy.op.source = from;
      copy.inputs = {{size, from}};
      copy.outputs = {{size, to}};
    }
    KernelCase& take = add("copy columns", OpKind::kCopyColumns, shape);
    take.op.index = 3;
    take.inputs = {{2 * size}};
    take.outputs = {{size}};
    KernelCase& put = add("add columns", OpKind::kAddColumns, shape);
    put.op.index = 3;
    put.op.accumulate = true;
    put.inputs = {{size}};
    put.outputs = {{2 * size}};
  }

  void tables() {
    constexpr std::int64_t kBatch = 2;
    const std::int64_t rows = kBatch * of_.sequence;
    const std::int64_t size = rows * of_.cols;
    const OpShape shape{.rows = rows,
                        .cols = of_.cols,
                        .inner = of_.vocabulary,
                        .batch = kBatch,
                        .sequence = of_.sequence};
    const CaseOperand tokens{rows, DType::kInt32, Values::kTokens, of_.vocabulary};
    const CaseOperand table{of_.vocabulary * of_.cols};
    const CaseOperand positions{of_.sequence * of_.cols};
    KernelCase& look = add("embedding forward", OpKind::kEmbeddingForward, shape);
    look.inputs = {tokens, table};
    look.outputs = {{size}};
    KernelCase& learn = add("embedding gradient", OpKind::kEmbeddingGradient, shape);
    learn.inputs = {tokens, {size}};
    learn.outputs = {table};
    KernelCase& place = add("position forward", OpKind::kPositionForward, shape);
    place.inputs = {{size}, positions};
    place.outputs = {{size}};
    KernelCase& places = add("position gradient", OpKind::kPositionGradient, shape);
    places.inputs = {{size}};
    places.outputs = {positions};
  }

  void losses() {
    const OpShape shape{.rows = of_.rows, .cols = of_.vocabulary};
    const CaseOperand logits{of_.rows * of_.vocabulary};
    const CaseOperand targets{of_.rows, DType::kInt32, Values::kTokens, of_.vocabulary};
    const CaseOperand maximum{of_.rows};
    const CaseOperand sums{2 * of_.rows};
    KernelCase& largest = add("loss row maximum", OpKind::kLossRowMax, shape);
    largest.inputs = {logits};
    largest.outputs = {maximum};
    const Operation row_max = largest.op;
    KernelCase& sum = add("loss row sum", OpKind::kLossRowSum, shape);
    sum.inputs = {logits, targets, maximum};
    sum.outputs = {sums};
    sum.complete = [row_max](auto& inputs) {
      inputs[2] = float64_result(row_max, {inputs[0]}, {inputs[2]}, {})[0];
    };
    const Operation row_sum = sum.op;
    KernelCase& gradient = add("loss gradient", OpKind::kLossGradient, shape);
    gradient.op.scalar = 0.5;
    gradient.inputs = {logits, targets, maximum, sums};
    gradient.outputs = {logits};
    gradient.complete = [row_max, row_sum](auto& inputs) {
      inputs[2] = float64_result(row_max, {inputs[0]}, {inputs[2]}, {})[0];
      inputs[3] = float64_result(row_sum, {inputs[0], inputs[1], inputs[2]}, {inputs[3]}, {})[0];
    };
    KernelCase& finish = add("loss finish", OpKind::kLossFinish, shape);
    finish.op.scalar = 1.0 / static_cast<double>(of_.rows);
    finish.inputs = {maximum, {2 * of_.rows, DType::kFloat32, Values::kPositive}, targets};
    finish.outputs = {{1}};
  }

  void updates() {
    const std::int64_t size = of_.rows * of_.cols;
    const OpShape shape{.cols = size};
    const CaseOperand totals{2, DType::kFloat32, Values::kPositive};
    KernelCase& squares = add("squared sum", OpKind::kSquaredSum, shape);
    squares.op.scalar = 0.5;
    squares.inputs = {{size}};
    squares.outputs = {{2, DType::kFloat32, Values::kPositive}};
    const CaseOperand moment{size, DType::kFloat32, Values::kPositive};
    KernelCase& sgd = add("sgd step", OpKind::kSgdStep, shape);
    sgd.op.decay = true;
    sgd.inputs = {{size}, totals};
    sgd.outputs = {{size}, {size}};
    sgd.compared_outputs = 2;
    KernelCase& adamw = add("adamw step", OpKind::kAdamWStep, shape);
    adamw.op.decay = true;
    adamw.inputs = {{size}, totals};
    adamw.outputs = {{size}, {size}, moment};
    adamw.compared_outputs = 3;
  }

  Sizes of_;
  std::vector<KernelCase> cases_;
};

}  // namespace

std::vector<KernelCase> kernel_cases(bool small) {
  return Cases(small).all();
}

}  // namespace stagewright::gpu_check
