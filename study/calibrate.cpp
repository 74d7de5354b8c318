#include "study/calibrate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <Eigen/Dense>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/step/step_time.h"
#include "study/record_setup.h"
#include "study/step_parameters.h"
#include "study/validate.h"

namespace stagewright {
namespace {

/// Typical error of a good prediction: where the loss turns from quadratic to linear.
constexpr double kScale = 0.05;
/// The same of steps that one user logged on one cluster.
constexpr double kOwnScale = 0.01;
/// A source counts like this many independent records, however many more it has.
constexpr double kSourceRecords = 12;
/// A constant that lies this near to its prior was moved by no record.
constexpr double kUnmoved = 1e-3;
/// Step of the numerical derivative, in the logarithm.
constexpr double kStep = 1e-3;

struct Sample {
  TrainingSetup setup;
  double log_measured = 0;
  std::size_t source = 0;
  double weight = 1;
};

struct Problem {
  std::vector<Sample> samples;
  std::vector<std::string> sources;
  std::set<std::string> classes;
  std::set<std::string> architectures;
};

Result<Problem> collect(const DataFiles& files,
                        const std::vector<RecordLine>& records,
                        const CalibrateOptions& options) {
  Problem problem;
  RecordSetups setups(files);
  std::map<std::string, std::size_t> known;
  std::map<std::size_t, int> counts;
  for (const RecordLine& line : records) {
    if (!line.record || !line.record->iteration_seconds ||
        std::ranges::find(options.without, line.dataset) != options.without.end()) {
      continue;
    }
    auto doubt = doubt_about_time(files, *line.record);
    if (!doubt) {
      return pass_on(std::move(doubt));
    }
    auto setup = setups.setup_of(*line.record);
    if (!doubt->reason.empty() || !setup || !can_price(*setup)) {
      continue;
    }
    // A source's dense and expert models are two populations.
    const std::string name = line.record->run.experts ? line.dataset + " (experts)" : line.dataset;
    const auto [source, added] = known.emplace(name, problem.sources.size());
    if (added) {
      problem.sources.push_back(name);
    }
    ++counts[source->second];
    problem.classes.insert(setup->framework.timing_class);
    problem.architectures.insert(setup->device.architecture);
    problem.samples.push_back({.setup = *std::move(setup),
                               .log_measured = std::log(*line.record->iteration_seconds),
                               .source = source->second});
  }
  if (problem.samples.empty()) {
    return fail(ErrorCode::kInvalidInput,
                "no record can be used: each needs a measured time, a known device and quality A "
                "or B");
  }
  for (Sample& sample : problem.samples) {
    const double count = counts[sample.source];
    const double experts = sample.setup.run.experts ? 0.5 : 1;
    sample.weight = experts * std::min(count, kSourceRecords) / count;
  }
  return problem;
}

bool concerns(const StepParameter& parameter, const Sample& sample) {
  switch (parameter.scope) {
    case StepParameter::Scope::kGlobal:
      return true;
    case StepParameter::Scope::kClass:
      return sample.setup.framework.timing_class == parameter.owner;
    case StepParameter::Scope::kArchitecture:
      return sample.setup.device.architecture == parameter.owner;
  }
  return false;
}

class Fit {
 public:
  Fit(const Problem& problem,
      std::vector<StepParameter> parameters,
      StepConstants start,
      double scale)
      : problem_(&problem),
        parameters_(std::move(parameters)),
        constants_(std::move(start)),
        scale_(scale) {
    for (const StepParameter& parameter : parameters_) {
      value_of(constants_, parameter) = parameter.prior;
    }
  }

  [[nodiscard]] const std::vector<StepParameter>& parameters() const { return parameters_; }
  [[nodiscard]] StepConstants& constants() { return constants_; }

  [[nodiscard]] Eigen::VectorXd residuals(const StepConstants& constants) const {
    Eigen::VectorXd result(static_cast<Eigen::Index>(problem_->samples.size()));
    for (std::size_t i = 0; i < problem_->samples.size(); ++i) {
      result[static_cast<Eigen::Index>(i)] = residual(i, constants);
    }
    return result;
  }

  /// Robust misfit of the records plus the pull of the priors.
  [[nodiscard]] double loss(const StepConstants& constants) const {
    return data_loss(residuals(constants)) + prior_loss(constants);
  }
  [[nodiscard]] double data_loss(const Eigen::VectorXd& residual) const {
    double sum = 0;
    for (std::size_t i = 0; i < problem_->samples.size(); ++i) {
      const double r = residual[static_cast<Eigen::Index>(i)] / scale_;
      sum += problem_->samples[i].weight * 2 * (std::sqrt(1 + r * r) - 1);
    }
    return sum;
  }

