#include "cli/explain_costs.h"

#include <ostream>

#include <fmt/format.h>

#include "cli/table.h"
#include "study/explain_costs.h"

namespace stagewright {
namespace {

void print(std::ostream& out, const CostExplanation& explanation) {
  Table table({"term", "seconds", "share", "source", "formula", "inputs"});
  for (const CostTerm& term : explanation.terms) {
    table.add({std::string(name_of(term.term)),
               fmt::format("{:.4g}", term.seconds),
               percent(term.share),
               std::string(name_of(term.source)),
               term.formula,
               term.inputs});
  }
  out << fmt::format("step {:.4g} s, 80 % band {:.4g} to {:.4g} s (closed form)\n\n",
                     explanation.step.seconds,
                     explanation.low,
                     explanation.high)
      << table.to_string();
  for (const std::string& warning : explanation.warnings) {
    out << "outside the calibration: " << warning << "\n";
  }
}

}  // namespace

ExitCode explain_costs(const Context& context, const SetupOptions& options) {
  const auto files = context.files();
  if (!files) {
    return context.report(files.error());
  }
  const auto run = explained_run(*files, options);
  if (!run) {
    return context.report(run.error());
  }
  const auto constants = load_step_constants(*files);
  if (!constants) {
    return context.report(constants.error());
  }
  if (const auto able = can_price(run->setup); !able) {
    return context.report(as_option(able.error()));
  }
  const CostExplanation explanation = explain_costs(run->setup, *constants);
  if (context.json) {
    *context.out << to_json_text(explanation) << "\n";
  } else {
    print(*context.out, explanation);
  }
  return ExitCode::kSuccess;
}

}  // namespace stagewright
