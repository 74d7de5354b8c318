#!/usr/bin/env bash
# Writes the pictures of docs/images with the desktop application; needs no display.
#
#   scripts/screenshots.sh [BUILD_FOLDER]     default: build/release
set -euo pipefail
cd "$(dirname "$0")/.."
case ${1:-} in -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"; exit 0 ;; esac
build=${1:-build/release}
gui=$build/gui/app/stagewright-gui
command=$build/cli/stagewright
for program in "$gui" "$command"; do
  [[ -x $program ]] || { echo "screenshots.sh: build $program first (cmake --build $build)" >&2; exit 1; }
done
work=$(mktemp -d)
chmod 700 "$work"
trap 'rm -rf "$work"' EXIT
export XDG_CONFIG_HOME=$work XDG_DATA_HOME=$work XDG_RUNTIME_DIR=$work QT_FONT_DPI=96 LC_ALL=C.UTF-8
mkdir -p docs/images

shot() {
  local name=$1
  shift
  "$gui" "$@" --screenshot "docs/images/$name.png"
  echo "docs/images/$name.png"
}

plan=examples/llama3-70b-128xh100.plan.json
"$command" simulate --schedule zb-h1 --ranks 8 --chunks 16 --transfer 0.1 --trace "$work/zb-h1.swtrace" >"$work/log"
"$command" simulate --schedule interleaved --ranks 4 --chunks 8 --virtual 2 --transfer 0.1 \
  --trace "$work/interleaved.swtrace" >"$work/log"

"$command" simulate --schedule 1f1b --ranks 4 --chunks 8 --transfer 0.1 --trace "$work/even.swtrace" >"$work/log"
"$command" simulate --schedule 1f1b --ranks 4 --chunks 8 --transfer 0.1 --scale-stage 2=1.22 \
  --trace "$work/slow-stage.swtrace" >"$work/log"

shot timeline "$work/zb-h1.swtrace" --critical-path --dock statistics,causes
shot timeline_dark "$work/interleaved.swtrace" --theme dark --dock statistics,causes
shot cluster "$plan" --group-by node
shot memory "$plan" --group-by data --dock memory,statistics --range 0ms:4s
shot search "$work/zb-h1.swtrace" --search "kind:B dur>0.9s rank:2-5" --dock statistics
shot high_contrast "$work/zb-h1.swtrace" --theme high-contrast --dock statistics
shot follow "$work/zb-h1.swtrace" --follow 3 --dock none
shot compare "$work/even.swtrace" --compare "$work/slow-stage.swtrace" --dock compare
shot edit examples/gpt-demo-uneven.plan.json --move-layers 0:1:1 --dock plan,stages,causes
shot explore --model llama3-70b --cluster 8x8xh100-sxm --global-batch 512 --seq 8192
shot start --dock none