  void run(int rounds) {
    Search search{.residual = residuals(constants_)};
    search.best = data_loss(search.residual) + prior_loss(constants_);
    for (int round = 0; round < rounds && improve(search); ++round) {
    }
  }

  [[nodiscard]] Eigen::MatrixXd jacobian(const Eigen::VectorXd& residual) {
    Eigen::MatrixXd slopes =
        Eigen::MatrixXd::Zero(residual.size(), static_cast<Eigen::Index>(parameters_.size()));
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      StepConstants shifted = constants_;
      value_of(shifted, parameters_[p]) *= std::exp(kStep);
      for (std::size_t i = 0; i < problem_->samples.size(); ++i) {
        if (concerns(parameters_[p], problem_->samples[i])) {
          const auto row = static_cast<Eigen::Index>(i);
          slopes(row, static_cast<Eigen::Index>(p)) =
              (this->residual(i, shifted) - residual[row]) / kStep;
        }
      }
    }
    return slopes;
  }

 private:
  [[nodiscard]] double residual(std::size_t i, const StepConstants& constants) const {
    const Sample& sample = problem_->samples[i];
    return std::log(step_time(sample.setup, constants).seconds) - sample.log_measured;
  }

  [[nodiscard]] double prior_loss(const StepConstants& constants) const {
    StepConstants copy = constants;
    double sum = 0;
    for (const StepParameter& parameter : parameters_) {
      const double off = std::log(value_of(copy, parameter) / parameter.prior) / parameter.spread;
      sum += off * off;
    }
    return sum;
  }

  /// Where the iteration stands.
  struct Search {
    Eigen::VectorXd residual;
    double best = 0;
    double damping = 1e-2;
  };

  /// A step that lowers the loss, damped more each time that it does not.  False where none does,
  /// or only a little.
  bool improve(Search& search) {
    constexpr int kAttempts = 6;
    const Eigen::MatrixXd slopes = jacobian(search.residual);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const StepConstants trial = moved(step(slopes, search.residual, search.damping));
      Eigen::VectorXd residual = residuals(trial);
      const double value = data_loss(residual) + prior_loss(trial);
      if (value < search.best) {
        const bool small = search.best - value < 1e-4 * search.best;
        constants_ = trial;
        search.residual = std::move(residual);
        search.best = value;
        search.damping = std::max(1e-6, search.damping / 3);
        return !small;
      }
      search.damping *= 4;
    }
    return false;
  }

  /// One damped Gauss-Newton step of the reweighted problem.
  [[nodiscard]] Eigen::VectorXd step(const Eigen::MatrixXd& slopes,
                                     const Eigen::VectorXd& residual,
                                     double damping) {
    const auto count = static_cast<Eigen::Index>(parameters_.size());
    Eigen::VectorXd weight(residual.size());
    for (Eigen::Index i = 0; i < residual.size(); ++i) {
      const double r = residual[i] / scale_;
      weight[i] = problem_->samples[static_cast<std::size_t>(i)].weight /
                  (scale_ * scale_ * std::sqrt(1 + r * r));
    }
    Eigen::MatrixXd normal = slopes.transpose() * weight.asDiagonal() * slopes;
    Eigen::VectorXd pull = -slopes.transpose() * weight.asDiagonal() * residual;
    for (Eigen::Index p = 0; p < count; ++p) {
      const StepParameter& parameter = parameters_[static_cast<std::size_t>(p)];
      const double stiffness = 1 / (parameter.spread * parameter.spread);
      pull[p] -= stiffness * std::log(value_of(constants_, parameter) / parameter.prior);
      normal(p, p) += stiffness;
      normal(p, p) *= 1 + damping;
    }
    return normal.ldlt().solve(pull);
  }

  [[nodiscard]] StepConstants moved(const Eigen::VectorXd& by) const {
    StepConstants result = constants_;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      const double limited = std::clamp(by[static_cast<Eigen::Index>(p)], -0.4, 0.4);
      value_of(result, parameters_[p]) *= std::exp(limited);
    }
    return result;
  }

  const Problem* problem_;
  std::vector<StepParameter> parameters_;
  StepConstants constants_;
  double scale_;
};

