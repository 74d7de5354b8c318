#include "runtime/compute/cudnn_attention.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "runtime/backend_error.h"
#include "runtime/compute/operands.h"

namespace stagewright {

namespace {

using Sizes = CudnnGraph::Sizes;

/// Of its dimensions and types in a graph.
struct Layout {
  explicit Layout(const CudnnAttentionCase& of)
      : type(of.type),
        b(of.shape.batch),
        h(of.shape.heads),
        g(of.shape.kv_heads),
        s(of.shape.sequence),
        d(of.shape.head_dim),
        packed((h + 2 * g) * d) {}

  cudnnDataType_t type;
  std::int64_t b, h, g, s, d;
  std::int64_t packed;  ///< width of a row of qkv

  [[nodiscard]] Sizes queries() const { return {b, h, s, d}; }
  [[nodiscard]] Sizes keys() const { return {b, g, s, d}; }
  [[nodiscard]] Sizes scores() const { return {b, h, s, s}; }
  [[nodiscard]] Sizes rows() const { return {b, h, s, 1}; }
  /// Heads of the packed tensor; the first column is in the place's address.
  [[nodiscard]] Sizes in_packed() const { return {s * packed, d, packed, 1}; }
  [[nodiscard]] Sizes in_output() const { return {s * h * d, d, h * d, 1}; }
  [[nodiscard]] Sizes in_rows() const { return {h * s, s, 1, 1}; }
};

[[nodiscard]] Sizes transposed(Sizes of) {
  std::swap(of[2], of[3]);
  return of;
}

/// scale * q k^T.
[[nodiscard]] CudnnTensor scores_of(CudnnGraph& graph,
                                    const Layout& at,
                                    const CudnnTensor& q,
                                    const CudnnTensor& k_transposed,
                                    const CudnnTensor& scale) {
  const CudnnTensor product = graph.passing(CUDNN_DATA_FLOAT, at.scores());
  const CudnnTensor scaled = graph.passing(CUDNN_DATA_FLOAT, at.scores());
  graph.matmul(q, k_transposed, product);
  graph.pointwise(CUDNN_POINTWISE_MUL, product, scale, scaled);
  return scaled;
}

/// x where a query sees the key, else minus infinity.
[[nodiscard]] CudnnTensor masked(CudnnGraph& graph, const Layout& at, const CudnnTensor& x) {
  const CudnnTensor row = graph.passing(CUDNN_DATA_INT32, at.scores());
  const CudnnTensor column = graph.passing(CUDNN_DATA_INT32, at.scores());
  const CudnnTensor sees = graph.passing(CUDNN_DATA_BOOLEAN, at.scores());
  const CudnnTensor result = graph.passing(CUDNN_DATA_FLOAT, at.scores());
  const CudnnTensor nothing = graph.scalar(-std::numeric_limits<float>::infinity());
  graph.index(2, x, row);
  graph.index(3, x, column);
  graph.not_less(row, column, sees);
  graph.select(x, nothing, sees, result);
  return result;
}

[[nodiscard]] float scale_of(const CudnnAttentionCase& of) {
  return 1.0F / std::sqrt(static_cast<float>(of.shape.head_dim));
}

/// c = a b, where several heads of a gradient belong to one of c.
void add_to_keys(CudnnGraph& graph,
                 const Layout& at,
                 const CudnnTensor& a,
                 const CudnnTensor& b,
                 const CudnnTensor& c) {
  if (at.h == at.g) {
    return graph.matmul(a, b, c);
  }
  const CudnnTensor of_heads = graph.passing(at.type, at.queries());
  graph.matmul(a, b, of_heads);
  graph.reduce(CUDNN_REDUCE_TENSOR_ADD, of_heads, c);
}

/// x^T in the type of the products' operands.
[[nodiscard]] CudnnTensor turned(CudnnGraph& graph, const Layout& at, const CudnnTensor& x) {
  const CudnnTensor y = graph.passing(
      at.type, transposed(at.scores()), transposed({at.h * at.s * at.s, at.s * at.s, at.s, 1}));
  graph.reorder(x, y);
  return y;
}

[[nodiscard]] std::optional<cudnnDataType_t> cudnn_type(DType type) {
  switch (type) {
    case DType::kBFloat16:
      return CUDNN_DATA_BFLOAT16;
    case DType::kFloat16:
      return CUDNN_DATA_HALF;
    case DType::kFloat32:
    case DType::kTf32:
    case DType::kFloat8:
    case DType::kInt32:
      return std::nullopt;
  }
  return std::nullopt;
}

/// What the operation asks for; nothing, saying why, where it is none of cuDNN's.
[[nodiscard]] Result<CudnnAttentionCase> case_of(const BoundOperation& bound) {
  const Operation& op = *bound.operation;
  const bool forward = op.kind == OpKind::kAttentionForward;
  const std::size_t qkv = forward ? 0 : 1;
  const auto type = cudnn_type(bound.input_types[qkv].type);
  if (!type) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("operands are {}", name_of(bound.input_types[qkv].type)));
  }
  if (bound.inputs.size() > (forward ? 1U : 4U)) {
    return fail(ErrorCode::kUnsupported, "keys and values come round a ring");
  }
  const DType statistics = forward ? bound.output_types[1].type : bound.input_types[3].type;
  if (statistics != DType::kFloat32) {
    return fail(ErrorCode::kUnsupported, "statistics are not fp32");
  }
  const OpShape& shape = op.shape;
  return CudnnAttentionCase{.shape = {.batch = shape.batch,
                                      .sequence = shape.sequence,
                                      .heads = shape.heads,
                                      .kv_heads = shape.kv_heads,
                                      .head_dim = shape.head_dim,
                                      .causal = op.causal},
                            .type = *type};
}

