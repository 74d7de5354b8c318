#include "study/traced_layers.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "study/traced_passes.h"

namespace stagewright {
namespace {

/// A layer in a pass.
struct Place {
  std::size_t pass = 0;
  std::size_t layer = 0;
};

/// Sums by layer and pass, in microseconds.
using Sums = std::vector<std::vector<double>>;

[[nodiscard]] bool is_communication(const KinetoKernel& kernel) {
  return kernel.name.starts_with("nccl") || kernel.name.starts_with("rccl");
}

class LayerTimes {
 public:
  LayerTimes(const KinetoTrace& trace, const TracedPasses& passes, std::size_t layers)
      : trace_(trace),
        passes_(passes),
        on_device_(!trace.kernels.empty()),
        forward_(layers, std::vector<double>(passes.count)),
        backward_(forward_) {
    for (const KinetoSpan& annotation : trace.annotations) {
      if (is_between_passes(annotation)) {
        between_.push_back(&annotation);
      }
    }
  }

  void run() {
    const std::vector<const KinetoOp*> outer = outermost(trace_.ops);
    find_nodes(outer);
    for (const KinetoOp* op : outer) {
      if (op->backward) {
        add_backward(*op);
      } else if (const auto place = forward_place(*op); place && !on_device_) {
        forward_[place->layer][place->pass] += op->duration_us;
      }
    }
    if (on_device_) {
      add_kernels();
    }
  }

  [[nodiscard]] bool has_nodes() const { return !nodes_.empty(); }
  [[nodiscard]] const Sums& forward() const { return forward_; }
  [[nodiscard]] const Sums& backward() const { return backward_; }

 private:
  /// An outermost operation of a backward pass.
  struct Stretch {
    double begin_us = 0;
    double end_us = 0;
    Place place;
  };

  [[nodiscard]] bool is_between(const KinetoSpan& span) const {
    const auto behind = std::ranges::upper_bound(
        between_, span.begin_us, {}, [](const KinetoSpan* other) { return other->begin_us; });
    return behind != between_.begin() &&
           span.begin_us < (*(behind - 1))->begin_us + (*(behind - 1))->duration_us;
  }

  [[nodiscard]] std::optional<Place> forward_place(const KinetoSpan& span) const {
    const TracedRegion* region =
        span.thread == passes_.thread ? region_at(passes_, span.begin_us) : nullptr;
    return region == nullptr || is_between(span)
               ? std::nullopt
               : std::optional(Place{region->pass, region->layer});
  }

  /// An operation is numbered by the node that will be made next, so that the last one of a number
  /// made it.  Operations that belong to no layer are noted, too.
  void find_nodes(const std::vector<const KinetoOp*>& outer) {
    std::unordered_map<std::int32_t, double> backward_until;  // by thread
    auto next = outer.begin();
    for (const KinetoOp& op : trace_.ops) {
      if (next != outer.end() && *next == &op) {
        if (op.backward) {
          backward_until[op.thread] = op.begin_us + op.duration_us;
        }
        ++next;
      }
      const auto until = backward_until.find(op.thread);
      if (op.backward || !op.sequence || op.thread != passes_.thread ||
          (until != backward_until.end() && op.begin_us < until->second)) {
        continue;
      }
      nodes_[*op.sequence] = forward_place(op);
    }
  }

  /// Who made a node.  Where the trace lacks that operation, because it lies in another, the one
  /// numbered last before it.
  [[nodiscard]] std::optional<Place> maker_of(std::int64_t node) const {
    const auto behind = nodes_.upper_bound(node);
    return behind == nodes_.begin() ? std::nullopt : std::prev(behind)->second;
  }

  void add_backward(const KinetoOp& op) {
    std::optional<Place>& place = last_backward_[op.thread];
    if (op.sequence) {
      place = maker_of(*op.sequence);
    }
    if (!place) {
      return;
    }
    if (on_device_) {
      stretches_[op.thread].push_back({op.begin_us, op.begin_us + op.duration_us, *place});
    } else {
      backward_[place->layer][place->pass] += op.duration_us;
    }
  }

  void add_kernels() {
    std::unordered_map<std::int64_t, std::pair<Sums*, Place>> launched;
    for (const KinetoLaunch& launch : trace_.launches) {
      if (const auto place = backward_place(launch)) {
        launched[launch.correlation] = {&backward_, *place};
      } else if (const auto forward = forward_place({{}, launch.thread, launch.begin_us, 0})) {
        launched[launch.correlation] = {&forward_, *forward};
      }
    }
    for (const KinetoKernel& kernel : trace_.kernels) {
      const auto from = launched.find(kernel.correlation);
      if (from != launched.end() && !is_communication(kernel)) {
        const auto& [sums, place] = from->second;
        (*sums)[place.layer][place.pass] += kernel.duration_us;
      }
    }
  }

