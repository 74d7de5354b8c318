#!/usr/bin/env bash
# Simulates one and the same 1F1B step with SimGrid and with the event engine, checks that both
# find the same makespan, and prints how many compute actions a second each does: the best of five runs of SimGrid, of
# twenty of the event engine, whose runs are over in a millisecond.
#
#   scripts/simgrid_ratio.sh [BUILD_FOLDER] [RANKS] [CHUNKS]
#
# Needs libsimgrid-dev and an optimized build folder (cmake --preset release).
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
ranks=${2:-16}
chunks=${3:-256}

cmake --build "$build" --target event_1f1b simgrid_1f1b >&2
theirs=$(for _ in 1 2 3 4 5; do "$build/bench/peers/simgrid_1f1b" "$ranks" "$chunks" 2>/dev/null; done |
  sort -k 11 -n -r | head -n 1)
ours=$("$build/bench/peers/event_1f1b" "$ranks" "$chunks")
printf '%s\n%s\n' "$theirs" "$ours"

printf '%s\n%s\n' "$theirs" "$ours" | awk '
  { makespan[$1] = $7; rate[$1] = $11 }
  END {
    difference = makespan["stagewright"] / makespan["simgrid"] - 1
    if (difference < 0) difference = -difference
    if (!(difference < 1e-6)) {
      printf "the makespans differ by %g\n", difference
      exit 1
    }
    printf "same makespan (to %.1e); %.0f times as many compute actions a second\n",
           difference, rate["stagewright"] / rate["simgrid"]
  }'