[[nodiscard]] std::string describe(const CudnnAttentionCase& of) {
  return fmt::format("{} x {} tokens, {} heads on {} of {}, {}, {}",
                     of.shape.batch,
                     of.shape.sequence,
                     of.shape.heads,
                     of.shape.kv_heads,
                     of.shape.head_dim,
                     of.shape.causal ? "causal" : "not causal",
                     of.type == CUDNN_DATA_BFLOAT16 ? "bf16" : "fp16");
}

}  // namespace

std::int64_t elements_of(const CudnnTensor& tensor) {
  return tensor.sizes[0] * tensor.sizes[1] * tensor.sizes[2] * tensor.sizes[3];
}

// The graphs are those in which cuDNN's engines know attention: see "Attention" in its guide to
// operation graphs.
CudnnForward CudnnForward::build(CudnnGraph& graph, const CudnnAttentionCase& of) {
  const Layout at(of);
  CudnnForward made{
      .q = graph.in_memory(at.type, at.queries(), at.in_packed()),
      .k = graph.in_memory(at.type, transposed(at.keys()), transposed(at.in_packed())),
      .v = graph.in_memory(at.type, at.keys(), at.in_packed()),
      .output = graph.in_memory(at.type, at.queries(), at.in_output()),
      .log_sum_exp = graph.in_memory(CUDNN_DATA_FLOAT, at.rows(), at.in_rows())};
  CudnnTensor scores = scores_of(graph, at, made.q, made.k, graph.scalar(scale_of(of)));
  if (of.shape.causal) {
    scores = masked(graph, at, scores);
  }
  const CudnnTensor largest = graph.passing(CUDNN_DATA_FLOAT, at.rows());
  const CudnnTensor below = graph.passing(CUDNN_DATA_FLOAT, at.scores());
  const CudnnTensor weights = graph.passing(CUDNN_DATA_FLOAT, at.scores());
  const CudnnTensor sum = graph.passing(CUDNN_DATA_FLOAT, at.rows());
  const CudnnTensor log_sum = graph.passing(CUDNN_DATA_FLOAT, at.rows());
  const CudnnTensor probabilities = graph.passing(at.type, at.scores());
  graph.reduce(CUDNN_REDUCE_TENSOR_MAX, scores, largest);
  graph.pointwise(CUDNN_POINTWISE_SUB, scores, largest, below);
  graph.pointwise(CUDNN_POINTWISE_EXP, below, weights);
  graph.reduce(CUDNN_REDUCE_TENSOR_ADD, weights, sum);
  graph.pointwise(CUDNN_POINTWISE_LOG, sum, log_sum);
  graph.pointwise(CUDNN_POINTWISE_ADD, largest, log_sum, made.log_sum_exp);
  graph.pointwise(CUDNN_POINTWISE_DIV, weights, sum, probabilities);
  graph.matmul(probabilities, made.v, made.output);
  return made;
}