/// Datasets by how strongly the parameter moves their predictions.
std::vector<std::string> movers(const Problem& problem,
                                const Eigen::MatrixXd& slopes,
                                Eigen::Index parameter) {
  std::vector<double> strength(problem.sources.size());
  for (std::size_t i = 0; i < problem.samples.size(); ++i) {
    const double slope = slopes(static_cast<Eigen::Index>(i), parameter);
    strength[problem.samples[i].source] += problem.samples[i].weight * slope * slope;
  }
  const double strongest = *std::ranges::max_element(strength);
  std::vector<std::size_t> order;
  for (std::size_t s = 0; s < strength.size(); ++s) {
    if (strongest > 0 && strength[s] > 0.1 * strongest) {
      order.push_back(s);
    }
  }
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return strength[a] > strength[b]; });
  std::vector<std::string> names;
  names.reserve(order.size());
  for (const std::size_t s : order) {
    names.push_back(problem.sources[s]);
  }
  return names;
}

/// How far a constant can move alone before the loss has grown by 2 %.
double edge(Fit& fit, const StepParameter& parameter, double loss, double direction) {
  StepConstants constants = fit.constants();
  const double start = value_of(constants, parameter);
  double low = 0;
  double high = 1.5;
  for (int i = 0; i < 7; ++i) {
    const double middle = (low + high) / 2;
    value_of(constants, parameter) = start * std::exp(direction * middle);
    (fit.data_loss(fit.residuals(constants)) < 1.02 * loss ? low : high) = middle;
  }
  return start * std::exp(direction * low);
}

/// The priors, and the learned prices that stand before the formula.
Result<StepConstants> unfitted(const DataFiles& files) {
  StepConstants constants = prior_step_constants();
  auto learned = load_learned_kernels(files);
  if (!learned) {
    return pass_on(std::move(learned));
  }
  constants.learned = *std::move(learned);
  return constants;
}

/// A source to leave out must be there: a slip in its name would leave nothing out.
Result<void> check_sources(const std::vector<RecordLine>& records,
                           const std::vector<std::string>& without) {
  std::set<std::string> known;
  for (const RecordLine& line : records) {
    known.insert(line.dataset);
  }
  known.erase("");
  for (const std::string& name : without) {
    if (!known.contains(name)) {
      return fail(
          ErrorCode::kInvalidInput,
          fmt::format(
              "no record is of source '{}'; the sources are {}", name, fmt::join(known, ", ")),
          "--without");
    }
  }
  return {};
}

}  // namespace

Result<Calibration> calibrate(const DataFiles& files,
                              const std::vector<RecordLine>& records,
                              const CalibrateOptions& options) {
  if (auto known = check_sources(records, options.without); !known) {
    return pass_on(std::move(known));
  }
  auto problem = collect(files, records, options);
  if (!problem) {
    return pass_on(std::move(problem));
  }
  const auto& start = options.start;
  auto base = unfitted(files);
  if (!base) {
    return pass_on(std::move(base));
  }
  if (start) {
    std::erase_if(problem->architectures,
                  [&](const std::string& name) { return !start->architectures.contains(name); });
  } else {
    problem->classes.erase("generic");
  }
  Fit fit(*problem,
          start ? cluster_parameters(*start, problem->architectures)
                : step_parameters(problem->classes, problem->architectures),
          start ? *start : *std::move(base),
          start ? kOwnScale : kScale);
  fit.run(options.rounds);
  Calibration calibration;
  const Eigen::VectorXd residual = fit.residuals(fit.constants());
  const Eigen::MatrixXd slopes = fit.jacobian(residual);
  const double loss = fit.data_loss(residual);
  for (std::size_t p = 0; p < fit.parameters().size(); ++p) {
    const StepParameter& parameter = fit.parameters()[p];
    FittedConstant fitted{.name = parameter.name,
                          .value = value_of(fit.constants(), parameter),
                          .prior = parameter.prior};
    fitted.low = fitted.value;
    fitted.high = fitted.value;
    if (options.without.empty()) {
      fitted.low = edge(fit, parameter, loss, -1);
      fitted.high = edge(fit, parameter, loss, 1);
    }
    fitted.sources = movers(*problem, slopes, static_cast<Eigen::Index>(p));
    if (std::abs(fitted.value / fitted.prior - 1) < kUnmoved) {
      calibration.undetermined.push_back(fitted.name);
      continue;
    }
    calibration.fitted.push_back(std::move(fitted));
  }
  calibration.constants = fit.constants();
  if (!start) {
    set_defaults(calibration.constants, problem->classes, problem->architectures);
  }
  calibration.sources = problem->sources;
  calibration.records = static_cast<int>(problem->samples.size());
  calibration.loss = loss;
  return calibration;
}

}  // namespace stagewright
