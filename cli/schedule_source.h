#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/synthesis_options.h"
#include "core/base/result.h"
#include "core/schedule/pipeline_order.h"
#include "core/schedule/token_list.h"

namespace CLI {
class App;
}  // namespace CLI

namespace stagewright {

/// The options that size a named schedule: `--ranks`, `--chunks`, `--virtual`, `--group` and
/// `--parameter`; and those of `synth`.
struct OrderOptions {
  std::optional<std::int32_t> ranks;
  std::optional<std::int32_t> micro_batches;
  std::optional<std::int32_t> virtual_stages;
  std::optional<std::int64_t> group;
  std::vector<std::string> parameters;
  SynthesisOptions synthesis;

  /// Whether any of them was given.
  [[nodiscard]] bool any() const {
    return ranks || micro_batches || virtual_stages || group || !parameters.empty() ||
           synthesis.any();
  }
};
void add_order_options(CLI::App& command, OrderOptions& options);

/// A list and what people call it: the file, or "standard input".
struct NamedList {
  std::string name;
  TokenList list;
  std::vector<std::string> warnings;  ///< what was read, but may not be meant
};

/// An order and what people call it.
struct NamedOrder {
  std::string name;
  PipelineOrder order;
};

/// The order of the schedule of that name.  Fails naming what is absent, unknown or too large for
/// this machine at so many bytes an action (list_memory.h), or with the schedule's own rule and the
/// values that obey it.  The costs matter to `synth` alone.
[[nodiscard]] Result<NamedOrder> generate_order(const std::string& schedule,
                                                const OrderOptions& options,
                                                const CostOptions& costs,
                                                double bytes_an_action);

/// A schedule vector (JSON) or a CSV of torch.distributed.pipelining, told apart by what the file
/// holds; of the standard input for "-".
[[nodiscard]] Result<NamedList> load_list(const std::string& path);

/// Whether people mean a file by this: it is "-", exists, has a folder in it, or ends as such files
/// do.
[[nodiscard]] bool names_a_file(const std::string& schedule);

}  // namespace stagewright
