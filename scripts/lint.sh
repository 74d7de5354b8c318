#!/usr/bin/env bash
# Checks layout (clang-format, all files) and code (clang-tidy, the files changed against origin/main, or against the
# commit before where there is no such branch).
#
#   scripts/lint.sh [--all] [FILE.cpp ...]     --all: clang-tidy over everything; FILE: over these
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"; exit 0 ;; esac

scripts/install_deps.sh build test lint
echo "clang-format"
git ls-files -z '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -0 clang-format-14 --dry-run --Werror

# A changed header is checked through the source file of the same name.
changed_sources() {
  local base
  base=$(git merge-base origin/main HEAD 2>/dev/null || git rev-parse HEAD~1)
  [[ $base != "$(git rev-parse HEAD)" ]] || base=$(git rev-parse HEAD~1)
  git diff --name-only --diff-filter=d "$base" -- '*.cpp' '*.h' | sed 's/\.h$/.cpp/' | sort -u |
    while read -r file; do if [[ -f $file ]]; then echo "$file"; fi; done
}
if [[ ${1:-} == --all ]]; then
  mapfile -t sources < <(git ls-files '*.cpp')
elif (($# > 0)); then
  sources=("$@")
else
  mapfile -t sources < <(changed_sources)
fi
((${#sources[@]} > 0)) || exit 0

cmake --preset dev >build/lint.log 2>&1 || { cat build/lint.log; exit 1; }
cmake --build --preset dev --target stagewright_core >/dev/null
echo "clang-tidy over ${#sources[@]} files"
printf '%s\0' "${sources[@]}" | xargs -0 -n 1 -P "$(nproc)" clang-tidy-14 --quiet -p build/dev
