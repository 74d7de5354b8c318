#!/usr/bin/env bash
# Fuzzes the readers of files, one after the other, with Clang's libFuzzer under the address and undefined-behaviour
# sanitizers, and ends with a line for each: executions, coverage, findings.
#
#   scripts/fuzz.sh [SECONDS] [TARGET ...]     default: 300 seconds for each target of tests/fuzz/targets.h
#
# Inputs grow in build/fuzz/corpus/TARGET; what breaks a promise lies in build/fuzz/findings/TARGET. To keep such an
# input as a test, put it into tests/fuzz/corpus/TARGET.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"; exit 0 ;; esac

seconds=${1:-300}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || { echo "fuzz.sh: '$seconds' is no number of seconds; see --help" >&2; exit 2; }
(($# == 0)) || shift

scripts/install_deps.sh build test fuzz
mkdir -p build
cmake --preset fuzz >build/fuzz.log 2>&1 || { cat build/fuzz.log; exit 1; }
cmake --build --preset fuzz -j "$(nproc)"
folder=build/fuzz
"$folder"/tests/fuzz/write_seeds "$folder"/seeds
targets=("$@")
if ((${#targets[@]} == 0)); then
  mapfile -t targets < <(ls "$folder"/seeds)
fi

summary=() status=0
for target in "${targets[@]}"; do
  [[ -x $folder/tests/fuzz/fuzz_$target ]] ||
    { echo "fuzz.sh: no target '$target'; there are: $(ls "$folder"/seeds | xargs)" >&2; exit 2; }
  mkdir -p "$folder"/corpus/"$target" "$folder"/findings/"$target"
  dictionary=()
  [[ ! -f tests/fuzz/$target.dict ]] || dictionary=(-dict=tests/fuzz/"$target".dict)
  kept=()
  [[ ! -d tests/fuzz/corpus/$target ]] || kept=(tests/fuzz/corpus/"$target")
  log=$folder/$target.log
  echo "== $target for $seconds s"
  nice "$folder"/tests/fuzz/fuzz_"$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 \
    -print_final_stats=1 -artifact_prefix="$folder"/findings/"$target"/ "${dictionary[@]}" \
    "$folder"/corpus/"$target" "$folder"/seeds/"$target" "${kept[@]}" >"$log" 2>&1 || { status=1; tail -n 40 "$log"; }
  # The last line with coverage, as: #123 DONE cov: 1 ft: 2 corp: 3/4b ...
  coverage=$(grep -o 'cov: [0-9]* ft: [0-9]* corp: [0-9]*' "$log" | tail -n 1)
  summary+=("$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions, ${coverage:-no coverage}, \
$(find "$folder"/findings/"$target" -type f | wc -l) findings")
done
printf '%s\n' "${summary[@]}"
exit "$status"
