#include "gui/app/program_options.h"

#include <cstdint>
#include <cstdio>
#include <map>

#include <CLI/CLI.hpp>

#include "core/base/units.h"
#include "core/base/version.h"
#include "planner/search/constraint.h"

namespace stagewright::gui {
namespace {

/// "18ms:26ms".
std::optional<TimeWindow> read_range(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) {
    return std::nullopt;
  }
  const auto from = parse_duration(text.substr(0, colon));
  const auto to = parse_duration(text.substr(colon + 1));
  if (!from || !to || *to <= *from) {
    return std::nullopt;
  }
  return TimeWindow{static_cast<double>(from->count()), static_cast<double>((*to - *from).count())};
}

std::optional<QSize> read_size(const std::string& text) {
  int width = 0;
  int height = 0;
  char rest = 0;
  constexpr int kMost = 16384;
  if (std::sscanf(text.c_str(), "%dx%d%c", &width, &height, &rest) != 2 || width < 64 ||
      height < 64 || width > kMost || height > kMost) {
    return std::nullopt;
  }
  return QSize(width, height);
}

/// "FROM:TO:COUNT".
std::optional<LayerMove> read_layer_move(const std::string& text) {
  LayerMove move;
  char rest = 0;
  constexpr int kMost = 100'000;
  if (std::sscanf(text.c_str(), "%d:%d:%d%c", &move.from, &move.to, &move.count, &rest) != 3 ||
      move.from < 0 || move.to < 0 || move.count < 1 || move.from > kMost || move.to > kMost) {
    return std::nullopt;
  }
  return move;
}

std::map<std::string, ColourBy> colour_names() {
  std::map<std::string, ColourBy> names;
  for (int i = 0; i < kColourByCount; ++i) {
    names.emplace(name_of(static_cast<ColourBy>(i)), static_cast<ColourBy>(i));
  }
  return names;
}

/// Options of a search, named as those of `stagewright plan`.
void add_search_options(CLI::App& app, PlanSetup& setup) {
  app.add_option("--model", setup.model, "Search plans for this preset or config.json");
  app.add_option("--cluster", setup.cluster.named, "NODESxDEVICESxTYPE, a preset or a file")
      ->needs("--model");
  app.add_option("--global-batch", setup.global_batch, "Sequences per optimizer step")
      ->check(CLI::PositiveNumber)
      ->needs("--model");
  app.add_option("--seq", setup.sequence, "Tokens per sequence (default: the model's longest)")
      ->check(CLI::PositiveNumber)
      ->needs("--model");
  app.add_option_function<std::string>(
         "--constraints",
         [&setup](const std::string& text) {
           const auto read = parse_constraints(text);
           if (!read) {
             throw CLI::ValidationError("--constraints", read.error().to_string());
           }
           for (const auto& [name, values] : *read) {
             setup.constraints[name] = values.text();
           }
         },
         "What of the plan is decided: 'tp=8 pp=4..16'")
      ->needs("--model");
}

/// A check that refuses what cannot be read.
template <class Read>
CLI::Validator readable(Read read, std::string example) {
  return CLI::Validator(
      [read, example](std::string& text) {
        return read(text) ? std::string() : "'" + text + "' cannot be read; write " + example;
      },
      "");
}

}  // namespace

ProgramOptions read_options(int argc, char** argv, std::optional<int>& exit_code) {
  ProgramOptions options;
  std::string theme;
  std::string screenshot;
  std::string size;
  std::string range;
  std::string colour;
  std::string layers;
  CLI::App app("Shows plans, schedules and runs of training steps over time.", "stagewright-gui");
  app.set_version_flag("--version", std::string(version()));
  app.add_option("FILE", options.files, "A plan, a schedule, a pipeline order or a trace");
  app.add_option("--compare", options.compare, "Another file to set beside it");
  PlanSetup planned;
  add_search_options(app, planned);
  app.add_option("--profiles", options.profiles, "Folder over the embedded data files");
  app.add_option("--theme", theme, "Colours")
      ->check(CLI::IsMember({"system", "light", "dark", "high-contrast"}));
  app.add_option("--screenshot", screenshot, "Draw into this PNG and end; needs no display")
      ->check(readable([](const std::string& path) { return !path.empty(); }, "out.png"));
  app.add_option("--move-layers", layers, "Change the plan: layers from a stage to another, 0:1:2")
      ->check(readable(read_layer_move, "FROM:TO:COUNT"))
      ->needs("--screenshot");
  app.add_option("--view", options.view, "What to draw")
      ->check(CLI::IsMember({"window",
                             "timeline",
                             "memory",
                             "statistics",
                             "causes",
                             "compare",
                             "setup",
                             "candidates",
                             "pareto"}));
  app.add_option("--size", size, "Of the window, 1600x900")->check(readable(read_size, "1600x900"));
  app.add_option("--range", range, "Stretch of time to show, 18ms:26ms")
      ->check(readable(read_range, "18ms:26ms"));
  app.add_option("--group-by", options.group_by, "Group rows by this axis, such as stage or node");
  app.add_option("--row-height", options.row_height, "Of a row, in pixels")
      ->check(CLI::Range(0.25, 64.0));
  app.add_option("--search", options.search, "Find actions: 'F12', 'kind:B rank:3 dur>2ms'");
  app.add_option("--colour-by", colour, "How boxes are coloured")
      ->check(CLI::IsMember(colour_names()));
  app.add_option("--follow", options.follow, "A micro-batch that stands out");
  app.add_flag("--critical-path", options.critical_path, "Outline the critical path");
  app.add_option("--dock", options.docks, "Views beside the timeline")
      ->check(CLI::IsMember({"setup",
                             "candidates",
                             "pareto",
                             "plan",
                             "stages",
                             "run",
                             "rows",
                             "memory",
                             "statistics",
                             "causes",
                             "compare",
                             "none"}))
      ->delimiter(',');
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error);
    return options;
  }
  if (app.count("--model") > 0) {
    options.planned = planned;
  }
  if (!theme.empty()) {
    options.theme = theme_named(QString::fromStdString(theme));
  }
  if (!screenshot.empty()) {
    options.screenshot = QString::fromStdString(screenshot);
  }
  if (!size.empty()) {
    options.size = *read_size(size);
  }
  if (!layers.empty()) {
    options.move_layers = read_layer_move(layers);
  }
  if (!range.empty()) {
    options.range = read_range(range);
  }
  if (!colour.empty()) {
    options.colour_by = colour_names().at(colour);
  }
  return options;
}

}  // namespace stagewright::gui
