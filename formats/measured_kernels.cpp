#include "formats/measured_kernels.h"

#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_reader.h"

namespace stagewright {
namespace {

/// Larger sizes than any operation has: a slip in the file.
constexpr double kLargestSize = 1e8;

struct Column {
  std::string_view name;
  std::int64_t OpShape::*size;
};
constexpr std::array<Column, 8> kColumns{{{"rows", &OpShape::rows},
                                          {"cols", &OpShape::cols},
                                          {"inner", &OpShape::inner},
                                          {"batch", &OpShape::batch},
                                          {"sequence", &OpShape::sequence},
                                          {"heads", &OpShape::heads},
                                          {"kv_heads", &OpShape::kv_heads},
                                          {"head_dim", &OpShape::head_dim}}};

/// The sizes that the columns but the last name; nothing where one is unknown or the last is not
/// the rate.
std::optional<std::vector<std::int64_t OpShape::*>> sizes_of(
    const std::vector<std::string>& columns) {
  if (columns.size() < 2 || columns.back() != "tflops") {
    return std::nullopt;
  }
  std::vector<std::int64_t OpShape::*> sizes;
  for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
    for (const Column& column : kColumns) {
      if (column.name == columns[i]) {
        sizes.push_back(column.size);
      }
    }
  }
  return sizes.size() + 1 == columns.size() ? std::optional(sizes) : std::nullopt;
}

bool read_point(const nlohmann::json& point,
                const std::vector<std::int64_t OpShape::*>& sizes,
                MeasuredKernel& kernel) {
  if (!point.is_array() || point.size() != sizes.size() + 1) {
    return false;
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!point[i].is_number_integer() || !(point[i].get<double>() >= 1) ||
        point[i].get<double>() > kLargestSize) {
      return false;
    }
    kernel.op.shape.*sizes[i] = point[i].get<std::int64_t>();
  }
  const double rate = point.back().is_number() ? point.back().get<double>() * 1e12 : 0;
  kernel.seconds = rate > 0 ? flops_of(kernel.op).count() / rate : 0;
  return kernel.seconds > 0 && std::isfinite(kernel.seconds);
}

Result<void> read_series(std::string_view line,
                         const std::string& where,
                         std::vector<MeasuredKernel>& kernels) {
  auto json = parse_json(line, where);
  if (!json) {
    return pass_on(std::move(json));
  }
  JsonReader reader(*json, where);
  MeasuredKernel kernel;
  kernel.dataset = reader.text("dataset");
  reader.ignore("source");
  kernel.device = reader.text("device");
  const auto kind = op_kind_named(reader.text("operation"));
  if (kind == OpKind::kGemm || kind == OpKind::kAttentionForward ||
      kind == OpKind::kAttentionBackward) {
    kernel.op.kind = *kind;
  } else {
    reader.reject("operation", "must be gemm, attention-forward or attention-backward");
  }
  if (const auto dtype = parse_dtype(reader.text("dtype"))) {
    kernel.op.dtype = *dtype;
  } else {
    reader.reject("dtype", "is no element type");
  }
  kernel.op.transpose_a = reader.boolean_or("transpose_a", false);
  kernel.op.transpose_b = reader.boolean_or("transpose_b", false);
  kernel.op.accumulate = reader.boolean_or("accumulate", false);
  kernel.op.causal = reader.boolean_or("causal", false);
  const auto sizes = sizes_of(reader.texts("columns"));
  if (!sizes) {
    reader.reject("columns", "must be sizes (rows, cols, inner, ...) and at last tflops");
  }
  const nlohmann::json* const points = reader.raw("points");
  if (points == nullptr || !points->is_array()) {
    reader.reject("points", "must be an array of points");
  }
  for (std::size_t i = 0; !reader.failed() && i < points->size(); ++i) {
    if (!read_point((*points)[i], *sizes, kernel)) {
      reader.reject("points",
                    fmt::format("point {} is no list of positive sizes and a positive rate", i));
    } else {
      kernels.push_back(kernel);
    }
  }
  return reader.finish();
}

}  // namespace

Result<std::vector<MeasuredKernel>> parse_measured_kernels(std::string_view text,
                                                           std::string_view where) {
  std::vector<MeasuredKernel> kernels;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    if (auto done = read_series(line, fmt::format("{}:{}", where, number), kernels); !done) {
      return pass_on(std::move(done));
    }
  }
  return kernels;
}

}  // namespace stagewright
