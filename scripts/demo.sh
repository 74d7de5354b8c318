#!/usr/bin/env bash
# Shows the whole of Stagewright on this machine's CPU: measures it, chooses a plan for a small GPT model on two ranks,
# predicts its step, trains the model with it (on the project's own documentation) and sets predicted beside measured.
# Installs what is missing and builds first.
#
#   scripts/demo.sh [FOLDER]     what it writes; default build/demo/out
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"; exit 0 ;; esac
out=${1:-build/demo/out}

scripts/install_deps.sh build
mkdir -p build/demo "$out"
echo "Building stagewright in build/demo"
cmake --preset release -B build/demo -DSTAGEWRIGHT_BUILD_TESTS=OFF -DSTAGEWRIGHT_WITH_GUI=OFF \
  -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$PWD/build/demo/bin" >build/demo/configure.log 2>&1 ||
  { cat build/demo/configure.log; exit 1; }
cmake --build build/demo -j "$(nproc)" --target stagewright

stagewright() {
  printf '\n$ stagewright %s\n' "$*"
  build/demo/bin/stagewright "$@"
}
stagewright profile --model examples/models/gpt-demo.json --ranks 2 --seq 128 --out "$out/profile.json"
stagewright plan --model examples/models/gpt-demo.json --cluster 1x2xcpu --profile "$out/profile.json" \
  --global-batch 8 --seq 128 --out "$out/best.plan.json"
stagewright simulate "$out/best.plan.json" --profile "$out/profile.json" --trace "$out/predicted.json"
stagewright run "$out/best.plan.json" --data docs --steps 20 --trace "$out/measured.json"
stagewright compare "$out/predicted.json" "$out/measured.json"
