#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/output_files.h"
#include "cli/simulate_report.h"
#include "cli/text_timeline.h"
#include "core/base/file.h"
#include "formats/timeline_svg.h"
#include "study/plan_inputs.h"

namespace stagewright {
namespace {

/// The step as a picture: in the terminal, as SVG, and as a trace for Perfetto.
class TimelineReport final : public SimulateReport {
 public:
  void add_options(CLI::App& command) override {
    // Not an option with an optional value: that would take the plan's name for it.
    CLI::Option* timeline =
        command
            .add_flag("--timeline{auto}",
                      style_,
                      "Draw the ranks' actions over time; as the terminal can, or as =ascii, "
                      "=unicode or =colour")
            ->check(CLI::IsMember({"auto", "ascii", "unicode", "colour"}));
    command.add_option("--width", width_, "Columns of --timeline (default: the terminal's)")
        ->check(CLI::Range(40, 100'000))
        ->needs(timeline);
    add_output_option(command, "--svg", svg_, "Write the same as a picture (SVG)");
    add_output_option(command,
                      "--trace",
                      trace_,
                      "Write the predicted timeline (Chrome/Perfetto JSON; *.swtrace: binary)");
  }

  [[nodiscard]] TraceDetail detail() const override {
    if (!trace_.empty()) {
      return TraceDetail::kOperations;
    }
    return !style_.empty() || !svg_.empty() ? TraceDetail::kActions : TraceDetail::kNone;
  }

  [[nodiscard]] Result<void> write(const Context& context,
                                   const SimulatedStep& step,
                                   nlohmann::json& json,
                                   std::string& text) const override {
    if (!trace_.empty()) {
      if (auto saved = save_trace(trace_, step.trace); !saved) {
        return saved;
      }
      note_written(trace_, "the predicted timeline", "trace", json, text);
    }
    if (style_.empty() && svg_.empty()) {
      return {};
    }
    const Timeline timeline = make_timeline(step.trace);
    if (!svg_.empty()) {
      const std::string picture =
          write_timeline_svg(timeline, step.unit, step.title, step.subtitle);
      if (auto written = write_file(svg_, picture); !written) {
        return written;
      }
      note_written(svg_, "the picture", "svg", json, text);
    }
    if (!style_.empty()) {
      text += "\n" + to_text(timeline, step.unit, text_options(context.terminal));
    }
    return {};
  }

 private:
  [[nodiscard]] TextTimelineOptions text_options(const Terminal& terminal) const {
    TextTimelineOptions options{.columns = width_ > 0 ? width_ : terminal.columns,
                                .colour = terminal.colour,
                                .unicode = terminal.unicode};
    if (style_ == "ascii") {
      options.colour = options.unicode = false;
    } else if (style_ == "unicode") {
      options.colour = false;
      options.unicode = true;
    } else if (style_ == "colour") {
      options.colour = true;
    }
    return options;
  }

  std::string style_;  ///< empty: nothing is drawn in text
  int width_ = 0;
  std::string svg_;
  std::string trace_;
};

}  // namespace

std::unique_ptr<SimulateReport> make_timeline_report() {
  return std::make_unique<TimelineReport>();
}

}  // namespace stagewright
