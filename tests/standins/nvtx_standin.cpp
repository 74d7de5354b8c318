// A stand-in for a profiler that NVTX tells of ranges: keeps, per thread, the names of the ranges
// that began and ended, in order, as "[rank 0] +2F0 -".

#include <mutex>
#include <string>

#include <nvtx3/nvToolsExt.h>

namespace {

std::mutex mutex;
std::string told;

/// The calling thread's part of the story, which it appends at its end.
struct Thread {
  std::string name = "?";
  std::string story;
  ~Thread() {
    if (!story.empty()) {
      const std::lock_guard lock(mutex);
      told += "[" + name + "]" + story + "\n";
    }
  }
};
thread_local Thread thread;

int NVTX_API push(const char* message) {
  thread.story += std::string(" +") + message;
  return 0;
}
int NVTX_API pop() {
  thread.story += " -";
  return 0;
}
void NVTX_API name_thread(std::uint32_t /*thread*/, const char* name) {
  thread.name = name;
}

}  // namespace

extern "C" {

/// What NVTX calls in the library that NVTX_INJECTION64_PATH names; 1 if it is to be used.
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) {
    return 0;
  }
  *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(&push);
  *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(&pop);
  *table[NVTX_CBID_CORE_NameOsThreadA] = reinterpret_cast<NvtxFunctionPointer>(&name_thread);
  return 1;
}

/// A line for each thread that has ended, since the last call.
const char* standin_nvtx_told() {
  static std::string copy;
  const std::lock_guard lock(mutex);
  copy.swap(told);
  told.clear();
  return copy.c_str();
}
}
