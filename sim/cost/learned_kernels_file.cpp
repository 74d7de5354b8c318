#include <cmath>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/base/json_reader.h"
#include "sim/cost/learned_kernels.h"

namespace stagewright {
namespace {

void read_numbers(JsonReader& reader, std::string_view key, std::span<double> numbers) {
  const nlohmann::json* const array = reader.raw(key);
  bool good = array != nullptr && array->is_array() && array->size() == numbers.size();
  for (std::size_t i = 0; good && i < numbers.size(); ++i) {
    good = (*array)[i].is_number();
    numbers[i] = good ? (*array)[i].get<double>() : 0;
  }
  if (!good) {
    reader.reject(key, "must be " + std::to_string(numbers.size()) + " numbers");
  }
}

LearnedKernel read_kernel(JsonReader& reader) {
  LearnedKernel kernel;
  kernel.device = reader.text("device");
  const std::string op_class = reader.text("class");
  if (const auto found = op_class_named(op_class)) {
    kernel.op_class = *found;
  } else {
    reader.reject("class", "is no class of operation: matrix, attention");
  }
  if (const auto dtype = parse_dtype(reader.text("dtype"))) {
    kernel.dtype = *dtype;
  } else {
    reader.reject("dtype", "is no element type");
  }
  kernel.intercept = reader.number("intercept");
  read_numbers(reader, "mean", kernel.mean);
  read_numbers(reader, "weights", kernel.weights);
  read_numbers(reader, "least", kernel.least);
  read_numbers(reader, "most", kernel.most);
  read_numbers(reader, "extremes", kernel.extremes);
  if (!reader.failed() && kernel.extremes[0] > kernel.extremes[1]) {
    reader.reject("extremes", "must be in growing order");
  }
  kernel.share = reader.number("share");
  if (!reader.failed() && !(kernel.share > 0 && std::isfinite(kernel.share))) {
    reader.reject("share", "must be above 0");
  }
  kernel.preferred = reader.boolean("preferred");
  return kernel;
}

double rounded(double value) {
  if (value == 0) {
    return 0;
  }
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 7);
  return std::round(value / unit) * unit;
}

template <std::size_t kSize>
nlohmann::ordered_json numbers(const std::array<double, kSize>& values) {
  auto array = nlohmann::ordered_json::array();
  for (const double value : values) {
    array.push_back(rounded(value));
  }
  return array;
}

}  // namespace

Result<std::vector<LearnedKernel>> parse_learned_kernels(std::string_view text,
                                                         std::string_view where) {
  auto json = parse_json(text, where);
  if (!json) {
    return pass_on(std::move(json));
  }
  JsonReader reader(*json, std::string(where));
  std::vector<LearnedKernel> kernels;
  if (reader.integer("version") != 1) {
    reader.reject("version", "is not 1, the only version there is");
  }
  reader.objects("kernels", [&](JsonReader& entry) { kernels.push_back(read_kernel(entry)); });
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  return kernels;
}

std::string to_json_text(const std::vector<LearnedKernel>& kernels) {
  nlohmann::ordered_json json;
  json["version"] = 1;
  json["kernels"] = nlohmann::ordered_json::array();
  for (const LearnedKernel& kernel : kernels) {
    json["kernels"].push_back({{"device", kernel.device},
                               {"class", name_of(kernel.op_class)},
                               {"dtype", name_of(kernel.dtype)},
                               {"preferred", kernel.preferred},
                               {"share", rounded(kernel.share)},
                               {"intercept", rounded(kernel.intercept)},
                               {"mean", numbers(kernel.mean)},
                               {"weights", numbers(kernel.weights)},
                               {"least", numbers(kernel.least)},
                               {"most", numbers(kernel.most)},
                               {"extremes", numbers(kernel.extremes)}});
  }
  return json.dump(2) + "\n";
}

Result<std::vector<LearnedKernel>> load_learned_kernels(const DataFiles& files) {
  constexpr std::string_view kFile = "calibration/kernels.json";
  const auto text = files.find(kFile);
  if (!text) {
    return std::vector<LearnedKernel>{};
  }
  return parse_learned_kernels(*text, files.where(kFile));
}

}  // namespace stagewright
