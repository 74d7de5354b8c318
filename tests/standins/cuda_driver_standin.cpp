// A stand-in for the driver, for cuDNN itself: it takes compiled code and knows no device.  So
// cuDNN makes its plans to the end for a device that is described to it; none can run.

namespace {

constexpr int kSuccess = 0;
constexpr int kNoDevice = 100;
char loaded[2];

}  // namespace

extern "C" {

int cuLibraryLoadData(void** library) {
  *library = loaded;
  return kSuccess;
}
int cuLibraryGetKernel(void** kernel) {
  *kernel = loaded + 1;
  return kSuccess;
}
int cuLibraryUnload(void* /*library*/) {
  return kSuccess;
}
int cuKernelSetAttribute() {
  return kSuccess;
}
int cuKernelGetAttribute(int* value) {
  *value = 0;
  return kSuccess;
}

// What it looks up, and has no use for.
#define STANDIN_NO_DEVICE(name) \
  int name() {                  \
    return kNoDevice;           \
  }
STANDIN_NO_DEVICE(cuCtxGetCurrent)
STANDIN_NO_DEVICE(cuCtxGetLimit)
STANDIN_NO_DEVICE(cuCtxPopCurrent)
STANDIN_NO_DEVICE(cuCtxPushCurrent)
STANDIN_NO_DEVICE(cuDeviceGet)
STANDIN_NO_DEVICE(cuDeviceGetCount)
STANDIN_NO_DEVICE(cuDriverGetVersion)
STANDIN_NO_DEVICE(cuGetErrorName)
STANDIN_NO_DEVICE(cuGetErrorString)
STANDIN_NO_DEVICE(cuLaunchCooperativeKernel)
STANDIN_NO_DEVICE(cuLaunchKernel)
STANDIN_NO_DEVICE(cuLaunchKernelEx)
STANDIN_NO_DEVICE(cuLibraryLoadFromFile)
STANDIN_NO_DEVICE(cuLinkAddData)
STANDIN_NO_DEVICE(cuLinkComplete)
STANDIN_NO_DEVICE(cuLinkCreate)
STANDIN_NO_DEVICE(cuLinkDestroy)
STANDIN_NO_DEVICE(cuOccupancyMaxPotentialClusterSize)
STANDIN_NO_DEVICE(cuStreamGetCtx)
#undef STANDIN_NO_DEVICE
}
