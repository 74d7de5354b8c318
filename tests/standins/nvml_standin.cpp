// A stand-in for NVML, the driver's monitor: one device, at the address of the CUDA stand-in's
// first one, whose clock falls with every look, from its highest, while the power cap holds it down
// in every second.

#include <atomic>
#include <cstdio>
#include <cstring>

namespace {

constexpr unsigned kHighest = 1980;
constexpr unsigned kFall = 15;
constexpr int kNotFound = 6;
std::atomic<unsigned> looks = 0;

}  // namespace

extern "C" {

int nvmlInit_v2() {
  looks = 0;
  return 0;
}

int nvmlSystemGetDriverVersion(char* version, unsigned length) {
  std::snprintf(version, length, "580.0");
  return 0;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  *device = &looks;
  return std::strcmp(address, "00000000:01:00.0") == 0 ? 0 : kNotFound;
}

int nvmlDeviceGetClockInfo(void* /*device*/, unsigned /*clock*/, unsigned* mhz) {
  *mhz = kHighest - kFall * looks++;
  return 0;
}

int nvmlDeviceGetMaxClockInfo(void* /*device*/, unsigned /*clock*/, unsigned* mhz) {
  *mhz = kHighest;
  return 0;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void* /*device*/, unsigned long long* reasons) {
  *reasons = looks % 2 == 0 ? 0x4 : 0x1;
  return 0;
}

const char* nvmlErrorString(int status) {
  return status == kNotFound ? "Not Found" : "Success";
}
}