CudnnBackward CudnnBackward::build(CudnnGraph& graph, const CudnnAttentionCase& of) {
  const Layout at(of);
  CudnnBackward made{
      .q = graph.in_memory(at.type, at.queries(), at.in_packed()),
      .k = graph.in_memory(at.type, transposed(at.keys()), transposed(at.in_packed())),
      .v = graph.in_memory(at.type, transposed(at.keys()), transposed(at.in_packed())),
      .output = graph.in_memory(at.type, at.queries(), at.in_output()),
      .log_sum_exp = graph.in_memory(CUDNN_DATA_FLOAT, at.rows(), at.in_rows()),
      .doutput = graph.in_memory(at.type, at.queries(), at.in_output()),
      .dq = graph.in_memory(at.type, at.queries(), at.in_packed()),
      .dk = graph.in_memory(at.type, at.keys(), at.in_packed()),
      .dv = graph.in_memory(at.type, at.keys(), at.in_packed()),
      .row_sums = graph.in_memory(CUDNN_DATA_FLOAT, at.rows(), at.in_rows()),
      .dq_sums = graph.in_memory(
          CUDNN_DATA_FLOAT, at.queries(), {at.h * at.s * at.d, at.s * at.d, at.d, 1})};
  // row_sums = <doutput, output> of each query.
  const CudnnTensor products = graph.passing(CUDNN_DATA_FLOAT, at.queries());
  const CudnnTensor sums = graph.passing(CUDNN_DATA_FLOAT, at.rows());
  graph.pointwise(CUDNN_POINTWISE_MUL, made.doutput, made.output, products);
  graph.reduce(CUDNN_REDUCE_TENSOR_ADD, products, sums);
  graph.pointwise(CUDNN_POINTWISE_MUL, sums, graph.scalar(1.0F), made.row_sums);
  // The probabilities again, from the log-sum-exp.
  const CudnnTensor scale = graph.scalar(scale_of(of));
  const CudnnTensor scores = scores_of(graph, at, made.q, made.k, scale);
  CudnnTensor below = graph.passing(CUDNN_DATA_FLOAT, at.scores());
  graph.pointwise(CUDNN_POINTWISE_SUB, scores, made.log_sum_exp, below);
  if (of.shape.causal) {
    below = masked(graph, at, below);
  }
  const CudnnTensor probabilities = graph.passing(CUDNN_DATA_FLOAT, at.scores());
  graph.pointwise(CUDNN_POINTWISE_EXP, below, probabilities);
  add_to_keys(graph, at, turned(graph, at, probabilities), made.doutput, made.dv);
  // Their gradient, and from it that of the scores.
  const CudnnTensor gradient = graph.passing(CUDNN_DATA_FLOAT, at.scores());
  const CudnnTensor centred = graph.passing(CUDNN_DATA_FLOAT, at.scores());
  const CudnnTensor weighted = graph.passing(CUDNN_DATA_FLOAT, at.scores());
  const CudnnTensor of_scores = graph.passing(at.type, at.scores());
  graph.matmul(made.doutput, made.v, gradient);
  graph.pointwise(CUDNN_POINTWISE_SUB, gradient, made.row_sums, centred);
  graph.pointwise(CUDNN_POINTWISE_MUL, centred, probabilities, weighted);
  graph.pointwise(CUDNN_POINTWISE_MUL, weighted, scale, of_scores);
  add_to_keys(graph, at, turned(graph, at, of_scores), made.q, made.dk);
  const CudnnTensor k = graph.passing(at.type, at.keys(), at.in_packed());
  graph.reorder(made.k, k);
  graph.matmul(of_scores, k, made.dq_sums);
  graph.pointwise(CUDNN_POINTWISE_IDENTITY, made.dq_sums, made.dq);
  return made;
}

