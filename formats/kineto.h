#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stagewright {

/// A stretch of time on a thread of the host, in microseconds of the trace's own clock.
struct KinetoSpan {
  std::string name;  ///< "Block_3" of a module, "ProfilerStep#12", what record_function was given
  std::int32_t thread = 0;
  double begin_us = 0;
  double duration_us = 0;
  friend bool operator==(const KinetoSpan&, const KinetoSpan&) = default;
};

/// An operation of PyTorch on the host (category cpu_op).
struct KinetoOp : KinetoSpan {
  /// Of the node of the backward pass that the operation makes, or that it runs.
  std::optional<std::int64_t> sequence;
  bool backward = false;                              ///< runs a node
  std::vector<std::vector<std::int64_t>> input_dims;  ///< empty where shapes were not recorded
  std::vector<std::string> input_types;               ///< "float", "c10::BFloat16", "long int", ""
  friend bool operator==(const KinetoOp&, const KinetoOp&) = default;
};

/// Work on a device: a kernel, or memory that is copied or set.
struct KinetoKernel {
  std::string name;
  double duration_us = 0;
  std::int64_t correlation = 0;  ///< with the call that launched it
  friend bool operator==(const KinetoKernel&, const KinetoKernel&) = default;
};

/// A call of the device's runtime or driver (its name is not kept).
struct KinetoLaunch {
  std::int32_t thread = 0;
  double begin_us = 0;
  std::int64_t correlation = 0;
  friend bool operator==(const KinetoLaunch&, const KinetoLaunch&) = default;
};

/// What a trace of torch.profiler (Kineto, "Chrome trace") says about time, each list by its begin;
/// of spans that begin together the longer one comes first.
struct KinetoTrace {
  std::vector<KinetoOp> ops;
  std::vector<KinetoSpan> modules;      ///< calls of modules (with_stack=True)
  std::vector<KinetoSpan> annotations;  ///< record_function, steps of the profiler, optimizers
  std::vector<KinetoLaunch> launches;
  std::vector<KinetoKernel> kernels;
  std::vector<std::string> devices;  ///< names of the devices of the machine
  bool cut_off = false;              ///< the file ends too early; what came before is here
  friend bool operator==(const KinetoTrace&, const KinetoTrace&) = default;
};

/// Reads such a trace: `{"traceEvents": [...]}` or the bare list.  Keys, categories and phases that
/// say nothing of the above are passed over, events that lack a time too.  kInvalidInput where the
/// text is no JSON before it ends, or has no operation of PyTorch.
[[nodiscard]] Result<KinetoTrace> parse_kineto(std::string_view text, std::string_view where);

}  // namespace stagewright