  [[nodiscard]] std::optional<Place> backward_place(const KinetoLaunch& launch) const {
    const auto of_thread = stretches_.find(launch.thread);
    if (of_thread == stretches_.end()) {
      return std::nullopt;
    }
    const auto behind =
        std::ranges::upper_bound(of_thread->second, launch.begin_us, {}, &Stretch::begin_us);
    if (behind == of_thread->second.begin() || launch.begin_us >= (behind - 1)->end_us) {
      return std::nullopt;
    }
    return (behind - 1)->place;
  }

  const KinetoTrace& trace_;
  const TracedPasses& passes_;
  bool on_device_;
  Sums forward_;
  Sums backward_;
  std::vector<const KinetoSpan*> between_;
  std::map<std::int64_t, std::optional<Place>> nodes_;          ///< by sequence number
  std::map<std::int32_t, std::optional<Place>> last_backward_;  ///< by thread
  std::map<std::int32_t, std::vector<Stretch>> stretches_;
};

/// What shapes and types say, where they were recorded.
void read_shapes(const KinetoTrace& trace, const TracedPasses& passes, TracedModel& model) {
  std::map<DType, int> products;
  for (const KinetoOp& op : trace.ops) {
    const TracedRegion* region = region_at(passes, op.begin_us);
    if (op.backward || region == nullptr) {
      continue;
    }
    const bool product =
        op.name == "aten::addmm" || op.name == "aten::mm" || op.name == "aten::bmm";
    if (product && op.input_types.size() > 1) {
      const std::string& type = op.input_types[1];  // in all three of a matrix
      if (type == "float") {
        ++products[DType::kFloat32];
      } else if (type == "c10::BFloat16") {
        ++products[DType::kBFloat16];
      } else if (type == "c10::Half") {
        ++products[DType::kFloat16];
      }
    }
    if (op.name == "aten::embedding" && !model.batch && region->layer == 0 &&
        op.input_dims.size() > 1 && op.input_dims[0].size() == 2 && op.input_dims[1].size() == 2) {
      model.vocabulary = op.input_dims[0][0];
      model.batch = op.input_dims[1][0];
      model.sequence = op.input_dims[1][1];
    }
  }
  if (!products.empty()) {
    model.precision = std::ranges::max_element(products, {}, [](const auto& entry) {
                        return entry.second;
                      })->first;
  }
}

/// Whether every block goes backward in this pass.
[[nodiscard]] bool is_whole(const LayerTimes& times, std::size_t pass) {
  for (std::size_t layer = 1; layer + 1 < times.backward().size(); ++layer) {
    if (!(times.forward()[layer][pass] > 0) || !(times.backward()[layer][pass] > 0)) {
      return false;
    }
  }
  return true;
}

[[nodiscard]] Duration from_microseconds(double time) {
  return from_seconds(time * 1e-6);
}

[[nodiscard]] TracedModel summed(const TracedPasses& passes, const LayerTimes& times) {
  TracedModel model;
  model.block = passes.block;
  for (std::size_t layer = 0; layer < times.forward().size(); ++layer) {
    TracedLayer traced;
    traced.name = layer == 0                     ? "before the blocks"
                  : layer <= passes.names.size() ? passes.names[layer - 1]
                                                 : "behind the blocks";
    for (std::size_t pass = 0; pass < passes.count; ++pass) {
      if (is_whole(times, pass)) {
        traced.forward.push_back(from_microseconds(times.forward()[layer][pass]));
        traced.backward.push_back(from_microseconds(times.backward()[layer][pass]));
      }
    }
    model.layers.push_back(std::move(traced));
  }
  model.passes = model.layers.front().forward.size();
  return model;
}

}  // namespace

Result<TracedModel> traced_layers(const KinetoTrace& trace,
                                  std::size_t blocks,
                                  const std::string& block,
                                  const std::string& where) {
  const auto passes = find_passes(trace, blocks, block, where);
  if (!passes) {
    return tl::unexpected<Error>(passes.error());
  }
  LayerTimes times(trace, *passes, blocks + 2);
  times.run();
  TracedModel model = summed(*passes, times);
  if (model.passes == 0) {
    const char* reason =
        times.has_nodes()
            ? "of none all blocks go backward; record whole training steps, loss.backward() "
              "included"
            : "its operations carry no sequence numbers, by which a backward finds its forward; "
              "record it with torch 1.13 or later and gradients enabled";
    return fail(ErrorCode::kInvalidInput,
                fmt::format("the trace has {} forward passes, but {}{}",
                            passes->count,
                            reason,
                            trace.cut_off ? " (the file is cut off)" : ""),
                where);
  }
  model.on_device = !trace.kernels.empty();
  read_shapes(trace, *passes, model);
  return model;
}

}  // namespace stagewright
