#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/number_check.h"
#include "cli/output_files.h"
#include "cli/path_check.h"
#include "cli/profile_device.h"
#include "cli/profile_from_pytorch.h"
#include "core/base/file.h"
#include "core/base/version.h"
#include "formats/model_file.h"
#include "planner/lower/lower.h"
#include "runtime/profiler/profiler.h"
#include "runtime/trainer/virtual_clock.h"
#include "study/plan_inputs.h"

namespace stagewright {
namespace {

struct ProfileCommand {
  std::string model;
  std::string out = "profile.json";
  std::int32_t ranks = 1;
  std::int32_t sequence = 0;
  std::vector<std::int32_t> micro_batch_sizes = {1, 2, 4};
  std::string recompute = "both";
  std::vector<std::string> precisions;
  std::string clock;
  std::string device = "cpu";
  std::string device_type;
  ProfileOptions options;
  PytorchTraceOptions traced;
};

/// All ways to divide `ranks` into dp x tp x pp.
std::vector<StagePlan> degrees(std::int32_t ranks, std::vector<std::int32_t>& pp) {
  std::vector<StagePlan> result;
  for (std::int32_t tp = 1; tp <= ranks; ++tp) {
    for (std::int32_t stages = 1; tp * stages <= ranks; ++stages) {
      if (ranks % (tp * stages) == 0) {
        result.push_back({.dp = ranks / tp / stages, .tp = tp});
        pp.push_back(stages);
      }
    }
  }
  return result;
}

std::vector<Recompute> recompute_choices(const std::string& name) {
  if (name == "both") {
    return {Recompute::kNone, Recompute::kFull};
  }
  return {name == "full" ? Recompute::kFull : Recompute::kNone};
}

/// The plan that runs what a real one with these degrees would run, in a short step.
Plan short_plan(const ModelGraph& model,
                const ProfileCommand& command,
                const Cluster& cluster,
                const StagePlan& degree,
                std::int32_t pp) {
  Plan plan;
  plan.model = command.model;
  plan.cluster = cluster.name;
  plan.sequence = command.sequence;
  plan.micro_batches = pp > 1 ? 2 * pp : 2;
  plan.stages =
      even_stages(static_cast<std::int32_t>(model.layers.size()), pp, degree.dp, degree.tp);
  return plan;
}

/// One schedule per degree, micro-batch size, recompute choice and precision that this model
/// allows; what it does not allow is named on `err`.
std::vector<Schedule> schedules_to_measure(const Context& context,
                                           const ModelGraph& model,
                                           const Cluster& cluster,
                                           const ProfileCommand& command,
                                           const std::vector<DType>& precisions) {
  std::vector<Schedule> schedules;
  std::vector<std::int32_t> pp;
  const std::vector<StagePlan> ways = degrees(command.ranks, pp);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (static_cast<std::int32_t>(model.layers.size()) < pp[i]) {
      continue;
    }
    Plan plan = short_plan(model, command, cluster, ways[i], pp[i]);
    for (const DType precision : precisions) {
      plan.precision = {.compute = precision};
      for (const std::int32_t size : command.micro_batch_sizes) {
        plan.micro_batch_size = size;
        for (const Recompute recompute : recompute_choices(command.recompute)) {
          for (StagePlan& stage : plan.stages) {
            stage.recompute = recompute;
          }
          auto schedule = lower(model, cluster, plan);
          if (schedule) {
            schedules.push_back(std::move(*schedule));
          } else {
            *context.err << fmt::format(
                "not measured: {}: {}\n", summary(plan), schedule.error().to_string());
          }
        }
      }
    }
  }
  return schedules;
}

/// By default what `plan` takes on such a device.
Result<std::vector<DType>> precisions_of(const ProfileCommand& command) {
  std::vector<DType> precisions;
  for (const std::string& name : command.precisions) {
    const auto precision = parse_dtype(name);
    if (!precision) {
      return fail(precision.error().code, precision.error().message, "--precision");
    }
    precisions.push_back(*precision);
  }
  if (precisions.empty()) {
    precisions.push_back(command.device == "cpu" ? DType::kFloat32 : DType::kBFloat16);
  }
  return precisions;
}

/// Where the ranks are to be measured.
Result<ProfiledDevice> find_place(const DataFiles& files, ProfileCommand& command) {
  if (command.device == "cpu") {
    command.options.virtual_clock =
        command.clock == "virtual" ||
        (command.clock.empty() && share_cores(static_cast<std::size_t>(command.ranks)));
    return ProfiledDevice{};
  }
  if (command.clock == "virtual") {
    return fail(ErrorCode::kInvalidInput,
                "the virtual clock knows the times of threads, not of devices; measure --device "
                "cuda by the wall clock",
                "--clock");
  }
  return profile_on_cuda(files, command.device_type, command.options);
}

Result<Profile> measure(const Context& context, ProfileCommand& command) {
  const auto files = context.files();
  if (!files) {
    return tl::unexpected<Error>(files.error());
  }
  auto model = find_model(*files, command.model);
  if (!model) {
    return pass_on(std::move(model));
  }
  const auto precisions = precisions_of(command);
  if (!precisions) {
    return tl::unexpected<Error>(precisions.error());
  }
  const auto place = find_place(*files, command);
  if (!place) {
    return tl::unexpected<Error>(place.error());
  }
  auto cluster = find_cluster(*files, fmt::format("1x{}x{}", command.ranks, place->type));
  if (!cluster) {
    return pass_on(std::move(cluster));
  }
  if (command.sequence == 0) {
    command.sequence = static_cast<std::int32_t>(model->shape.max_sequence);
  }
  const std::vector<Schedule> schedules =
      schedules_to_measure(context, *model, *cluster, command, *precisions);
  const InterruptGuard interrupt;
  command.options.device = place->type;
  command.options.stop = &InterruptGuard::requested();
  command.options.on_progress = [&](const ProfileOptions::Progress& progress) {
    context.progress(fmt::format("measuring {:3.0f} %: {}", 100 * progress.done, progress.what));
  };
  auto profile = stagewright::profile(schedules, command.options);
  context.progress("");
  if (profile) {
    profile->concurrent_ranks = command.ranks;
    profile->made_by["program"] = "stagewright " + std::string(version());
    profile->made_by["command"] = context.command_line;
    profile->made_by["model"] = model->name;
    for (const auto& [what, value] : place->made_by) {
      profile->made_by[what] = value;
    }
  }
  return profile;
}

/// No measurement here: PyTorch made it.
ExitCode read_trace(const Context& context, ProfileCommand& command) {
  command.traced.model = command.model;
  command.traced.sequence = command.sequence;
  command.traced.device_type = command.device_type;
  if (command.micro_batch_sizes.size() == 1) {
    command.traced.micro_batch = command.micro_batch_sizes.front();
  }
  if (command.precisions.size() > 1) {
    return context.report(
        {ErrorCode::kInvalidInput, "a trace has one precision; name that one", "--precision"});
  }
  if (!command.precisions.empty()) {
    command.traced.precision = command.precisions.front();
  }
  const auto made = profile_from_pytorch(context, command.traced);
  if (!made) {
    return context.report(made.error());
  }
  if (auto written = write_file(command.out, to_json_text(made->profile)); !written) {
    return context.report(written.error());
  }
  print_pytorch_profile(context, *made, command.out);
  return ExitCode::kSuccess;
}

ExitCode run(const Context& context, ProfileCommand& command) {
  if (!command.traced.trace.empty()) {
    return read_trace(context, command);
  }
  const auto profile = measure(context, command);
  if (!profile) {
    return InterruptGuard::requested() ? ExitCode::kInterrupted : context.report(profile.error());
  }
  const std::string text = to_json_text(*profile);
  if (auto written = write_file(command.out, text); !written) {
    return context.report(written.error());
  }
  if (context.json) {
    *context.out << text << "\n";
  } else {
    *context.out << fmt::format(
        "measured {} operations, {} runs of operations and {} links with {} ranks busy ({} clock); "
        "wrote {}\n",
        profile->operations.size(),
        profile->segments.size(),
        profile->links.size(),
        command.ranks,
        profile->made_by.at("clock"),
        command.out);
  }
  return ExitCode::kSuccess;
}

}  // namespace

