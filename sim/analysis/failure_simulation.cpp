#include <algorithm>
#include <cmath>
#include <queue>
#include <random>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "sim/analysis/failure_times.h"
#include "sim/analysis/goodput.h"

namespace stagewright {
namespace {

/// A run in seconds.  Failures happen while it has all of its nodes, whatever it does.
class FailingRun {
 public:
  FailingRun(const FailureModel& model, std::int64_t failures, std::uint64_t seed)
      : mtbf_(model.mtbf.count()),
        work_(to_seconds(model.step_time) * static_cast<double>(steps_between_checkpoints(model))),
        checkpoint_(to_seconds(model.checkpoint_time)),
        restart_(to_seconds(model.restart_time)),
        repair_(to_seconds(model.repair_time)),
        spares_(static_cast<std::size_t>(model.spare_nodes)),
        failures_(failures),
        random_(seed) {}

  [[nodiscard]] Goodput run() {
    fail_at_ = next_failure();
    while (seen_ < failures_) {
      if (lasts(work_ + checkpoint_)) {
        useful_ += work_;
        written_ += checkpoint_;
      } else {
        recover();
      }
    }
    Goodput result;
    result.useful = useful_ / now_;
    result.checkpoint = written_ / now_;
    result.lost = lost_ / now_;
    result.restart = restarted_ / now_;
    result.no_spare = waited_ / now_;
    constexpr double kSecondsPerDay = 86400;
    result.failures_per_day = static_cast<double>(seen_) / now_ * kSecondsPerDay;
    return result;
  }

 private:
  /// Inverse of the exponential distribution, of 53 random bits: not left to the standard library,
  /// whose distributions differ.
  [[nodiscard]] double next_failure() {
    constexpr double kOver53Bits = 1.0 / 9007199254740992.0;
    const double uniform = static_cast<double>(random_() >> 11) * kOver53Bits;
    return now_ - mtbf_ * std::log1p(-uniform);
  }

  /// Whether that much time passes without a failure; with one, it is lost until then.
  bool lasts(double time) {
    if (now_ + time <= fail_at_) {
      now_ += time;
      return true;
    }
    lost_ += fail_at_ - now_;
    now_ = fail_at_;
    ++seen_;
    lose_node();
    fail_at_ = next_failure();
    return false;
  }

  /// Takes a spare node, or waits for one.
  void lose_node() {
    if (repair_ <= 0) {
      return;
    }
    while (!in_repair_.empty() && in_repair_.front() <= now_) {
      in_repair_.pop();
    }
    in_repair_.push(now_ + repair_);
    if (in_repair_.size() > spares_) {
      waited_ += in_repair_.front() - now_;
      now_ = in_repair_.front();
      in_repair_.pop();
    }
  }

  void recover() {
    while (!lasts(restart_)) {
    }
    restarted_ += restart_;
  }

  double mtbf_;
  double work_;
  double checkpoint_;
  double restart_;
  double repair_;
  std::size_t spares_;
  std::int64_t failures_;
  std::mt19937_64 random_;
  std::queue<double> in_repair_;  ///< when each node is back; all take equally long
  double now_ = 0;
  double fail_at_ = 0;
  std::int64_t seen_ = 0;
  double useful_ = 0;
  double written_ = 0;
  double lost_ = 0;
  double restarted_ = 0;
  double waited_ = 0;
};

}  // namespace

Result<Goodput> simulated_goodput(const FailureModel& model,
                                  std::int64_t failures,
                                  std::uint64_t seed) {
  SW_CHECK(failures >= 1, "at least one failure");
  if (auto checked = check_failures(model); !checked) {
    return pass_on(std::move(checked));
  }
  Goodput result = FailingRun(model, failures, seed).run();
  result.interval_steps = steps_between_checkpoints(model);
  result.interval = model.step_time * result.interval_steps;
  return result;
}

}  // namespace stagewright
