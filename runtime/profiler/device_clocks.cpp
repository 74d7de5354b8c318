#include "runtime/profiler/device_clocks.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "runtime/libraries/nvml_library.h"

namespace stagewright {

namespace {

/// Why a clock is below its highest, as NVML numbers the causes; an idle device is none.
struct Cause {
  unsigned long long bit = 0;
  std::string_view name;
};
constexpr std::array<Cause, 8> kCauses = {{{0x02, "clocks that were set"},
                                           {0x04, "power cap"},
                                           {0x08, "hardware slowdown"},
                                           {0x10, "sync boost"},
                                           {0x20, "thermal limit"},
                                           {0x40, "hardware thermal slowdown"},
                                           {0x80, "power brake"},
                                           {0x100, "display clocks"}}};

class NvmlClocks final : public DeviceClocks {
 public:
  NvmlClocks(std::shared_ptr<const NvmlLibrary> nvml, NvmlLibrary::Device device)
      : nvml_(std::move(nvml)), device_(device) {
    nvml_->highest_clock(device_, NvmlLibrary::kMultiprocessorClock, &highest_);
  }

  void look() override {
    unsigned mhz = 0;
    unsigned long long causes = 0;
    const bool clock_known = nvml_->clock(device_, NvmlLibrary::kMultiprocessorClock, &mhz) == 0;
    const bool causes_known = nvml_->throttle_reasons(device_, &causes) == 0;
    const std::lock_guard lock(mutex_);
    if (clock_known) {
      least_ = std::min(least_, mhz);
      most_ = std::max(most_, mhz);
    }
    if (causes_known) {
      ++looks_;
      for (std::size_t i = 0; i < kCauses.size(); ++i) {
        met_[i] += (causes & kCauses[i].bit) != 0 ? 1 : 0;
      }
    }
  }

  [[nodiscard]] std::map<std::string, std::string> summary() const override {
    const std::lock_guard lock(mutex_);
    return {{"clocks",
             most_ == 0 ? "not known: NVML tells no clock of this device"
                        : fmt::format("SM {} to {} MHz of {}", least_, most_, highest_)},
            {"throttling", throttling()},
            {"driver", driver()}};
  }

 private:
  [[nodiscard]] std::string throttling() const {
    std::string text;
    for (std::size_t i = 0; i < kCauses.size(); ++i) {
      if (met_[i] > 0) {
        text += fmt::format(
            "{}{} ({} of {} looks)", text.empty() ? "" : ", ", kCauses[i].name, met_[i], looks_);
      }
    }
    if (!text.empty()) {
      return text;
    }
    return looks_ == 0 ? "not known: NVML tells no causes" : "none";
  }

  [[nodiscard]] std::string driver() const {
    std::array<char, 96> version{};
    return nvml_->driver_version(version.data(), version.size()) == 0 ? version.data()
                                                                      : "not known";
  }

  std::shared_ptr<const NvmlLibrary> nvml_;
  NvmlLibrary::Device device_;
  unsigned highest_ = 0;
  mutable std::mutex mutex_;
  unsigned least_ = std::numeric_limits<unsigned>::max();
  unsigned most_ = 0;
  std::int32_t looks_ = 0;
  std::array<std::int32_t, kCauses.size()> met_{};
};

}  // namespace

Result<std::shared_ptr<DeviceClocks>> DeviceClocks::open(const std::string& pci_address,
                                                         const std::string& library) {
  auto nvml = load_nvml(library);
  if (!nvml) {
    return pass_on(std::move(nvml));
  }
  NvmlLibrary::Device device = nullptr;
  if (const int status = (*nvml)->device_at(pci_address.c_str(), &device); status != 0) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format(
            "NVML does not know the device at {}: {}", pci_address, (*nvml)->error_text(status)),
        (*nvml)->file);
  }
  return std::make_shared<NvmlClocks>(*std::move(nvml), device);
}

}  // namespace stagewright
