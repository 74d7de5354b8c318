#include "planner/explain/time_terms.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"

namespace stagewright {
namespace {

constexpr const char* kBlocks = "blocks";
constexpr const char* kEnds = "embedding and head";
constexpr const char* kElsewhere = "outside layers";
/// Share of the step below which a term is an error of rounding.
constexpr double kNothing = 1e-9;

/// "most of it in block.3": only where one layer has more than its part.
std::string heaviest_layer(const std::map<LayerId, double>& by_layer,
                           const ModelGraph& model,
                           bool blocks,
                           double sum) {
  std::size_t count = 0;
  const std::pair<const LayerId, double>* most = nullptr;
  for (const auto& entry : by_layer) {
    if ((model.layers[entry.first.index()].role == LayerRole::kBlock) == blocks) {
      ++count;
      most = most == nullptr || entry.second > most->second ? &entry : most;
    }
  }
  constexpr double kMuch = 1.5;
  if (count < 2 || most->second * static_cast<double>(count) < kMuch * sum) {
    return {};
  }
  return fmt::format(
      "{:.0f} % of it in {}", 100 * most->second / sum, model.layers[most->first.index()].name);
}

class Terms {
 public:
  Terms(const PricedPlan& priced, const ModelGraph& model)
      : use_(priced.use.mean), model_(model), step_(to_seconds(priced.summary.step_time)) {}

  [[nodiscard]] std::vector<TimeTerm> run() && {
    add_layers(TermKind::kCompute, use_.compute);
    add_layers(TermKind::kRecompute, use_.repeated);
    add(TermKind::kCompute, kElsewhere, use_.other);
    add(TermKind::kOptimizer, "", use_.optimizer);
    for (const auto& [kind, seconds] : use_.exposed) {
      add(TermKind::kCommunication, kind, seconds);
    }
    for (std::size_t cause = 0; cause < use_.bubble.size(); ++cause) {
      add(TermKind::kBubble,
          std::string(name_of(static_cast<BubbleCause>(cause))),
          use_.bubble[cause]);
    }
    std::ranges::stable_sort(
        terms_, [](const TimeTerm& a, const TimeTerm& b) { return a.seconds > b.seconds; });
    return std::move(terms_);
  }

 private:
  void add(TermKind kind, std::string what, double seconds, std::string detail = {}) {
    if (std::abs(seconds) > kNothing * step_) {
      terms_.push_back({.kind = kind,
                        .what = std::move(what),
                        .seconds = seconds,
                        .share = step_ > 0 ? seconds / step_ : 0,
                        .detail = std::move(detail)});
    }
  }

  void add_layers(TermKind kind, const std::map<LayerId, double>& by_layer) {
    double blocks = 0;
    double ends = 0;
    for (const auto& [layer, seconds] : by_layer) {
      (model_.layers[layer.index()].role == LayerRole::kBlock ? blocks : ends) += seconds;
    }
    add(kind, kBlocks, blocks, heaviest_layer(by_layer, model_, true, blocks));
    add(kind, kEnds, ends, heaviest_layer(by_layer, model_, false, ends));
  }

  const TimeUse& use_;
  const ModelGraph& model_;
  double step_;
  std::vector<TimeTerm> terms_;
};

}  // namespace

std::string_view name_of(TermKind kind) {
  switch (kind) {
    case TermKind::kCompute:
      return "compute";
    case TermKind::kRecompute:
      return "recompute";
    case TermKind::kOptimizer:
      return "optimizer step";
    case TermKind::kCommunication:
      return "exposed communication";
    case TermKind::kBubble:
      return "bubble";
  }
  SW_CHECK(false, "a listed kind of term");
}

std::string TimeTerm::text() const {
  return what.empty() ? std::string(name_of(kind)) : fmt::format("{}: {}", name_of(kind), what);
}

std::vector<TimeTerm> time_terms(const PricedPlan& priced, const ModelGraph& model) {
  return Terms(priced, model).run();
}

std::vector<TermDifference> differences(const std::vector<TimeTerm>& here,
                                        const std::vector<TimeTerm>& there) {
  std::vector<TermDifference> all;
  const auto entry = [&](const TimeTerm& term) -> TermDifference& {
    const auto found = std::ranges::find(all, term.text(), &TermDifference::text);
    return found != all.end() ? *found : all.emplace_back(TermDifference{.text = term.text()});
  };
  for (const TimeTerm& term : here) {
    entry(term).here += term.seconds;
  }
  for (const TimeTerm& term : there) {
    entry(term).there += term.seconds;
  }
  std::ranges::stable_sort(all, [](const TermDifference& a, const TermDifference& b) {
    return std::abs(a.change()) > std::abs(b.change());
  });
  return all;
}

}  // namespace stagewright
