#include "core/base/dtype.h"

#include <array>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/suggest.h"

namespace stagewright {
namespace {

struct Entry {
  DType type;
  std::string_view name;
  int bytes;
};
constexpr std::array<Entry, 6> kEntries{{{DType::kFloat32, "fp32", 4},
                                         {DType::kTf32, "tf32", 4},
                                         {DType::kBFloat16, "bf16", 2},
                                         {DType::kFloat16, "fp16", 2},
                                         {DType::kFloat8, "fp8", 1},
                                         {DType::kInt32, "int32", 4}}};

const Entry& entry_of(DType type) {
  for (const Entry& entry : kEntries) {
    if (entry.type == type) {
      return entry;
    }
  }
  SW_CHECK(false, "a listed element type");
  return kEntries[0];
}

}  // namespace

Bytes size_of(DType type) {
  return Bytes(entry_of(type).bytes);
}

std::string_view name_of(DType type) {
  return entry_of(type).name;
}

Result<DType> parse_dtype(std::string_view name) {
  std::array<std::string_view, kEntries.size()> names{};
  for (std::size_t i = 0; i < kEntries.size(); ++i) {
    if (kEntries[i].name == name) {
      return kEntries[i].type;
    }
    names[i] = kEntries[i].name;
  }
  return fail(ErrorCode::kInvalidInput,
              fmt::format("'{}' is not an element type{}", name, suggestion(name, names)));
}

}  // namespace stagewright
