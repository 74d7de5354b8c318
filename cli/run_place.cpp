#include "cli/run_place.h"

#include <chrono>
#include <ostream>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "runtime/comm/failed_start.h"
#include "runtime/comm/mpi_launch.h"
#include "runtime/trainer/own_process.h"
#include "runtime/trainer/shared_device.h"

namespace stagewright {

namespace {

[[nodiscard]] ReplayUse replay_use(const std::string& name) {
  if (name == "never") {
    return ReplayUse::kNever;
  }
  return name == "always" ? ReplayUse::kAlways : ReplayUse::kWhereFaster;
}

[[nodiscard]] tl::unexpected<Error> refuse_without_nccl(std::string_view who,
                                                        int processes,
                                                        std::string_view otherwise) {
  return fail(ErrorCode::kUnsupported,
              fmt::format("{} says that {} processes run the plan together, which only those with "
                          "NCCL can; pass --device cuda, or {} to run all ranks as threads of "
                          "this process",
                          who,
                          processes,
                          otherwise),
              "--device");
}

}  // namespace

void add_options(CLI::App& command, RunPlaceOptions& options) {
  command
      .add_option("--device",
                  options.device,
                  "Where all ranks compute: cpu, or cuda: the first device, which they share; the "
                  "CPU where there is none. Under torchrun each rank is a process, on the device "
                  "LOCAL_RANK")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command
      .add_option("--replay",
                  options.replay,
                  "On a device, whether what is the same in every step is captured once, as graphs "
                  "of CUDA: never, always, or where that is measured to be faster")
      ->check(CLI::IsMember({"never", "faster", "always"}))
      ->capture_default_str();
}

Result<RunPlace> find_run_place(const RunPlaceOptions& options, bool live_trace) {
  const std::string& device = options.device;
  RunPlace place;
  place.device = device;
  place.cuda.replay = replay_use(options.replay);
  const Variables variables = process_environment();
  const auto ranks = variables("WORLD_SIZE");
  const bool by_torchrun = ranks && *ranks != "1" && variables("RANK");
  const std::optional<int> by_mpi = by_torchrun ? std::nullopt : processes_of_mpi(variables);
  if (!by_torchrun && !by_mpi) {
    return place;
  }
  if (by_mpi && device != "cuda") {
    return refuse_without_nccl("mpirun", *by_mpi, "start one process");
  }
  auto launch = by_mpi ? meet_by_mpi() : read_launch_environment(variables);
  if (!launch) {
    return pass_on(std::move(launch));
  }
  if (device != "cuda") {
    return refuse_without_nccl("WORLD_SIZE", launch->ranks, "unset RANK and WORLD_SIZE");
  }
  if (live_trace) {
    return fail(ErrorCode::kUnsupported,
                "is written only where ranks are threads of one process; leave it out",
                "--live-trace");
  }
  place.launch = *std::move(launch);
  return place;
}

Result<void> go_to(const RunPlace& place,
                   const Context& context,
                   const Schedule& schedule,
                   const std::string& plan_file,
                   RunOptions& options) {
  if (place.launch) {
    if (schedule.ranks.size() == static_cast<std::size_t>(place.launch->ranks)) {
      if (auto prepared = run_one_rank(options, *place.launch, place.cuda); !prepared) {
        return prepared;
      }
      options.make_world = [met = place.met, make = options.make_world](const WorldSpec& spec) {
        met->store(true);
        return make(spec);
      };
      return {};
    }
    return fail(
        ErrorCode::kInvalidInput,
        fmt::format("has {} ranks, but {} processes were started (WORLD_SIZE or mpirun); start one "
                    "for each rank",
                    schedule.ranks.size(),
                    place.launch->ranks),
        plan_file);
  }
  if (place.device == "cuda") {
    if (auto shared = share_cuda_device(options, place.cuda); !shared) {
      *context.err << "the CPU runs the plan: " << shared.error().to_string() << '\n';
    }
  }
  return {};
}

void tell_others(const RunPlace& place, const Error& error) {
  constexpr auto kLimit = std::chrono::seconds(10);
  if (place.launch && !place.met->load()) {
    tell_failed_start(*place.launch, error, kLimit);
  }
}

}  // namespace stagewright
