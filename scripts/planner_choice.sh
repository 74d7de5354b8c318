#!/usr/bin/env bash
# Holds the planner's choice against this machine: profiles the demo model, then trains by every plan that the search
# knows for two ranks and that can run, in interleaved rounds, and compares the plan that the planner names first with
# the fastest one measured; the same for four ranks by the virtual clock, where of the plans predicted slower than the
# first hundred every 20th runs. Prints the rank correlation over all plans and writes JSON into FOLDER. Exits with 1 if
# a choice costs more than 3 % and more than the spread of repeats.
#
#   scripts/planner_choice.sh [--rounds 3] [--steps 6] [--out FOLDER]
#
# Two ranks want a quiet machine with two cores, for about ten minutes; four ranks do not.
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"; exit 0 ;; esac
folder=build/planner_choice
options=()
while (($# > 0)); do
  case $1 in
    --out) folder=$2; shift 2 ;;
    *) options+=("$1"); shift ;;
  esac
done
scripts/install_deps.sh build
cmake --preset release >/dev/null
cmake --build build/release -j "$(nproc)" --target stagewright planner_choice
program() { find build/release -type f -name "$1" -perm -u+x | head -n 1; }
mkdir -p "$folder"
failed=0
# choice RANKS CLOCK [OPTION ...]
choice() {
  local ranks=$1 clock=$2
  shift 2
  "$(program stagewright)" profile --model examples/models/gpt-demo.json --ranks "$ranks" --seq 64 --clock "$clock" \
    --out "$folder/profile-$ranks.json"
  "$(program planner_choice)" examples/models/gpt-demo.json docs "$folder/profile-$ranks.json" --ranks "$ranks" \
    --clock "$clock" --json "$folder/choice-$ranks.json" "$@" "${options[@]}" || failed=1
}
choice 2 wall
choice 4 virtual --every 20
exit $failed
