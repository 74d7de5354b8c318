#pragma once

#include <cudnn.h>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/result.h"
#include "runtime/compute/attention.h"
#include "runtime/compute/compute_device.h"
#include "runtime/compute/cuda_queue.h"
#include "runtime/compute/cudnn_graph.h"
#include "runtime/compute/fused_attention.h"

namespace stagewright {

/// Attention as cuDNN computes it in one kernel.
struct CudnnAttentionCase {
  kernels::AttentionShape shape{};
  cudnnDataType_t type = CUDNN_DATA_BFLOAT16;  ///< of queries, keys, values and results
};

/// Tensors in memory of the graph of a forward pass.
struct CudnnForward {
  CudnnTensor q, k, v, output, log_sum_exp;
  [[nodiscard]] static CudnnForward build(CudnnGraph& graph, const CudnnAttentionCase& of);
};

/// Of a backward pass.  `row_sums` and `dq_sums` are fp32 workspaces of elements_of().
struct CudnnBackward {
  CudnnTensor q, k, v, output, log_sum_exp, doutput, dq, dk, dv, row_sums, dq_sums;
  [[nodiscard]] static CudnnBackward build(CudnnGraph& graph, const CudnnAttentionCase& of);
};

[[nodiscard]] std::int64_t elements_of(const CudnnTensor& tensor);

/// Why cuDNN of this version (as cudnnGetVersion tells it) does not take a case; nothing where only
/// a plan can tell.
[[nodiscard]] std::optional<std::string> refusal(const CudnnAttentionCase& of, std::size_t version);

/// Runs attention by cuDNN where it can.  The rule: operands in bf16 or fp16, of tokens that the
/// rank holds itself (no ring), a case that refusal() does not name, and a plan of cuDNN for both
/// directions; what does not fit is the blockwise form's.
class CudnnAttention final : public FusedAttention {
 public:
  /// Throws BackendError where the device fails.
  CudnnAttention(const CudaQueue& queue,
                 CudaScratch& scratch,
                 std::shared_ptr<const CudnnLibrary> cudnn);
  CudnnAttention(const CudnnAttention&) = delete;
  CudnnAttention& operator=(const CudnnAttention&) = delete;
  ~CudnnAttention() override;

  [[nodiscard]] bool run(const BoundOperation& bound) override;
  [[nodiscard]] std::vector<std::string> notes() const override;

 private:
  using Key =
      std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool, int>;
  /// Both directions of a case, or why there is none.
  struct Plans {
    std::string refused;
    CudnnForward forward;
    CudnnBackward backward;
    std::optional<CudnnPlan> forward_plan;
    std::optional<CudnnPlan> backward_plan;
  };

  [[nodiscard]] Plans& plans_of(const CudnnAttentionCase& of);
  [[nodiscard]] Plans make(const CudnnAttentionCase& of) const;
  void forward(Plans& plans, const BoundOperation& bound);
  void backward(Plans& plans, const BoundOperation& bound);
  void run(CudnnPlan& plan, std::span<const CudnnPlan::Place> places);

  const CudaQueue& queue_;
  CudaScratch& scratch_;
  std::shared_ptr<const CudnnLibrary> cudnn_;
  cudnnHandle_t handle_ = nullptr;
  std::map<Key, Plans> plans_;
  std::set<std::string> others_;  ///< what was not asked of cuDNN, and why
};

}  // namespace stagewright
