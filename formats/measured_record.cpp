#include "formats/measured_record.h"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_reader.h"
#include "formats/measured_figures.h"
#include "formats/measured_run.h"
#include "formats/record_fields.h"

namespace stagewright {
namespace {

using nlohmann::json;

/// JSON has no NaN and no Infinity, but some writers print them: as texts they are read on, and the
/// field that holds one is named.
std::string with_quoted_numbers(std::string_view line) {
  constexpr std::string_view kNan = "NaN";
  constexpr std::string_view kInfinity = "Infinity";
  std::string result;
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::string_view rest = line.substr(i);
    if (!inside && (rest.starts_with(kNan) || rest.starts_with(kInfinity))) {
      const std::string_view word = rest.starts_with(kNan) ? kNan : kInfinity;
      const bool negative = !result.empty() && result.back() == '-';
      if (negative) {
        result.pop_back();
      }
      result += fmt::format("\"{}{}\"", negative ? "-" : "", word);
      i += word.size() - 1;
      continue;
    }
    result += line[i];
    if (line[i] == '\\' && inside && i + 1 < line.size()) {
      result += line[++i];
    } else if (line[i] == '"') {
      inside = !inside;
    }
  }
  return result;
}

void read_assumed(const json& root, RecordFields& top, MeasuredRecord& record) {
  const json* assumed = top.find("assumed_fields");
  if (assumed == nullptr) {
    return;
  }
  if (!assumed->is_array()) {
    top.reject("assumed_fields", "is no list");
    return;
  }
  for (const json& field : root["assumed_fields"]) {
    if (!field.is_string()) {
      top.reject("assumed_fields", "holds what is no text");
      return;
    }
    record.assumed_by_source.push_back(field.get<std::string>());
  }
}

void read_top(const json& root, MeasuredRecord& record, std::string& fault) {
  RecordFields top(root, "", fault);
  record.id = top.text("id").value_or("");
  record.dataset = top.name("dataset").value_or("");
  if (record.id.empty()) {
    top.reject("id", "is not stated");
  }
  if (record.dataset.empty()) {
    top.reject("dataset", "is not stated");
  }
  record.framework = top.name("framework").value_or("");
  record.source = top.text("source").value_or("");
  record.details["notes"] = top.text("notes").value_or("");
  (void)top.text("flops_formula");
  record.quality = top.text("quality").value_or("");
  if (record.quality != "A" && record.quality != "B" && record.quality != "C") {
    top.reject("quality", fmt::format("'{}' is none of A, B, C", record.quality));
  }
  read_assumed(root, top, record);
}

RecordLine read_line(std::string_view line, std::size_t number) {
  RecordLine result{.id = fmt::format("line {}", number)};
  auto parsed = parse_json(with_quoted_numbers(line), result.id);
  if (!parsed || !parsed->is_object()) {
    result.skipped = parsed ? "is no JSON object" : parsed.error().message;
    return result;
  }
  MeasuredRecord record;
  std::string fault;
  read_top(*parsed, record, fault);
  if (!record.id.empty()) {
    result.id = record.id;
  }
  result.dataset = record.dataset;
  if (fault.empty()) {
    read_measured_run(*parsed, record, fault);
  }
  if (fault.empty()) {
    read_measured_figures(*parsed, record, fault);
  }
  if (fault.empty() && record.quality == "C") {
    fault = "quality: C, too uncertain to be held against";
  }
  if (!fault.empty()) {
    result.skipped = std::move(fault);
    return result;
  }
  result.record = std::move(record);
  return result;
}

}  // namespace

std::vector<RecordLine> parse_measured_records(std::string_view text) {
  std::vector<RecordLine> lines;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      lines.push_back(read_line(line, number));
    }
  }
  return lines;
}

}  // namespace stagewright
