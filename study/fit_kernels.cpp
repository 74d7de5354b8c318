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
#include "sim/cost/analytical_compute.h"
#include "study/statistics.h"

namespace stagewright {
namespace {

constexpr int kFolds = 8;
constexpr std::array<double, 3> kRidges{0.1, 1, 10};

/// Points of one device, class and element size; fold i holds every eighth group.
struct Series {
  DeviceType device;
  std::vector<const MeasuredKernel*> points;
  Eigen::MatrixXd features;
  Eigen::VectorXd target;      ///< log(measured / ideal)
  Eigen::VectorXd analytical;  ///< log(analytical / measured)
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

void set_numbers(Series& series) {
  const auto count = static_cast<Eigen::Index>(series.points.size());
  series.features.resize(count, kShapeFeatures);
  series.target.resize(count);
  series.analytical.resize(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const MeasuredKernel& point = *series.points[static_cast<std::size_t>(i)];
    const auto features = shape_features(point.op, series.device);
    const auto ideal = ideal_seconds(point.op, series.device);
    SW_CHECK(features && ideal, "a class of operation and a rate that a series was made for");
    series.features.row(i) = Eigen::Map<const Eigen::RowVectorXd>(features->data(), kShapeFeatures);
    series.target(i) = std::log(point.seconds / *ideal);
    series.analytical(i) =
        std::log(to_seconds(compute_time(point.op, series.device)) / point.seconds);
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
      others.push_back(series.analytical(row));
    }
    for (const Eigen::Index row : rows_where(series, [&](int at) { return at == fold; })) {
      scaled.push_back(series.analytical(row) - (others.empty() ? 0 : median(others)));
    }
  }
  fit.learned = error_of(learned);
  fit.scaled = error_of(scaled);
  fit.analytical = error_of({series.analytical.begin(), series.analytical.end()});
}

KernelFit fit_series(Series& series) {
  set_folds(series);
  set_numbers(series);
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
  fit.kernel.preferred =
      fit.learned.median < fit.analytical.median && fit.learned.mean < fit.analytical.mean;
  return fit;
}

}  // namespace

Result<std::vector<KernelFit>> fit_kernels(const DataFiles& files,
                                           const std::vector<MeasuredKernel>& measured) {
  std::map<std::tuple<std::string, OpClass, std::int64_t>, Series> series;
  for (const MeasuredKernel& point : measured) {
    auto device = find_device(files, point.device);
    if (!device) {
      return pass_on(std::move(device));
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
      fits.push_back(fit_series(points));
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

}  // namespace stagewright
