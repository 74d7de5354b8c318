#include "formats/schedule_vector.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/json_reader.h"

namespace stagewright {
namespace {

using nlohmann::json;

/// An array of whole numbers in 0 .. limit - 1.
Result<std::vector<std::int32_t>> read_indices(const json& array,
                                               std::int64_t limit,
                                               const std::string& where) {
  if (!array.is_array()) {
    return fail(ErrorCode::kInvalidInput, "must be an array of whole numbers", where);
  }
  std::vector<std::int32_t> values;
  for (const json& element : array) {
    if (!element.is_number_integer() || element < 0 || element >= limit) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{} is no whole number from 0 to {}", element.dump(), limit - 1),
                  fmt::format("{}/{}", where, values.size()));
    }
    values.push_back(element.get<std::int32_t>());
  }
  return values;
}

Result<void> check_length(std::size_t length,
                          std::int64_t expected,
                          std::string_view what,
                          const std::string& where) {
  if (static_cast<std::int64_t>(length) != expected) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{}, but {}",
                            counted(static_cast<std::int64_t>(length), "entry"),
                            counted(expected, what)),
                where);
  }
  return {};
}

/// "P, M": those of the keys that it needs and does not have.
std::string missing_keys(const json& root) {
  std::string missing;
  for (const char* key : {"P", "M", "num_stages", "placements", "mb_placement", "ranks"}) {
    if (!root.is_object() || !root.contains(key)) {
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", key);
    }
  }
  return missing;
}

/// Files of our own are told by name: their readers are other commands.
std::string_view kind_of(const json& root) {
  if (!root.is_object()) {
    return "JSON";
  }
  if (const auto format = root.find("format");
      format != root.end() && *format == "stagewright-schedule") {
    return "a plan's lowered schedule, which `run PLAN --schedule FILE` executes";
  }
  return root.contains("model") && root.contains("cluster") ? "a plan, which `simulate PLAN` times"
                                                            : "JSON";
}

class VectorReader {
 public:
  VectorReader(const json& root, std::string where) : root_(root), where_(std::move(where)) {}

  Result<TokenList> read() {
    TokenList list;
    JsonReader reader(root_, where_);
    ranks_ = reader.count("P");
    list.micro_batches = reader.count("M");
    list.stages = reader.count("num_stages");
    for (const auto& [key, value] : root_.items()) {
      reader.ignore(key);
    }
    if (auto done = reader.finish(); !done) {
      return pass_on(std::move(done));
    }
    if (auto placed = read_placements(list); !placed) {
      return pass_on(std::move(placed));
    }
    if (auto listed = read_ranks(list); !listed) {
      return pass_on(std::move(listed));
    }
    return list;
  }

 private:
  [[nodiscard]] std::string at(std::string_view key) const {
    return fmt::format("{}:/{}", where_, key);
  }

  Result<const json*> array(const char* key) {
    const auto found = root_.find(key);
    if (found == root_.end() || !found->is_array()) {
      return fail(ErrorCode::kInvalidInput, "needs an array here", at(key));
    }
    return &*found;
  }

  Result<void> read_placements(TokenList& list) {
    Result<const json*> placements = array("placements");
    if (!placements) {
      return pass_on(std::move(placements));
    }
    if ((*placements)->empty()) {
      return fail(ErrorCode::kInvalidInput,
                  "is empty; list the ranks of the stages, once for each copy of the weights: "
                  "[[0, 1]]",
                  at("placements"));
    }
    for (const json& copy : **placements) {
      const std::string where = fmt::format("{}/{}", at("placements"), list.placement.size());
      Result<std::vector<std::int32_t>> ranks = read_indices(copy, ranks_, where);
      if (!ranks) {
        return pass_on(std::move(ranks));
      }
      if (auto fits = check_length(ranks->size(), list.stages, "stage", where); !fits) {
        return fits;
      }
      list.placement.push_back(*std::move(ranks));
    }
    Result<const json*> micro_batches = array("mb_placement");
    if (!micro_batches) {
      return pass_on(std::move(micro_batches));
    }
    Result<std::vector<std::int32_t>> copies = read_indices(
        **micro_batches, static_cast<std::int64_t>(list.placement.size()), at("mb_placement"));
    if (!copies) {
      return pass_on(std::move(copies));
    }
    list.copy_of = *std::move(copies);
    return check_length(list.copy_of.size(), list.micro_batches, "micro-batch", at("mb_placement"));
  }

  Result<void> read_ranks(TokenList& list) {
    Result<const json*> ranks = array("ranks");
    if (!ranks) {
      return pass_on(std::move(ranks));
    }
    if (auto fits = check_length((*ranks)->size(), ranks_, "rank", at("ranks")); !fits) {
      return fits;
    }
    for (const json& tokens : **ranks) {
      const std::string where = fmt::format("{}/{}", at("ranks"), list.ranks.size());
      if (!tokens.is_array()) {
        return fail(ErrorCode::kInvalidInput, "must be an array of tokens", where);
      }
      std::vector<ListItem> items;
      items.reserve(tokens.size());
      for (const json& token : tokens) {
        const std::string text = token.is_string() ? token.get<std::string>() : std::string();
        const auto item = parse_list_item(text, MarkerRule::kAny);
        if (!item) {
          return fail(ErrorCode::kInvalidInput,
                      fmt::format("{} {}",
                                  token.dump(-1, ' ', false, json::error_handler_t::replace),
                                  token_complaint(text)),
                      fmt::format("{}/{}", where, items.size()));
        }
        items.push_back(*item);
      }
      list.ranks.push_back(std::move(items));
    }
    return {};
  }

  const json& root_;
  std::string where_;
  std::int32_t ranks_ = 0;
};

}  // namespace

Result<TokenList> parse_schedule_vector(std::string_view text, std::string_view where) {
  Result<json> root = parse_json(text, where);
  if (!root) {
    return pass_on(std::move(root));
  }
  if (const std::string missing = missing_keys(*root); !missing.empty()) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("is {}, but no schedule vector: it lacks {}; read are schedule "
                            "vectors (JSON with P, M, num_stages, placements, mb_placement and "
                            "ranks) and CSV of torch.distributed.pipelining, as `schedules emit` "
                            "writes both",
                            kind_of(*root),
                            missing),
                std::string(where));
  }
  return VectorReader(*root, std::string(where)).read();
}

std::string write_schedule_vector(const TokenList& list, std::string_view schedule) {
  const std::size_t per_rank =
      list.ranks.empty() || list.placement.empty()
          ? 1
          : std::max<std::size_t>(
                1,
                static_cast<std::size_t>(list.stages) * list.placement.size() / list.ranks.size());
  std::string text = fmt::format(
      "{{\n  \"schema\": \"schedule-vector/1\",\n  \"schedule\": {},\n  \"kind\": \"{}\",\n"
      "  \"P\": {},\n  \"M\": {},\n  \"V\": {},\n  \"num_stages\": {},\n  \"placements\": {},\n"
      "  \"mb_placement\": {},\n  \"ranks\": [",
      json(schedule).dump(),
      list.has_transfers() ? "comm" : "compute",
      list.ranks.size(),
      list.micro_batches,
      per_rank,
      list.stages,
      json(list.placement).dump(),
      json(list.copy_of).dump());
  for (std::size_t rank = 0; rank < list.ranks.size(); ++rank) {
    std::vector<std::string> tokens;
    for (const ListItem& item : list.ranks[rank]) {
      tokens.push_back(to_string(item));
    }
    text += (rank == 0 ? "\n    " : ",\n    ") + json(tokens).dump();
  }
  return text + "\n  ]\n}\n";
}

}  // namespace stagewright
