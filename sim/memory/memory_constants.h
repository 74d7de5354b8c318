#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/data_files.h"
#include "core/base/result.h"

namespace stagewright {

/// What the closed form of memory knows beyond formulas, device files and framework profiles.
enum class MemoryConstant : std::uint8_t {
  kStaticReserve,      ///< reserved over allocated bytes of what lives for the whole run
  kExpandableReserve,  ///< the same of what comes and goes, by AllocatorUse
  kCachingReserve,
  kFragmentingReserve,
  kCommunicatorMegabytes,  ///< of driver memory per kind of group, beyond the device's context
  kWorkspaceMegabytes,     ///< allocated by matrix libraries and for small buffers
};
inline constexpr std::size_t kMemoryConstantCount =
    static_cast<std::size_t>(MemoryConstant::kWorkspaceMegabytes) + 1;

/// Name, meaning, prior and limits of a constant.
struct MemoryConstantInfo {
  MemoryConstant constant{};
  std::string_view name;
  std::string_view meaning;
  double prior = 1;
  double least = 0;  ///< a calibration stays between these
  double most = 0;
};
[[nodiscard]] const std::array<MemoryConstantInfo, kMemoryConstantCount>& memory_constant_infos();

struct MemoryConstants {
  std::array<double, kMemoryConstantCount> values{};
  friend bool operator==(const MemoryConstants&, const MemoryConstants&) = default;

  [[nodiscard]] double operator[](MemoryConstant constant) const {
    return values[static_cast<std::size_t>(constant)];
  }
  double& operator[](MemoryConstant constant) { return values[static_cast<std::size_t>(constant)]; }
};

/// What is assumed before any measurement.
[[nodiscard]] MemoryConstants prior_memory_constants();

/// A calibration file: {"version": 1, "constants": {"static_reserve": 1.03, ...}}.  Constants that
/// are absent keep their prior; unknown names are errors.
[[nodiscard]] Result<MemoryConstants> parse_memory_constants(std::string_view text,
                                                             std::string_view where);
[[nodiscard]] std::string to_json_text(const MemoryConstants& constants);

/// profiles/calibration/memory.json; the priors where there is none.
[[nodiscard]] Result<MemoryConstants> load_memory_constants(const DataFiles& files);

}  // namespace stagewright
