#!/usr/bin/env bash
# Starts the desktop application on a virtual screen with a window manager, and reads and drives it as a screen reader
# does: opens a plan, searches, selects an action and reads its text; then searches plans and reads what was found
# (accessibility.py).
#
#   accessibility.sh STAGEWRIGHT_GUI PLAN
#
# Ends with 77 where what it needs is not installed (scripts/install_deps.sh display).
set -euo pipefail
gui=$1 plan=$2
here=$(dirname "$(readlink -f "$0")")
for tool in xvfb-run dbus-run-session openbox xdotool; do
  command -v "$tool" >/dev/null || { echo "skipped: $tool is not installed; run scripts/install_deps.sh display"; exit 77; }
done
# Debian's packages belong to its own Python.
python=""
for candidate in python3 /usr/bin/python3; do
  if [[ -z $python ]] && "$candidate" -c 'import pyatspi' 2>/dev/null; then python=$candidate; fi
done
[[ -n $python ]] || { echo "skipped: pyatspi is not installed; run scripts/install_deps.sh display"; exit 77; }

work=$(mktemp -d)
chmod 700 "$work"
trap 'rm -rf "$work"' EXIT
export XDG_CONFIG_HOME=$work/config XDG_DATA_HOME=$work/data XDG_RUNTIME_DIR=$work QT_QPA_PLATFORM=xcb QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1 \
  LC_ALL=C.UTF-8 GTK_MODULES= NO_AT_BRIDGE=1
cat >"$work/session" <<'SESSION'
gui=$1 plan=$2 here=$3 python=$4
/usr/libexec/at-spi-bus-launcher --launch-immediately &
bus=$!
source "$here/window_manager.sh"
start_window_manager
"$gui" "$plan" &
program=$!
status=0
"$python" "$here/accessibility.py" || status=$?
kill "$program" "$manager" "$bus" 2>/dev/null || true
wait "$program" 2>/dev/null || true
exit "$status"
SESSION
xvfb-run -a -s "-screen 0 1600x1000x24 -noreset" dbus-run-session -- bash "$work/session" "$gui" "$plan" "$here" "$python"
