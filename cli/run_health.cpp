#include "cli/run_health.h"

#include <chrono>
#include <ostream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/table.h"
#include "core/base/file.h"

namespace stagewright {
namespace {

constexpr std::size_t kRecentSteps = 20;

template <class T>
nlohmann::json known(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

}  // namespace

RunHealth::RunHealth(std::optional<Summary> predicted, Bytes memory)
    : predicted_(std::move(predicted)), memory_(memory) {}

void RunHealth::add(const StepProgress& progress) {
  last_ = progress;
  // The first step pays for warming up.
  if (progress.step == 1) {
    recent_.clear();
  }
  recent_.push_back(progress.step_time);
  if (recent_.size() > kRecentSteps) {
    recent_.pop_front();
  }
}

double RunHealth::tokens_per_s() const {
  const double seconds = to_seconds(last_.step_time);
  return seconds > 0 ? static_cast<double>(last_.tokens) / seconds : 0;
}

std::optional<double> RunHealth::mfu() const {
  if (!predicted_ || !predicted_->mfu || last_.step_time <= Duration{}) {
    return std::nullopt;
  }
  return *predicted_->mfu * to_seconds(predicted_->step_time) / to_seconds(last_.step_time);
}

Duration RunHealth::time_left() const {
  double sum = 0;
  for (const Duration time : recent_) {
    sum += to_seconds(time);
  }
  const double mean = recent_.empty() ? 0 : sum / static_cast<double>(recent_.size());
  return from_seconds(mean * (last_.steps - last_.step - 1));
}

std::string RunHealth::metrics_line() const {
  nlohmann::json expected;
  if (predicted_) {
    expected = predicted_->tokens_per_second;
  }
  return nlohmann::json{{"step", last_.step},
                        {"clock", "wall"},
                        {"loss", known(last_.loss)},
                        {"gradient_norm", known(last_.gradient_norm)},
                        {"step_time_s", to_seconds(last_.step_time)},
                        {"tokens_per_s", tokens_per_s()},
                        {"predicted_tokens_per_s", std::move(expected)},
                        {"mfu", known(mfu())},
                        {"memory_bytes", memory_.count()},
                        {"skipped_steps", last_.skipped_steps},
                        {"loss_scale", last_.loss_scale},
                        {"time_left_s", to_seconds(time_left())}}
             .dump() +
         "\n";
}

std::string RunHealth::progress_text() const {
  std::string text = fmt::format("step {}/{}  loss {:.4f}  norm {:.3f}  {}  {} tokens/s",
                                 last_.step + 1,
                                 last_.steps,
                                 last_.loss.value_or(0),
                                 last_.gradient_norm.value_or(0),
                                 to_string(last_.step_time),
                                 count_text(tokens_per_s()));
  if (predicted_) {
    text += fmt::format(" (predicted {})", count_text(predicted_->tokens_per_second));
  }
  if (const auto share = mfu()) {
    text += fmt::format("  MFU {}", percent(*share));
  }
  text += fmt::format("  {}", to_string(memory_));
  if (last_.skipped_steps > 0) {
    text += fmt::format("  {} skipped", last_.skipped_steps);
  }
  return text + fmt::format("  {} left", to_string(time_left()));
}

MetricsOutput::MetricsOutput(std::string path, std::ostream& out)
    : path_(std::move(path)), out_(out) {}

void MetricsOutput::add(const std::string& line) {
  if (path_ == "-") {
    out_ << line << std::flush;
    return;
  }
  if (path_.empty()) {
    return;
  }
  lines_ += line;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const std::int64_t now_ms = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  constexpr std::int64_t kPause = 1000;
  if (!written_ms_ || now_ms - *written_ms_ >= kPause) {
    write();
    written_ms_ = now_ms;
  }
}

Result<void> MetricsOutput::finish() {
  if (path_ != "-" && !path_.empty()) {
    write();
  }
  return result_;
}

void MetricsOutput::write() {
  if (result_) {
    result_ = write_file(path_, lines_);
  }
}

}  // namespace stagewright
