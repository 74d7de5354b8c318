#include "cli/profile_from_pytorch.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/json_text.h"
#include "cli/table.h"
#include "core/base/file.h"
#include "core/base/version.h"
#include "core/profile/duration_samples.h"
#include "formats/gzip.h"
#include "formats/kineto.h"
#include "formats/model_file.h"
#include "study/traced_profile.h"

namespace stagewright {
namespace {

/// A size that the user and the trace may both name.
Result<std::int32_t> size_of(std::int32_t given,
                             std::optional<std::int64_t> traced,
                             std::string_view option,
                             std::string_view what) {
  if (given != 0 && traced && *traced != given) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("is {}, but the trace has {} {}; leave it out", given, *traced, what),
                std::string(option));
  }
  if (given == 0 && !traced) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("is needed: the trace does not say how many {} it has (it does with "
                            "record_shapes=True)",
                            what),
                std::string(option));
  }
  if (given != 0) {
    return given;
  }
  if (*traced < 1 || *traced > std::numeric_limits<std::int32_t>::max()) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("the trace has {} {}; give the right number", *traced, what),
                std::string(option));
  }
  return static_cast<std::int32_t>(*traced);
}

Result<TracedSizes> sizes_of(const PytorchTraceOptions& options,
                             const TracedModel& traced,
                             const ModelGraph& model) {
  if (traced.vocabulary && *traced.vocabulary < model.shape.vocabulary) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("has an embedding of {} words, the model {} one of {}; name the model "
                            "that was traced with --model",
                            *traced.vocabulary,
                            model.name,
                            model.shape.vocabulary),
                options.trace);
  }
  TracedSizes sizes;
  auto batch = size_of(options.micro_batch, traced.batch, "--micro-batch", "sequences in a pass");
  if (!batch) {
    return pass_on(std::move(batch));
  }
  auto sequence = size_of(options.sequence, traced.sequence, "--seq", "tokens in a sequence");
  if (!sequence) {
    return pass_on(std::move(sequence));
  }
  sizes.micro_batch = *batch;
  sizes.sequence = *sequence;
  sizes.precision.compute =
      traced.precision.value_or(traced.on_device ? DType::kBFloat16 : DType::kFloat32);
  if (!options.precision.empty()) {
    auto precision = parse_dtype(options.precision);
    if (!precision) {
      return pass_on(std::move(precision));
    }
    sizes.precision.compute = *precision;
  }
  return sizes;
}

/// The device of a trace with kernels: as given, or the one that it names.
Result<Cluster> device_of(const DataFiles& files,
                          const PytorchTraceOptions& options,
                          const KinetoTrace& trace) {
  std::string name = options.device_type;
  if (name.empty()) {
    name = trace.kernels.empty() || trace.devices.empty() ? "cpu" : trace.devices.front();
    if (!trace.kernels.empty() && !find_device(files, name)) {
      return fail(
          ErrorCode::kInvalidInput,
          fmt::format("is needed: the trace has kernels of {}; name its type, such as "
                      "h100-80gb-sxm (profiles/hardware)",
                      trace.devices.empty() ? "an unnamed device" : fmt::format("'{}'", name)),
          "--device-type");
    }
  }
  auto device = find_device(files, name);
  if (!device) {
    device.error().where = "--device-type";
    return pass_on(std::move(device));
  }
  if ((device->name == "cpu") != trace.kernels.empty()) {
    return fail(ErrorCode::kInvalidInput,
                trace.kernels.empty()
                    ? fmt::format("is {}, but the trace has no kernels, only operations of the "
                                  "host; record it with ProfilerActivity.CUDA",
                                  device->name)
                    : std::string("is cpu, but the trace has kernels of a device"),
                "--device-type");
  }
  return find_cluster(files, fmt::format("1x1x{}", device->name));
}

/// Exactly an embedding, blocks and a head, which is what a trace is divided into.
Result<std::size_t> blocks_of(const ModelGraph& model) {
  const bool chain =
      model.layers.size() >= 3 && model.layers.front().role == LayerRole::kEmbedding &&
      model.layers.back().role == LayerRole::kHead &&
      std::all_of(model.layers.begin() + 1, model.layers.end() - 1, [](const Layer& layer) {
        return layer.role == LayerRole::kBlock;
      });
  if (!chain) {
    return fail(ErrorCode::kUnsupported,
                "traces are read for models of an embedding, blocks and a head",
                model.name);
  }
  return model.layers.size() - 2;
}

