#!/usr/bin/env bash
# Installs what is missing, builds and runs every test, and ends with the line "N passed, N failed".
#
#   scripts/test.sh [--quick] [--cluster]
#
#   --quick     the optimized build only; leaves out the address, undefined-behaviour and thread sanitizers
#   --cluster   also the tests that need Slurm or network namespaces; installs them, starts their daemons for the
#               tests and stops them after, so it needs root
set -euo pipefail
cd "$(dirname "$0")/.."

quick=0 cluster=0
for argument in "$@"; do
  case $argument in
    --quick) quick=1 ;;
    --cluster) cluster=1 ;;
    -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) echo "test.sh: unknown argument '$argument'; see scripts/test.sh --help" >&2; exit 2 ;;
  esac
done

passed=0 failed=0 skipped=0
jobs=$(nproc)

step() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS"; }

# build PRESET [OPTION ...] -- TARGET ...
build() {
  local preset=$1 options=()
  shift
  while [[ $1 != -- ]]; do options+=("$1"); shift; done
  shift
  step "build $preset: $*"
  cmake --preset "$preset" "${options[@]}" >"build/$preset.log" 2>&1 || { cat "build/$preset.log"; return 1; }
  sed -n '/^-- Stagewright/,/^-- $/p' "build/$preset.log"
  cmake --build --preset "$preset" -j "$jobs" --target "$@"
}

# The number that the summary in ctest's report gives for a word.
count() { sed -n "s/.*[[:space:]]$2=\"\([0-9]*\)\".*/\1/p" "$1" | head -n 1; }

# run_tests TEST_PRESET: one ctest run, added to the totals.
run_tests() {
  step "test $1"
  local report=$PWD/build/$1.xml
  rm -f "$report"
  # The lines of what passed are left to the report; the summary comes at the end.
  ctest --preset "$1" -j "$jobs" --output-junit "$report" | grep -vE '^ +Start |   Passed  ' || true
  if [[ ! -s $report ]]; then
    failed=$((failed + 1))
    return
  fi
  local all bad left_out
  all=$(count "$report" tests) bad=$(count "$report" failures)
  left_out=$(($(count "$report" skipped) + $(count "$report" disabled)))
  failed=$((failed + bad)) skipped=$((skipped + left_out)) passed=$((passed + all - bad - left_out))
}

# A build that fails is one failure, and its tests do not run.
build_and_test() {
  if build "$@"; then run_tests "$1"; else failed=$((failed + 1)); fi
}

mkdir -p build
step "packages"
groups=(build test gui)
if ((cluster)); then groups+=(mpi cluster); fi
scripts/install_deps.sh "${groups[@]}"

build_and_test release -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -- all header_probes
if ((cluster)); then run_tests cluster; fi
if ((!quick)); then
  build_and_test asan -- test_programs
  build_and_test tsan -- runtime_tests training_tests
fi

step "all"
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
