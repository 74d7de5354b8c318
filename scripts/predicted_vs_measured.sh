#!/usr/bin/env bash
# Holds predicted step times against measured ones on this machine: pp2, tp2 and dp2 on two ranks, 4 and 8
# micro-batches each, in interleaved rounds. Wants a quiet machine. Exits with 1 if a prediction is more than 15 %
# off.
#
#   scripts/predicted_vs_measured.sh [--rounds 5] [--steps 8] [--json FILE]
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"; exit 0 ;; esac
scripts/install_deps.sh build
cmake --preset release >/dev/null
cmake --build build/release -j "$(nproc)" --target predicted_vs_measured
program=$(find build/release -type f -name predicted_vs_measured -perm -u+x | head -n 1)
"$program" examples/models/gpt-demo.json docs "$@"