std::optional<std::string> refusal(const CudnnAttentionCase& of, std::size_t version) {
  constexpr std::size_t kOldest = 91000;      // masks by minus infinity
  constexpr std::size_t kUnevenKeys = 91501;  // gradients of keys that no block of 128 ends with
  constexpr std::int64_t kEvenKeys = 128;
  constexpr std::int64_t kWidestHead = 128;  // of all generations
  if (version < kOldest) {
    return "it is older than 9.10";
  }
  if (of.shape.head_dim % 8 != 0 || of.shape.head_dim > kWidestHead) {
    return fmt::format(
        "heads of {}, where it takes multiples of 8 up to {}", of.shape.head_dim, kWidestHead);
  }
  if (version < kUnevenKeys && of.shape.sequence % kEvenKeys != 0) {
    return fmt::format("sequences of {}, of which older than 9.16 it takes multiples of {}",
                       of.shape.sequence,
                       kEvenKeys);
  }
  return std::nullopt;
}

Result<std::unique_ptr<FusedAttention>> make_fused_attention(const CudaQueue& queue,
                                                             CudaScratch& scratch,
                                                             const std::string& library) {
  auto cudnn = load_cudnn(library);
  if (!cudnn) {
    return pass_on(std::move(cudnn));
  }
  try {
    return std::make_unique<CudnnAttention>(queue, scratch, *std::move(cudnn));
  } catch (const BackendError& error) {  // the blockwise form needs no more than the device has
    return tl::unexpected<Error>(error.error());
  }
}

CudnnAttention::CudnnAttention(const CudaQueue& queue,
                               CudaScratch& scratch,
                               std::shared_ptr<const CudnnLibrary> cudnn)
    : queue_(queue), scratch_(scratch), cudnn_(std::move(cudnn)) {
  cudnn_->check(cudnn_->cudnnCreate(&handle_), "cudnnCreate");
}

CudnnAttention::~CudnnAttention() {
  plans_.clear();
  (void)cudnn_->cudnnDestroy(handle_);
}

bool CudnnAttention::run(const BoundOperation& bound) {
  const auto of = case_of(bound);
  if (!of) {
    others_.insert(of.error().message);
    return false;
  }
  Plans& plans = plans_of(*of);
  if (!plans.refused.empty()) {
    return false;
  }
  cudnn_->check(cudnn_->cudnnSetStream(handle_, queue_.stream()), "cudnnSetStream");
  if (bound.operation->kind == OpKind::kAttentionForward) {
    forward(plans, bound);
  } else {
    backward(plans, bound);
  }
  return true;
}

CudnnAttention::Plans& CudnnAttention::plans_of(const CudnnAttentionCase& of) {
  const Key key{of.shape.batch,
                of.shape.sequence,
                of.shape.heads,
                of.shape.kv_heads,
                of.shape.head_dim,
                of.shape.causal,
                static_cast<int>(of.type)};
  const auto found = plans_.find(key);
  return found != plans_.end() ? found->second : plans_.emplace(key, make(of)).first->second;
}

CudnnAttention::Plans CudnnAttention::make(const CudnnAttentionCase& of) const {
  Plans plans;
  if (const auto refused = refusal(of, cudnn_->cudnnGetVersion())) {
    plans.refused = *refused;
    return plans;
  }
  CudnnGraph forward(cudnn_);
  CudnnGraph backward(cudnn_);
  plans.forward = CudnnForward::build(forward, of);
  plans.backward = CudnnBackward::build(backward, of);
  auto forward_plan = std::move(forward).plan({.handle = handle_});
  auto backward_plan = std::move(backward).plan({.handle = handle_});
  for (const auto* plan : {&forward_plan, &backward_plan}) {
    if (!*plan) {
      plans.refused = "it " + plan->error().message;
      return plans;
    }
  }
  plans.forward_plan = *std::move(forward_plan);
  plans.backward_plan = *std::move(backward_plan);
  return plans;
}

