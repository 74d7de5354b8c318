#include "planner/schedules/registry.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/suggest.h"
#include "planner/schedules/chimera.h"
#include "planner/schedules/dualpipe.h"
#include "planner/schedules/dualpipe_v.h"
#include "planner/schedules/eager_one_forward_one_backward.h"
#include "planner/schedules/gpipe.h"
#include "planner/schedules/hanayo.h"
#include "planner/schedules/interleaved.h"
#include "planner/schedules/interleaved_zero_bubble.h"
#include "planner/schedules/looped_breadth_first.h"
#include "planner/schedules/one_forward_one_backward.h"
#include "planner/schedules/pipedream.h"
#include "planner/schedules/synthesis/synth_schedule.h"
#include "planner/schedules/v_memory.h"
#include "planner/schedules/zb_h1.h"
#include "planner/schedules/zb_h1_quick_start.h"
#include "planner/schedules/zb_h2.h"
#include "planner/schedules/zb_v.h"

namespace stagewright {

std::span<const ScheduleGenerator> schedule_generators() {
  static const std::array kGenerators{
      gpipe_schedule(),
      one_forward_one_backward_schedule(),
      eager_one_forward_one_backward_schedule(),
      interleaved_schedule(),
      looped_breadth_first_schedule(),
      zb_h1_schedule(),
      zb_h1_quick_start_schedule(),
      zb_h2_schedule(),
      interleaved_zero_bubble_schedule(),
      zb_v_schedule(),
      v_half_schedule(),
      v_min_schedule(),
      dualpipe_v_schedule(),
      dualpipe_schedule(),
      chimera_schedule(),
      hanayo_schedule(),
      pipedream_schedule(),
      pipedream_2bw_schedule(),
      synth_schedule(),
  };
  return kGenerators;
}

namespace {

/// Their authors write 1F1B, GPipe and ZB-V.
bool same_name(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  });
}

}  // namespace

Result<ScheduleGenerator> find_schedule(std::string_view name) {
  const auto all = schedule_generators();
  const auto is_name = [name](std::string_view known) { return same_name(name, known); };
  const auto found = std::ranges::find_if(all, [&](const ScheduleGenerator& g) {
    return is_name(g.name) || std::ranges::any_of(g.aliases, is_name);
  });
  if (found != all.end()) {
    return *found;
  }
  std::vector<std::string_view> names;
  for (const ScheduleGenerator& generator : all) {
    names.push_back(generator.name);
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("there is no schedule '{}'{}", name, suggestion(name, names)),
              "plan:/schedule");
}

}  // namespace stagewright
