#!/usr/bin/env bash
# Holds predictions against measurements on this machine: step time and memory of two ranks of the demo model by every
# plan that they can run (each schedule, tp2 and dp2, 1 to 16 micro-batches, with and without recomputation) in
# interleaved rounds, then the idle share of every rank of a pipeline of four by the virtual clock. Prints tables and
# writes JSON into FOLDER. Exits with 1 if the median error is beyond 5 %, the 90th percentile beyond 10 % (or the
# spread of repeats), memory beyond 3 % or an idle share beyond 3 points.
#
#   scripts/predicted_vs_measured.sh [--clock wall|virtual] [--rounds 3] [--steps 12] [--out FOLDER]
#
# By the wall clock (the default) it wants a quiet machine with two cores; by the virtual clock it does not.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"; exit 0 ;; esac
folder=build/predicted_vs_measured
options=()
while (($# > 0)); do
  case $1 in
    --out) folder=$2; shift 2 ;;
    *) options+=("$1"); shift ;;
  esac
done
scripts/install_deps.sh build
cmake --preset release >/dev/null
cmake --build build/release -j "$(nproc)" --target predicted_vs_measured virtual_idle
program() { find build/release -type f -name "$1" -perm -u+x | head -n 1; }
mkdir -p "$folder"
failed=0
"$(program predicted_vs_measured)" examples/models/gpt-demo.json docs --json "$folder/steps.json" "${options[@]}" || failed=1
"$(program virtual_idle)" examples/models/gpt-demo.json docs --json "$folder/idle.json" || failed=1
exit $failed
