"""Reads and drives the desktop application through AT-SPI; see accessibility.sh."""

import subprocess
import sys
import time

import pyatspi

LIMIT = 40  # seconds to wait for anything


def wait_for(what, look):
    """The first result of `look` that is not None; ends the test when it takes too long."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        try:
            # Nothing here hears of changes, so what is known of the objects grows old.
            if application() is not None:
                application().clear_cache()
            found = look()
        except Exception:  # objects come and go while they are looked at
            found = None
        if found is not None:
            return found
        time.sleep(0.1)
    shown = []
    find(application(), lambda o: o.getRole() == pyatspi.ROLE_LABEL and shown.append(o.name))
    sys.exit(f"waited {LIMIT} s for {what}; labels: {shown}")


def find(root, match, depth=12):
    """The first object below `root` for which `match` holds."""
    for child in root:
        if child is None:
            continue
        if match(child):
            return child
        if depth > 0:
            found = find(child, match, depth - 1)
            if found is not None:
                return found
    return None


def application():
    for app in pyatspi.Registry.getDesktop(0):
        if app is not None and app.name.startswith("stagewright-gui"):
            return app
    return None


def press(*keys):
    subprocess.run(["xdotool", "key", "--clearmodifiers", *keys], check=True)


def expect(condition, message):
    if not condition:
        sys.exit(message)
    print("ok:", message)


app = wait_for("the application", application)


def chart():
    return find(app, lambda o: o.getRole() == pyatspi.ROLE_CHART and o.childCount > 0)


timeline = wait_for("the timeline with its rows", chart)
rows = [timeline.getChildAtIndex(i).name for i in range(timeline.childCount)]
expect(rows[0] == "rank 0", f"the plan is open, rows are accessible: {rows[:3]} ...")

press("ctrl+f")
field = wait_for(
    "the search field",
    lambda: find(app, lambda o: o.name == "Find actions" and o.getState().contains(pyatspi.STATE_FOCUSED)),
)
subprocess.run(["xdotool", "type", "--delay", "20", "F3"], check=True)
press("Return")
selected = wait_for(
    "the selected action",
    lambda: find(app, lambda o: o.getRole() == pyatspi.ROLE_LABEL and "forward of micro-batch 3" in o.name),
)
expect("rank 0 stage 0" in selected.name, f"the found action is read: {selected.name}")

press("Escape")
press("Right")
after = wait_for(
    "the next action",
    lambda: find(
        app,
        lambda o: o.getRole() == pyatspi.ROLE_LABEL and o.name.startswith("rank 0 stage 0") and o.name != selected.name,
    ),
)
expect(True, f"an arrow key goes on: {after.name}")
