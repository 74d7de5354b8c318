#include "tests/integration/schedules/synthesis_cells.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>
#include <tbb/parallel_for.h>

#include "core/base/check.h"
#include "tests/integration/schedules/cost_sets.h"
#include "tests/integration/schedules/vectors.h"

namespace stagewright {
namespace {

constexpr std::size_t kCostSets = 3;  // c0, c01, uneq

std::int32_t copies_of(const TokenList& list) {
  return *std::max_element(list.copy_of.begin(), list.copy_of.end()) + 1;
}

SynthesisCell cell_of(const std::string& vector, const CostSet& set) {
  const TokenList peer = read_vector(vector);
  const PipelineCosts peer_costs = costs_of(set, peer.stages);
  const ActivationPeaks peaks = activation_peaks(peer);
  const auto ranks = static_cast<std::int32_t>(peer.ranks.size());
  SynthesisRequest request{.shape = {.ranks = ranks,
                                     .virtual_stages = peer.stages / ranks,
                                     .micro_batches = peer.micro_batches},
                           .costs = peer_costs};
  request.memory_cap.assign(peaks.to_weight.begin(), peaks.to_weight.end());
  Result<Synthesis> synthesis = synthesize(request);
  SW_CHECK(synthesis.has_value(), "an order at the peer's memory");
  SynthesisCell cell{.vector = vector,
                     .costs = set.name,
                     .copies = copies_of(peer),
                     .peer = check_order(peer, peer_costs).timing.makespan,
                     .synthesis = *std::move(synthesis)};
  const OrderCheck check = check_order(token_list(cell.synthesis.order), peer_costs);
  cell.valid = !check.fault && check.timing.makespan == cell.synthesis.time;
  cell.within_cap = !check.fault;
  for (std::size_t rank = 0; rank < check.peaks.to_weight.size(); ++rank) {
    cell.within_cap = cell.within_cap && check.peaks.to_weight[rank] <= peaks.to_weight[rank];
  }
  return cell;
}

double ratio(Duration a, Duration b) {
  return to_seconds(a) / to_seconds(b) - 1;
}

}  // namespace

double SynthesisCell::change() const {
  return ratio(synthesis.time, peer);
}
double SynthesisCell::above_bound() const {
  return ratio(synthesis.time, synthesis.lower_bound);
}

std::vector<std::string> synthesis_vectors(std::int32_t copies) {
  std::vector<std::string> names;
  for (const std::string& name : vector_names()) {
    const nlohmann::json& golden = golden_times(name);
    if (golden.at("kind") != "compute" || golden.contains("error") || golden.at("P") < 4) {
      continue;
    }
    if (copies_of(read_vector(name)) == copies) {
      names.push_back(name);
    }
  }
  return names;
}

std::vector<SynthesisCell> synthesis_cells(const std::vector<std::string>& vectors) {
  std::vector<SynthesisCell> cells(vectors.size() * kCostSets);
  tbb::parallel_for(std::size_t{0}, cells.size(), [&](std::size_t i) {
    cells[i] = cell_of(vectors[i / kCostSets], cost_sets()[i % kCostSets]);
  });
  return cells;
}

}  // namespace stagewright
