#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/base/data_files.h"
#include "core/base/result.h"
#include "runtime/trainer/trainer.h"
#include "study/proxy.h"

namespace stagewright {

/// What `run --proxy` tells beside the run.
struct ProxyRun {
  std::vector<std::string> shrunk;  ///< what differs from the plan
  std::vector<double> one_rank;     ///< losses of one rank on the same batches
  double largest_difference = 0;    ///< of a step's loss from that, as a share of it
  std::int32_t at_step = 0;         ///< from 0
};

/// The proxy of a plan for that data: tokens of a `.bin` file need the whole vocabulary.
[[nodiscard]] Result<Proxy> proxy_for(const DataFiles& files,
                                      const PlanInputs& inputs,
                                      const std::string& data);

/// Trains one rank on the batches of the proxy's run, and holds the losses against each other.
[[nodiscard]] Result<ProxyRun> against_one_rank(const DataFiles& files,
                                                const Proxy& proxy,
                                                const RunOptions& options,
                                                const std::vector<double>& losses);

[[nodiscard]] nlohmann::json to_json(const ProxyRun& proxy);
void print(std::ostream& out, const ProxyRun& proxy);

}  // namespace stagewright