std::vector<std::string> notes_on(const KinetoTrace& trace,
                                  const PytorchProfile& made,
                                  const TracedSizes& sizes) {
  std::vector<std::string> notes;
  if (trace.cut_off) {
    notes.emplace_back("the trace is cut off; what is whole before its end was used");
  }
  if (made.traced.passes < 3) {
    notes.push_back(fmt::format("{} in the trace; record three steps or more after warming up",
                                made.traced.passes == 1 ? "only one pass" : "only two passes"));
  }
  notes.push_back(
      fmt::format("it covers micro-batches of {} x {} tokens in {}: search plans with "
                  "--micro-batch {} --seq {} --precision {}",
                  sizes.micro_batch,
                  sizes.sequence,
                  name_of(sizes.precision.compute),
                  sizes.micro_batch,
                  sizes.sequence,
                  name_of(sizes.precision.compute)));
  return notes;
}

}  // namespace

Result<PytorchProfile> profile_from_pytorch(const Context& context,
                                            const PytorchTraceOptions& options) {
  const auto files = context.files();
  if (!files) {
    return tl::unexpected<Error>(files.error());
  }
  const auto model = find_model(*files, options.model);
  if (!model) {
    return tl::unexpected<Error>(model.error());
  }
  const auto blocks = blocks_of(*model);
  if (!blocks) {
    return tl::unexpected<Error>(blocks.error());
  }
  const auto text = read_file(options.trace).and_then([&](std::string content) {
    return unpacked(std::move(content), options.trace);
  });
  if (!text) {
    return tl::unexpected<Error>(text.error());
  }
  const auto trace = parse_kineto(*text, options.trace);
  if (!trace) {
    return tl::unexpected<Error>(trace.error());
  }
  auto traced = traced_layers(*trace, *blocks, options.blocks, options.trace);
  if (!traced) {
    return pass_on(std::move(traced));
  }
  const auto cluster = device_of(*files, options, *trace);
  if (!cluster) {
    return tl::unexpected<Error>(cluster.error());
  }
  const auto sizes = sizes_of(options, *traced, *model);
  if (!sizes) {
    return tl::unexpected<Error>(sizes.error());
  }
  auto profile = traced_profile(*model, *cluster, *traced, *sizes);
  if (!profile) {
    return pass_on(std::move(profile));
  }
  profile->made_by["program"] = "stagewright " + std::string(version());
  profile->made_by["command"] = context.command_line;
  PytorchProfile made{*std::move(profile), *std::move(traced), {}, {}};
  for (const Layer& layer : model->layers) {
    made.layers.push_back(layer.name);
  }
  made.notes = notes_on(*trace, made, *sizes);
  return made;
}

void print_pytorch_profile(const Context& context,
                           const PytorchProfile& made,
                           const std::string& out) {
  Duration sum{};
  std::vector<std::pair<Duration, Duration>> times;
  for (const TracedLayer& layer : made.traced.layers) {
    times.emplace_back(summarize(layer.forward).median, summarize(layer.backward).median);
    sum += times.back().first + times.back().second;
  }
  if (context.json) {
    nlohmann::json layers = nlohmann::json::array();
    for (std::size_t i = 0; i < times.size(); ++i) {
      layers.push_back({{"layer", made.layers[i]},
                        {"traced_as", made.traced.layers[i].name},
                        {"forward_s", to_seconds(times[i].first)},
                        {"backward_s", to_seconds(times[i].second)}});
    }
    *context.out << json_text({{"blocks", made.traced.block},
                               {"passes", made.traced.passes},
                               {"on_device", made.traced.on_device},
                               {"layers", std::move(layers)},
                               {"notes", made.notes},
                               {"files", {out}}});
    return;
  }
  Table table({"layer", "in the trace", "forward", "backward", "share"});
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto [forward, backward] = times[i];
    table.add({made.layers[i],
               made.traced.layers[i].name,
               to_string(forward),
               to_string(backward),
               sum > Duration{} ? percent(to_seconds(forward + backward) / to_seconds(sum)) : "-"});
  }
  *context.out << table.to_string()
               << fmt::format("\nmedians of {} passes, {}; wrote {}\n",
                              made.traced.passes,
                              made.traced.on_device ? "times of kernels"
                                                    : "times of operations on the host",
                              out);
  for (const std::string& note : made.notes) {
    *context.out << "note: " << note << '\n';
  }
}

}  // namespace stagewright