/// Instead of measuring here.
void add_trace_options(CLI::App& command, PytorchTraceOptions& options) {
  CLI::Option* const trace =
      command
          .add_option("--from-pytorch",
                      options.trace,
                      "Take the times from a trace of torch.profiler (Chrome JSON) instead")
          ->check(path_given);
  command
      .add_option(
          "--blocks", options.blocks, "Class of the modules or ranges that are the model's blocks")
      ->needs(trace);
  for (const char* measured : {"--ranks", "--recompute", "--clock", "--steps", "--device"}) {
    trace->excludes(command.get_option(measured));
  }
}

void add_profile_command(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "profile",
      "Time a model's operations, layers and transfers on this machine, as plans would run them");
  auto options = std::make_shared<ProfileCommand>();
  command->add_option("--model", options->model, "Preset, Hugging Face config.json or model file")
      ->required();
  command
      ->add_option("--ranks",
                   options->ranks,
                   "Ranks (threads) that are busy at once; all their dp x tp x pp are measured")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--seq", options->sequence, "Tokens per sequence (default: the model's longest)")
      ->check(positive_count);
  command
      ->add_option("--micro-batch",
                   options->micro_batch_sizes,
                   "Micro-batch sizes to measure, comma-separated")
      ->delimiter(',')
      ->check(positive_count);
  command->add_option("--recompute", options->recompute, "none, full or both")
      ->check(CLI::IsMember({"none", "full", "both"}));
  command
      ->add_option("--clock",
                   options->clock,
                   "Of the measured operations: wall, or virtual (their thread time); by default "
                   "virtual where the ranks share cores")
      ->check(CLI::IsMember({"wall", "virtual"}));
  command
      ->add_option("--precision",
                   options->precisions,
                   "Of the products to measure, comma-separated: bf16, fp16, tf32, fp32 (default: "
                   "fp32; bf16 on cuda)")
      ->delimiter(',');
  command
      ->add_option("--device",
                   options->device,
                   "What to measure: cpu, or cuda: the first device, which all ranks share")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command->add_option("--device-type",
                      options->device_type,
                      "Type of that device, where its name does not tell (h200-141gb-sxm)");
  command->add_option("--steps", options->options.steps, "Measured steps per plan")
      ->check(positive_count);
  add_trace_options(*command, options->traced);
  add_output_option(*command, "--out", options->out, "The profile file to write")
      ->capture_default_str();
  command->callback([options, &chosen] {
    chosen = [options](const Context& context) { return run(context, *options); };
  });
}

}  // namespace stagewright
