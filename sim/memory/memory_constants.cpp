#include "sim/memory/memory_constants.h"

#include <nlohmann/json.hpp>

#include "core/base/json_reader.h"

namespace stagewright {
namespace {

constexpr std::string_view kFile = "calibration/memory.json";

}  // namespace

const std::array<MemoryConstantInfo, kMemoryConstantCount>& memory_constant_infos() {
  static constexpr std::array<MemoryConstantInfo, kMemoryConstantCount> kInfos{{
      {MemoryConstant::kStaticReserve,
       "static_reserve",
       "reserved over allocated bytes, of parameters, gradients and optimizer state",
       1.02,
       1.0,
       1.1},
      {MemoryConstant::kExpandableReserve,
       "expandable_reserve",
       "reserved over allocated bytes of activations and buffers, expandable segments",
       1.02,
       1.0,
       1.2},
      {MemoryConstant::kCachingReserve,
       "caching_reserve",
       "the same with the caching allocator's defaults (4 to 9 % on B200, MooreThreads/SimuMax)",
       1.06,
       1.02,
       1.4},
      {MemoryConstant::kFragmentingReserve,
       "fragmenting_reserve",
       "the same where long-lived blocks lie between blocks of changing size",
       1.2,
       1.0,
       1.6},
      {MemoryConstant::kCommunicatorMegabytes,
       "communicator_megabytes",
       "driver memory per kind of communicator, MB",
       300,
       0,
       1000},
      {MemoryConstant::kWorkspaceMegabytes,
       "workspace_megabytes",
       "library workspaces and small buffers inside the allocator, MB",
       100,
       60,
       140},
  }};
  return kInfos;
}

MemoryConstants prior_memory_constants() {
  MemoryConstants constants;
  for (const MemoryConstantInfo& info : memory_constant_infos()) {
    constants[info.constant] = info.prior;
  }
  return constants;
}

Result<MemoryConstants> parse_memory_constants(std::string_view text, std::string_view where) {
  auto json = parse_json(text, where);
  if (!json) {
    return pass_on(std::move(json));
  }
  MemoryConstants constants = prior_memory_constants();
  JsonReader reader(*json, std::string(where));
  if (reader.integer("version") != 1 && !reader.failed()) {
    reader.reject("version", "is not 1, the only version there is");
  }
  reader.ignore("description");
  reader.object("constants", [&constants](JsonReader& values) {
    for (const MemoryConstantInfo& info : memory_constant_infos()) {
      const double value = values.number_or(info.name, info.prior);
      if (!(value >= info.least && value <= info.most)) {
        values.reject(info.name, "is outside the range that a calibration allows");
      }
      constants[info.constant] = value;
    }
  });
  if (auto done = reader.finish(); !done) {
    return pass_on(std::move(done));
  }
  return constants;
}

std::string to_json_text(const MemoryConstants& constants) {
  nlohmann::ordered_json json;
  json["version"] = 1;
  for (const MemoryConstantInfo& info : memory_constant_infos()) {
    json["constants"][std::string(info.name)] = constants[info.constant];
  }
  return json.dump(2) + "\n";
}

Result<MemoryConstants> load_memory_constants(const DataFiles& files) {
  const auto text = files.find(kFile);
  return text ? parse_memory_constants(*text, files.where(std::string(kFile)))
              : Result<MemoryConstants>(prior_memory_constants());
}

}  // namespace stagewright
