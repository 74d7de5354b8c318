#include <algorithm>
#include <cctype>
#include <ctime>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "core/base/file.h"
#include "steps.h"

namespace stagewright::gpu_check {

namespace {

using nlohmann::json;

/// Of all expected steps, in their order.
[[nodiscard]] json gather(const std::string& folder, const std::vector<std::string>& expected) {
  json steps = json::array();
  for (const std::string& name : expected) {
    const auto text = read_file(fmt::format("{}/{}.step.json", folder, name));
    json step = text ? json::parse(*text, nullptr, false) : json();
    if (!step.is_object()) {
      step = to_json({.step = name, .status = "not run", .summary = "left no result"});
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

[[nodiscard]] const json* find(const json& steps, const std::string& name) {
  for (const json& step : steps) {
    if (step["step"] == name) {
      return &step;
    }
  }
  return nullptr;
}

[[nodiscard]] std::string device_of(const json& steps) {
  const json* machine = find(steps, "machine");
  const bool known = machine != nullptr && (*machine)["figures"].contains("devices");
  return known ? (*machine)["figures"]["devices"][0]["name"].get<std::string>() : "unknown device";
}

/// "nvidia-h200".
[[nodiscard]] std::string file_name_of(std::string text) {
  for (char& c : text) {
    c = std::isalnum(static_cast<unsigned char>(c)) != 0
            ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
            : '-';
  }
  return text;
}

[[nodiscard]] std::string step_table(const json& steps) {
  std::string text = "| step | outcome | |\n| --- | --- | --- |\n";
  for (const json& step : steps) {
    text += fmt::format("| {} | {} | {} |\n",
                        step["step"].get<std::string>(),
                        step["status"].get<std::string>(),
                        step["summary"].get<std::string>());
  }
  return text;
}

/// The rows that failed, and of the others the error and what it may be.
[[nodiscard]] std::string error_table(const json& rows, const char* what) {
  std::string text = fmt::format("| {} | error | tolerance | |\n| --- | --- | --- | --- |\n", what);
  for (const json& row : rows) {
    text += fmt::format("| {} | {} | {:.0e} | {} |\n",
                        row[what].get<std::string>(),
                        row.contains("error") && row["error"].is_number()
                            ? fmt::format("{:.1e}", row["error"].get<double>())
                            : row.value("failure", "no number"),
                        row["tolerance"].get<double>(),
                        row["passed"].get<bool>() ? "" : "**failed**");
  }
  return text;
}

/// A line for each timed model, with what PyTorch took for the same.
[[nodiscard]] std::string speed_table(const json& steps) {
  std::string text =
      "| model | step | TFLOP/s | MFU | PyTorch | PyTorch with torch.compile |\n"
      "| --- | --- | --- | --- | --- | --- |\n";
  const auto milliseconds = [](const json& figures, const char* key) {
    return figures.contains(key) && figures[key].is_number()
               ? fmt::format("{:.1f} ms", 1e3 * figures[key].get<double>())
               : std::string("not measured");
  };
  for (const std::string& model : timed_models()) {
    const json* own = find(steps, "speed-" + model);
    const json* peer = find(steps, "torch-" + model);
    const json ours = own == nullptr ? json::object() : (*own)["figures"];
    const json theirs = peer == nullptr ? json::object() : (*peer)["figures"];
    text += fmt::format(
        "| {} | {} | {} | {} | {} | {} |\n",
        model,
        milliseconds(ours, "step_s"),
        ours.contains("tflops") ? fmt::format("{:.1f}", ours["tflops"].get<double>()) : "-",
        ours.contains("mfu") && ours["mfu"].is_number()
            ? fmt::format("{:.1f} %", 100 * ours["mfu"].get<double>())
            : "-",
        milliseconds(theirs, "eager_step_s"),
        milliseconds(theirs, "compiled_step_s"));
  }
  return text;
}

/// A section with the figures of a step, where it has some.
void add_errors(
    const json& steps, const char* step, const char* what, const char* title, std::string& text) {
  const json* found = find(steps, step);
  const std::string rows = std::string(what) + "s";
  if (found != nullptr && (*found)["figures"].contains(rows)) {
    text += fmt::format("\n## {}\n\n{}", title, error_table((*found)["figures"][rows], what));
  }
}

[[nodiscard]] std::string markdown(const json& report) {
  const json& steps = report["steps"];
  std::string text = fmt::format("# {}, {}\n\n{}\n",
                                 report["device"].get<std::string>(),
                                 report["date"].get<std::string>(),
                                 step_table(steps));
  std::string missing;
  for (const json& step : steps) {
    if (step["status"] == "not run") {
      missing += fmt::format(
          "* {}: {}\n", step["step"].get<std::string>(), step["summary"].get<std::string>());
    }
  }
  text += missing.empty() ? "Everything ran.\n" : "## What did not run\n\n" + missing;
  text += "\n## Speed\n\n" + speed_table(steps);
  add_errors(steps, "nccl", "plan", "Losses of several GPUs against the CPU", text);
  add_errors(steps, "losses", "plan", "Losses of one GPU against the CPU", text);
  add_errors(steps, "kernels", "kernel", "Kernels against double precision", text);
  return text;
}

}  // namespace

Result<std::string> write_report(const std::string& folder,
                                 const std::vector<std::string>& expected,
                                 const std::string& out) {
  json report;
  report["steps"] = gather(folder, expected);
  report["device"] = device_of(report["steps"]);
  report["date"] = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  std::error_code ignored;  // the write says what is wrong
  std::filesystem::create_directories(out, ignored);
  const std::string base = fmt::format("{}/{}-{}",
                                       out,
                                       report["date"].get<std::string>(),
                                       file_name_of(report["device"].get<std::string>()));
  if (auto written = write_file(base + ".json", report.dump(2) + "\n"); !written) {
    return pass_on(std::move(written));
  }
  if (auto written = write_file(base + ".md", markdown(report)); !written) {
    return pass_on(std::move(written));
  }
  return base + ".md";
}

}  // namespace stagewright::gpu_check
