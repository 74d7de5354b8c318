#!/usr/bin/env bash
# Runs a test program of the desktop application on a virtual screen with a window manager, where windows are activated,
# resized and drawn as on a desk.
#
#   on_display.sh TEST_PROGRAM [ARGUMENT ...]
#
# Ends with 77 where what it needs is not installed (scripts/install_deps.sh display).
set -euo pipefail
for tool in xvfb-run openbox; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed; run scripts/install_deps.sh display"; exit 77; }
done
export QT_QPA_PLATFORM=xcb LC_ALL=C.UTF-8
xvfb-run -a -s "-screen 0 1600x1000x24 -noreset" bash -c '
  source "$1/window_manager.sh"
  shift
  start_window_manager
  status=0
  "$@" || status=$?
  kill "$manager" 2>/dev/null || true
  exit "$status"' on_display "$(dirname "$(readlink -f "$0")")" "$@"
