#include "cli/measured_files.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/file.h"

namespace stagewright {

Result<std::vector<RecordLine>> read_records(const std::vector<std::string>& paths) {
  std::vector<RecordLine> records;
  for (const std::string& path : paths) {
    auto text = read_file(path);
    if (!text) {
      return pass_on(std::move(text));
    }
    std::ranges::move(parse_measured_records(*text), std::back_inserter(records));
  }
  return records;
}

Result<std::vector<MeasuredKernel>> read_kernels(const std::vector<std::string>& paths) {
  std::vector<MeasuredKernel> kernels;
  for (const std::string& path : paths) {
    auto text = read_file(path);
    if (!text) {
      return pass_on(std::move(text));
    }
    auto read = parse_measured_kernels(*text, path);
    if (!read) {
      return pass_on(std::move(read));
    }
    std::ranges::move(*read, std::back_inserter(kernels));
  }
  return kernels;
}

}  // namespace stagewright