namespace {

/// Where the heads of a packed tensor begin.
struct PackedHeads {
  PackedHeads(void* qkv, const OpShape& shape)
      : q(static_cast<std::uint16_t*>(qkv)),
        k(q + shape.heads * shape.head_dim),
        v(k + shape.kv_heads * shape.head_dim) {}
  std::uint16_t* q;
  std::uint16_t* k;
  std::uint16_t* v;
};

}  // namespace

void CudnnAttention::run(CudnnPlan& plan, std::span<const CudnnPlan::Place> places) {
  auto* const workspace = scratch_.take<std::byte>(static_cast<std::int64_t>(plan.workspace()));
  plan.run(cudnn_, handle_, places, workspace);
}

void CudnnAttention::forward(Plans& plans, const BoundOperation& bound) {
  const PackedHeads in(bound.inputs[0], bound.operation->shape);
  const CudnnForward& at = plans.forward;
  run(*plans.forward_plan,
      std::array{CudnnPlan::Place{at.q.id, in.q},
                 CudnnPlan::Place{at.k.id, in.k},
                 CudnnPlan::Place{at.v.id, in.v},
                 CudnnPlan::Place{at.output.id, bound.outputs[0]},
                 CudnnPlan::Place{at.log_sum_exp.id, bound.outputs[1]}});
}

void CudnnAttention::backward(Plans& plans, const BoundOperation& bound) {
  const PackedHeads in(bound.inputs[1], bound.operation->shape);
  const PackedHeads out(bound.outputs[0], bound.operation->shape);
  const CudnnBackward& at = plans.backward;
  auto* const row_sums = scratch_.take<float>(elements_of(at.row_sums));
  auto* const dq_sums = scratch_.take<float>(elements_of(at.dq_sums));
  run(*plans.backward_plan,
      std::array{CudnnPlan::Place{at.q.id, in.q},
                 CudnnPlan::Place{at.k.id, in.k},
                 CudnnPlan::Place{at.v.id, in.v},
                 CudnnPlan::Place{at.output.id, bound.inputs[2]},
                 CudnnPlan::Place{at.log_sum_exp.id, bound.inputs[3]},
                 CudnnPlan::Place{at.doutput.id, bound.inputs[0]},
                 CudnnPlan::Place{at.dq.id, out.q},
                 CudnnPlan::Place{at.dk.id, out.k},
                 CudnnPlan::Place{at.dv.id, out.v},
                 CudnnPlan::Place{at.row_sums.id, row_sums},
                 CudnnPlan::Place{at.dq_sums.id, dq_sums}});
}

std::vector<std::string> CudnnAttention::notes() const {
  std::vector<std::string> notes;
  for (const auto& [key, plans] : plans_) {
    const auto& [batch, sequence, heads, kv_heads, head_dim, causal, type] = key;
    const std::string what = describe({.shape = {.batch = batch,
                                                 .sequence = sequence,
                                                 .heads = heads,
                                                 .kv_heads = kv_heads,
                                                 .head_dim = head_dim,
                                                 .causal = causal},
                                       .type = static_cast<cudnnDataType_t>(type)});
    notes.push_back(plans.refused.empty()
                        ? fmt::format("attention ({}): cuDNN {}", what, cudnn_->version())
                        : fmt::format("attention ({}): blockwise, since cuDNN {}: {}",
                                      what,
                                      cudnn_->version(),
                                      plans.refused));
  }
  for (const std::string& why : others_) {
    notes.push_back(fmt::format("attention: blockwise, since {}", why));
  }
  return notes;
}

}  // namespace stagewright
