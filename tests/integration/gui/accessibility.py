"""Reads and drives the desktop application through AT-SPI; see accessibility.sh."""

import subprocess
import sys
import time

import pyatspi

LIMIT = 120  # seconds to wait for anything


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


# Keys that are pressed before the window manager has given the window the keyboard go nowhere.
wait_for(
    "the window to have the keyboard",
    lambda: find(app, lambda o: o.getRole() == pyatspi.ROLE_FRAME and o.getState().contains(pyatspi.STATE_ACTIVE)),
)


def find_actions(text):
    """Types into the search of actions and goes to the first that it finds."""
    press("ctrl+f")
    wait_for(
        "the search field",
        lambda: find(app, lambda o: o.name == "Find actions" and o.getState().contains(pyatspi.STATE_FOCUSED)),
    )
    subprocess.run(["xdotool", "type", "--delay", "20", text], check=True)
    press("Return")


def label(match):
    return find(app, lambda o: o.getRole() == pyatspi.ROLE_LABEL and match(o.name))


find_actions("F3")
selected = wait_for("the selected action", lambda: label(lambda name: "forward of micro-batch 3" in name))
expect("rank 0 stage 0" in selected.name, f"the found action is read: {selected.name}")
found = selected.name

press("Escape")
press("Right")
after = wait_for("the next action", lambda: label(lambda name: name.startswith("rank 0 stage 0") and name != found))
expect(True, f"an arrow key goes on: {after.name}")

# A search of plans, set up, started and read without a look at the screen.
press("ctrl+n")


def named(role, name):
    return find(app, lambda o: o.getRole() == role and o.name.replace("&", "") == name)


def set_number(name, number):
    box = wait_for(f"the field {name}", lambda: named(pyatspi.ROLE_SPIN_BUTTON, name))
    box.queryValue().currentValue = number
    wait_for(f"{name} to be {number}", lambda: box if box.queryValue().currentValue == number else None)


wait_for("the field of the model", lambda: named(pyatspi.ROLE_COMBO_BOX, "llama3-8b"))
press("alt+d")
wait_for(
    "the focus on it",
    lambda: find(
        app, lambda o: o.getRole() == pyatspi.ROLE_COMBO_BOX and o.getState().contains(pyatspi.STATE_FOCUSED)
    ),
)
subprocess.run(["xdotool", "type", "--delay", "20", "gpt2"], check=True)
wait_for("the size of the model", lambda: label(lambda name: " M parameters" in name))
set_number("Nodes", 1)
set_number("Devices of a node", 4)
set_number("Batch", 8)
start = wait_for("the button that searches", lambda: named(pyatspi.ROLE_PUSH_BUTTON, "Search plans"))
start.queryAction().doAction(0)
verdict = wait_for("the end of the search", lambda: label(lambda name: "no plan can be more than" in name))
expect(True, f"what the search came to is read: {verdict.name}")
table = wait_for("the table of plans", lambda: named(pyatspi.ROLE_TABLE, "Plans"))
cells = table.queryTable()
best = [cells.getAccessibleAt(0, column).name for column in range(4)]
expect(best[0] == "1", f"the best plan stands first: {best}")
plot = wait_for("the plot", lambda: find(app, lambda o: o.name == "Step time against memory"))
expect("a step" in plot.description, f"the plot says what is chosen: {plot.description}")

find_actions("F0")
selected = wait_for("an action of the plan found", lambda: label(lambda name: "forward of micro-batch 0" in name))
row = wait_for(
    "its row",
    lambda: find(timeline, lambda o: o.getState().contains(pyatspi.STATE_SELECTED)),
)
expect(row.description == selected.name, f"the row {row.name} says it too")
