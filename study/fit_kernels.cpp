#include "study/fit_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <Eigen/Dense>

#include "core/base/check.h"
#include "core/cluster/cluster.h"
#include "core/training/framework.h"
#include "sim/cost/calibrated_cost.h"
#include "study/record_names.h"
#include "study/statistics.h"
#include "study/step_parameters.h"
#include "study/validate.h"

namespace stagewright {
namespace {

constexpr int kFolds = 8;
constexpr std::array<double, 3> kRidges{0.1, 1, 10};

/// Points of one device, class and element size; fold i holds every eighth group.
struct Series {
  DeviceType device;
  std::vector<const MeasuredKernel*> points;
  Eigen::MatrixXd features;
  Eigen::VectorXd target;   ///< log(measured / ideal)
  Eigen::VectorXd formula;  ///< log(calibrated price / measured)
  std::vector<int> fold;
  int groups = 0;
};

using GroupKey = std::array<std::int64_t, 8>;

GroupKey group_of(const OpShape& shape) {
  GroupKey key{shape.rows,
               shape.cols,
               shape.inner,
               shape.batch,
               shape.sequence,
               shape.heads,
               shape.kv_heads,
               shape.head_dim};
  for (std::int64_t& size : key) {
    size = std::llround(std::log2(static_cast<double>(size)));
  }
  return key;
}

void set_folds(Series& series) {
  std::map<GroupKey, int> groups;
  for (const MeasuredKernel* point : series.points) {
    groups.emplace(group_of(point->op.shape), 0);
  }
  int next = 0;
  for (auto& [key, fold] : groups) {
    fold = next++ % kFolds;
  }
  series.groups = next;
  for (const MeasuredKernel* point : series.points) {
    series.fold.push_back(groups.at(group_of(point->op.shape)));
  }
}

void set_numbers(Series& series, const CostModel& cost) {
  const auto count = static_cast<Eigen::Index>(series.points.size());
  series.features.resize(count, kShapeFeatures);
  series.target.resize(count);
  series.formula.resize(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const MeasuredKernel& point = *series.points[static_cast<std::size_t>(i)];
    const auto features = shape_features(point.op, series.device);
    const auto ideal = ideal_seconds(point.op, series.device);
    SW_CHECK(features && ideal, "a class of operation and a rate that a series was made for");
    series.features.row(i) = Eigen::Map<const Eigen::RowVectorXd>(features->data(), kShapeFeatures);
    series.target(i) = std::log(point.seconds / *ideal);
    series.formula(i) =
        std::log(to_seconds(cost.operation(point.op, series.device).time) / point.seconds);
  }
}

/// Of logarithms of predicted over measured.
KernelError error_of(const std::vector<double>& logs) {
  std::vector<double> errors;
  double sum = 0;
  for (const double log : logs) {
    errors.push_back(std::abs(std::exp(log) - 1));
    sum += errors.back();
  }
  return {median(errors), sum / static_cast<double>(errors.size())};
}

std::vector<Eigen::Index> rows_where(const Series& series, const auto& wanted) {
  std::vector<Eigen::Index> rows;
  for (std::size_t i = 0; i < series.fold.size(); ++i) {
    if (wanted(series.fold[i])) {
      rows.push_back(static_cast<Eigen::Index>(i));
    }
  }
  return rows;
}

/// (Z'Z + ridge n / 100) w = Z'y on standardised features; weights for the features as they are.
LearnedKernel solve(const Series& series, const std::vector<Eigen::Index>& rows, double ridge) {
  Eigen::MatrixXd features = series.features(rows, Eigen::all);
  const Eigen::VectorXd target = series.target(rows);
  const Eigen::RowVectorXd mean = features.colwise().mean();
  features.rowwise() -= mean;
  const auto count = static_cast<double>(rows.size());
  Eigen::RowVectorXd scale = (features.colwise().squaredNorm() / count).cwiseSqrt();
  for (double& value : scale) {
    value = value < 1e-9 ? 1 : value;  // the same everywhere: no weight
  }
  features.array().rowwise() /= scale.array();
  LearnedKernel kernel;
  kernel.intercept = target.mean();
  Eigen::MatrixXd normal = features.transpose() * features;
  normal.diagonal().array() += ridge * count / 100;
  const Eigen::VectorXd weights =
      normal.ldlt().solve(features.transpose() * (target.array() - kernel.intercept).matrix());
  for (std::size_t i = 0; i < kShapeFeatures; ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    kernel.mean[i] = mean(at);
    kernel.weights[i] = weights(at) / scale(at);
  }
  kernel.extremes = {target.minCoeff(), target.maxCoeff()};
  return kernel;
}

double log_predicted(const LearnedKernel& kernel, const Series& series, Eigen::Index row) {
  double sum = kernel.intercept;
  for (std::size_t i = 0; i < kShapeFeatures; ++i) {
    sum +=
        kernel.weights[i] * (series.features(row, static_cast<Eigen::Index>(i)) - kernel.mean[i]);
  }
  return std::clamp(sum, kernel.extremes[0], kernel.extremes[1]);
}

/// Adds log(predicted / measured) of `fold`, fitted without it and without `other`.
void add_left_out(
    const Series& series, int fold, int other, double ridge, std::vector<double>& logs) {
  const auto used = rows_where(series, [&](int at) { return at != fold && at != other; });
  const auto left = rows_where(series, [&](int at) { return at == fold; });
  if (used.empty() || left.empty()) {
    return;
  }
  const LearnedKernel kernel = solve(series, used, ridge);
  for (const Eigen::Index row : left) {
    logs.push_back(log_predicted(kernel, series, row) - series.target(row));
  }
}

/// The ridge that does best on folds left out among those other than `without`.
double best_ridge(const Series& series, int without) {
  double best = kRidges.front();
  double least = 0;
  for (const double ridge : kRidges) {
    std::vector<double> logs;
    for (int fold = 0; fold < kFolds; ++fold) {
      if (fold != without) {
        add_left_out(series, fold, without, ridge, logs);
      }
    }
    const double error = logs.empty() ? 0 : error_of(logs).median;
    if (ridge == kRidges.front() || error < least) {
      least = error;
      best = ridge;
    }
  }
  return best;
}

void cross_validate(const Series& series, KernelFit& fit) {
  std::vector<double> learned;
  std::vector<double> scaled;
  for (int fold = 0; fold < kFolds; ++fold) {
    add_left_out(series, fold, fold, best_ridge(series, fold), learned);
    std::vector<double> others;
    for (const Eigen::Index row : rows_where(series, [&](int at) { return at != fold; })) {
      others.push_back(series.formula(row));
    }
    for (const Eigen::Index row : rows_where(series, [&](int at) { return at == fold; })) {
      scaled.push_back(series.formula(row) - (others.empty() ? 0 : median(others)));
    }
  }
  fit.learned = error_of(learned);
  fit.scaled = error_of(scaled);
  fit.formula = error_of({series.formula.begin(), series.formula.end()});
}

KernelFit fit_series(Series& series, const StepConstants& alone, const CostModel& cost) {
  set_folds(series);
  set_numbers(series, cost);
  KernelFit fit;
  const auto all = rows_where(series, [](int) { return true; });
  fit.kernel = solve(series, all, best_ridge(series, -1));
  fit.kernel.device = series.device.name;
  fit.kernel.op_class = class_of(series.points.front()->op.kind);
  fit.kernel.dtype = series.points.front()->op.dtype;
  for (std::size_t i = 0; i < fit.kernel.least.size(); ++i) {
    fit.kernel.least[i] = series.features.col(static_cast<Eigen::Index>(i)).minCoeff();
    fit.kernel.most[i] = series.features.col(static_cast<Eigen::Index>(i)).maxCoeff();
  }
  fit.points = static_cast<int>(series.points.size());
  fit.groups = series.groups;
  cross_validate(series, fit);
  // A price falls with the share that it is reckoned at.
  const double own = median({series.formula.begin(), series.formula.end()});
  fit.kernel.share = alone.architectures.at(series.device.architecture).matrix * std::exp(own);
  return fit;
}

}  // namespace

Result<std::vector<KernelFit>> fit_kernels(const DataFiles& files,
                                           const std::vector<MeasuredKernel>& measured,
                                           const StepConstants& constants) {
  const auto framework = find_framework(files, "stagewright");
  if (!framework) {
    return tl::unexpected<Error>(framework.error());
  }
  StepConstants alone = isolated_constants(constants);
  alone.learned.clear();
  const auto cost = make_calibrated_cost(alone, *framework);
  std::map<std::tuple<std::string, OpClass, std::int64_t>, Series> series;
  for (const MeasuredKernel& point : measured) {
    auto device = find_device(files, point.device);
    if (!device) {
      return pass_on(std::move(device));
    }
    if (!alone.architectures.contains(device->architecture)) {
      return fail(ErrorCode::kInvalidInput,
                  "names no architecture that is calibrated",
                  "device " + device->name);
    }
    if (!shape_features(point.op, *device) || !ideal_seconds(point.op, *device)) {
      return fail(ErrorCode::kInvalidInput,
                  "has no peak rate for " + std::string(name_of(point.op.dtype)),
                  "device " + device->name);
    }
    Series& own = series[{device->name, class_of(point.op.kind), size_of(point.op.dtype).count()}];
    own.device = *std::move(device);
    own.points.push_back(&point);
  }
  std::vector<KernelFit> fits;
  for (auto& [key, points] : series) {
    if (points.points.size() >= static_cast<std::size_t>(kFewestPoints)) {
      fits.push_back(fit_series(points, alone, *cost));
    }
  }
  if (fits.empty()) {
    return fail(ErrorCode::kInvalidInput,
                "no device has " + std::to_string(kFewestPoints) +
                    " points of one class of operation and element size",
                "measured kernels");
  }
  return fits;
}

Result<void> judge_kernels(const DataFiles& files,
                           const std::vector<RecordLine>& records,
                           StepConstants constants,
                           std::vector<KernelFit>& fits) {
  const MemoryConstants memory = prior_memory_constants();
  for (KernelFit& fit : fits) {
    std::vector<RecordLine> own;
    for (const RecordLine& line : records) {
      if (line.record && device_named(files, line.record->device)
                                 .map([&](const DeviceType& device) { return device.name; })
                                 .value_or("") == fit.kernel.device) {
        own.push_back(line);
      }
    }
    const auto errors = [&](bool preferred) -> Result<std::vector<double>> {
      constants.learned = {fit.kernel};
      constants.learned.front().preferred = preferred;
      auto report = validate(files, own, constants, memory);
      if (!report) {
        return pass_on(std::move(report));
      }
      std::vector<double> result;
      for (const AccuracyRow& row : report->rows) {
        if (is_timed(row)) {
          result.push_back(std::abs(*row.predicted_seconds / *row.measured_seconds - 1));
        }
      }
      return result;
    };
    const auto formula = errors(false);
    const auto learned = errors(true);
    if (!formula || !learned) {
      return tl::unexpected<Error>(formula ? learned.error() : formula.error());
    }
    fit.steps = static_cast<int>(formula->size());
    fit.step_formula = formula->empty() ? 0 : median(*formula);
    fit.step_learned = learned->empty() ? 0 : median(*learned);
    const auto better = [&](const KernelError& other) {
      return fit.learned.median < other.median && fit.learned.mean < other.mean;
    };
    fit.kernel.preferred = better(fit.formula) && better(fit.scaled) && fit.steps >= kFewestSteps &&
                           fit.step_learned <= fit.step_formula;
  }
  return {};
}

}  // namespace stagewright
