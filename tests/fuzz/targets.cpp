#include "targets.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/check.h"
#include "core/base/data_files.h"
#include "core/cluster/cluster.h"
#include "core/cluster/device.h"
#include "core/model/model_graph.h"
#include "core/plan/plan.h"
#include "core/profile/profile.h"
#include "core/schedule/schedule.h"
#include "core/schedule/semantics.h"
#include "core/trace/timeline.h"
#include "core/trace/trace.h"
#include "formats/hf_config.h"
#include "formats/kineto.h"
#include "formats/measured_kernels.h"
#include "formats/measured_record.h"
#include "formats/model_file.h"
#include "formats/nccl_tests.h"
#include "formats/pytorch_csv.h"
#include "formats/schedule_vector.h"
#include "formats/timeline_svg.h"
#include "seeds.h"
#include "sim/analysis/list_trace.h"
#include "sim/analysis/order_check.h"

namespace stagewright {
namespace {

constexpr std::string_view kWhere = "input";

void check_message(const Error& error) {
  SW_CHECK(!error.message.empty(), "an error that says what is wrong");
}

/// Everything that `schedules check` and `simulate --schedule` do with a list.
void use_list(const TokenList& list) {
  using namespace std::chrono_literals;
  const PipelineCosts costs = costs_per_stage({.forward = 1s,
                                               .backward = 2s,
                                               .backward_input = 1s,
                                               .backward_weight = 1s,
                                               .recompute = 1s,
                                               .transfer = 100ms},
                                              list.stages);
  const OrderCheck check = check_order(list, costs);
  std::size_t items = 0;
  for (const auto& rank : list.ranks) {
    items += rank.size();
  }
  constexpr std::size_t kMostDrawn = 200;  // for speed
  if (check.fault || items > kMostDrawn) {
    return;
  }
  const Trace trace = list_trace(list, costs, check.timing);
  SW_CHECK(!write_timeline_svg(make_timeline(trace), {}, "list", "").empty(), "a picture");
  SW_CHECK(parse_trace(to_chrome_json(trace), kWhere).has_value(), "a trace that reads back");
}

void run_pytorch_csv(std::string_view input) {
  const auto list = parse_pytorch_csv(input, kWhere);
  if (!list) {
    check_message(list.error());
    return;
  }
  // Once more: a list with a BW beside its W, or whose last rank does nothing, changes by writing.
  const auto again = parse_pytorch_csv(write_pytorch_csv(*list), kWhere);
  SW_CHECK(again.has_value(), "a list that reads back");
  const std::string text = write_pytorch_csv(*again);
  const auto third = parse_pytorch_csv(text, kWhere);
  SW_CHECK(third && *third == *again, "a list that reads back as it was written");
  use_list(*list);
}

void run_schedule_vector(std::string_view input) {
  const auto list = parse_schedule_vector(input, kWhere);
  if (!list) {
    check_message(list.error());
    return;
  }
  const auto again = parse_schedule_vector(write_schedule_vector(*list, "any"), kWhere);
  SW_CHECK(again && *again == *list, "a list that reads back as it was written");
  use_list(*list);
}

void run_schedule_file(std::string_view input) {
  const auto schedule = parse_schedule(input, kWhere);
  if (!schedule) {
    check_message(schedule.error());
    return;
  }
  const auto again = parse_schedule(to_json_text(*schedule), kWhere);
  SW_CHECK(again && *again == *schedule, "a schedule that reads back as it was written");
  if (const auto valid = validate(*schedule); !valid) {
    check_message(valid.error());
  }
}

void run_plan(std::string_view input) {
  constexpr std::int32_t kLayers = 8;
  if (const auto names = parse_plan_names(input, kWhere); !names) {
    check_message(names.error());
  }
  const auto plan = parse_plan(input, kWhere, kLayers);
  if (!plan) {
    check_message(plan.error());
    return;
  }
  const auto again = parse_plan(to_json_text(*plan), kWhere, kLayers);
  SW_CHECK(again && *again == *plan, "a plan that reads back as it was written");
}

void run_trace(std::string_view input) {
  const auto trace = parse_trace(input, kWhere);
  if (!trace) {
    check_message(trace.error());
    return;
  }
  // By their text: a trace may hold values that are no numbers, which equal nothing.
  const auto from_binary = parse_trace(to_binary(*trace), kWhere);
  SW_CHECK(from_binary && to_binary(*from_binary) == to_binary(*trace), "a binary that reads back");
  const std::string json = to_chrome_json(*trace);
  const auto from_json = parse_trace(json, kWhere);
  SW_CHECK(from_json && to_chrome_json(*from_json) == json, "a text that reads back");
  SW_CHECK(!write_timeline_svg(make_timeline(*trace), {1, "s"}, "any", "").empty(), "a picture");
}

void run_profile(std::string_view input) {
  const auto profile = parse_profile(input, kWhere);
  if (!profile) {
    check_message(profile.error());
    return;
  }
  const auto again = parse_profile(to_json_text(*profile), kWhere);
  SW_CHECK(again && to_json_text(*again) == to_json_text(*profile), "a profile that reads back");
}

void run_hf_config(std::string_view input) {
  if (const auto model = parse_hf_config(input, kWhere, "any"); !model) {
    check_message(model.error());
  }
}

void run_model_file(std::string_view input) {
  if (const auto model = parse_model_file(input, kWhere); !model) {
    check_message(model.error());
  }
}

void run_cluster(std::string_view input) {
  if (const auto cluster = parse_cluster(DataFiles::embedded(), input, kWhere); !cluster) {
    check_message(cluster.error());
  }
}

void run_device(std::string_view input) {
  if (const auto device = parse_device(input, kWhere); !device) {
    check_message(device.error());
  }
}

/// A line is a record or says why it is none.
void run_measured_record(std::string_view input) {
  for (const RecordLine& line : parse_measured_records(input)) {
    SW_CHECK(!line.id.empty(), "a line that can be named");
    SW_CHECK(line.record.has_value() == line.skipped.empty(), "a record, or a reason");
    if (line.record) {
      SW_CHECK(line.record->iteration_seconds.value_or(1) > 0 &&
                   line.record->memory_bytes.value_or(0) >= 0,
               "measurements that can have been measured");
    }
  }
}

void run_measured_kernels(std::string_view input) {
  const auto kernels = parse_measured_kernels(input, kWhere);
  if (!kernels) {
    check_message(kernels.error());
    return;
  }
  for (const MeasuredKernel& kernel : *kernels) {
    SW_CHECK(kernel.seconds > 0, "a time that can have been measured");
  }
}

void run_kineto(std::string_view input) {
  const auto trace = parse_kineto(input, kWhere);
  if (!trace) {
    check_message(trace.error());
    return;
  }
  for (const KinetoOp& op : trace->ops) {
    SW_CHECK(op.duration_us >= 0, "a time that can have been measured");
  }
}

void run_nccl_tests(std::string_view input) {
  const auto log = parse_nccl_tests(input, kWhere);
  if (!log) {
    check_message(log.error());
    return;
  }
  SW_CHECK(!log->points.empty(), "a log with a measurement");
  for (const CollectivePoint& point : log->points) {
    SW_CHECK(point.time > Duration{} && point.size >= Bytes{}, "a time of a message");
  }
}

constexpr std::array kTargets{
    FuzzTarget{"pytorch_csv", run_pytorch_csv, pytorch_csv_seeds},
    FuzzTarget{"schedule_vector", run_schedule_vector, schedule_vector_seeds},
    FuzzTarget{"schedule_file", run_schedule_file, schedule_file_seeds},
    FuzzTarget{"plan", run_plan, plan_seeds},
    FuzzTarget{"trace", run_trace, trace_seeds},
    FuzzTarget{"profile", run_profile, profile_seeds},
    FuzzTarget{"hf_config", run_hf_config, hf_config_seeds},
    FuzzTarget{"model_file", run_model_file, model_file_seeds},
    FuzzTarget{"cluster", run_cluster, cluster_seeds},
    FuzzTarget{"device", run_device, device_seeds},
    FuzzTarget{"measured_record", run_measured_record, measured_record_seeds},
    FuzzTarget{"measured_kernels", run_measured_kernels, measured_kernels_seeds},
    FuzzTarget{"kineto", run_kineto, kineto_seeds},
    FuzzTarget{"nccl_tests", run_nccl_tests, nccl_tests_seeds}};

}  // namespace

std::span<const FuzzTarget> fuzz_targets() {
  return kTargets;
}

const FuzzTarget& fuzz_target(std::string_view name) {
  const auto found = std::ranges::find(kTargets, name, &FuzzTarget::name);
  SW_CHECK(found != kTargets.end(), "a target of that name");
  return *found;
}

}  // namespace stagewright
