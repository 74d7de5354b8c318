/// write_seeds FOLDER: writes FOLDER/TARGET/seed-N for every target.

#include <cstdio>
#include <filesystem>
#include <string>

#include "core/base/file.h"
#include "targets.h"

int main(int count, char** values) {
  if (count != 2) {
    std::fputs("usage: write_seeds FOLDER\n", stderr);
    return 2;
  }
  for (const stagewright::FuzzTarget& target : stagewright::fuzz_targets()) {
    const std::filesystem::path folder = std::filesystem::path(values[1]) / target.name;
    if (const auto made = stagewright::make_folders(folder); !made) {
      std::fprintf(stderr, "%s\n", made.error().to_string().c_str());
      return 1;
    }
    int number = 0;
    for (const std::string& seed : target.seeds()) {
      const auto written =
          stagewright::write_file(folder / ("seed-" + std::to_string(number++)), seed);
      if (!written) {
        std::fprintf(stderr, "%s\n", written.error().to_string().c_str());
        return 1;
      }
    }
  }
  return 0;
}
