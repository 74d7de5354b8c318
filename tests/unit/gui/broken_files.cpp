#include "tests/unit/gui/broken_files.h"

#include <algorithm>
#include <random>

#include "core/base/file.h"
#include "formats/pytorch_csv.h"
#include "planner/lower/lower.h"
#include "planner/schedules/registry.h"
#include "study/plan_inputs.h"
#include "tests/support/source_folder.h"
#include "tests/unit/gui/made_traces.h"

namespace stagewright::test {

std::vector<NamedContent> files_of_every_kind() {
  const std::string plan = (source_folder() / "examples/gpt-demo-uneven.plan.json").string();
  const PlanInputs inputs = load_plan(DataFiles::embedded(), plan, {}, {}).value();
  const Schedule schedule = lower(inputs.model, inputs.cluster, inputs.plan).value();
  const TokenList order =
      token_list(find_schedule("1f1b")
                     ->generate({.ranks = 4, .virtual_stages = 1, .micro_batches = 8})
                     .value());
  const Trace trace = pipeline_trace("1f1b", 2, 3);
  return {{"trace.swtrace", to_binary(trace)},
          {"trace.json", to_chrome_json(trace)},
          {"x.plan.json", read_file(plan).value()},
          {"x.schedule.json", to_json_text(schedule)},
          {"order.csv", write_pytorch_csv(order)}};
}

std::string broken(std::string content, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto place = [&] {
    return std::uniform_int_distribution<std::size_t>(0, content.size() - 1)(random);
  };
  const auto span = [&](std::size_t from) {
    constexpr std::size_t kMost = 64;
    return std::min<std::size_t>(1 + random() % kMost, content.size() - from);
  };
  const std::size_t at = place();
  switch (seed % 4) {
    case 0:
      content.resize(at);
      break;
    case 1:
      for (int i = 0; i < 3; ++i) {
        content[place()] = static_cast<char>(random());
      }
      break;
    case 2:
      content.erase(at, span(at));
      break;
    default:
      content.insert(place(), content.substr(at, span(at)));
      break;
  }
  return content;
}

}  // namespace stagewright::test
