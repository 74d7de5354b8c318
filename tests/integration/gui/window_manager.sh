# Sourced by tests on a virtual screen.
#
# start_window_manager: starts openbox and returns when it manages the screen, with its process in $manager; a window
# that is mapped before that may never be given the keyboard. Ends the test after 60 s.
start_window_manager() {
  local ready
  ready=$(mktemp -u)
  openbox --startup "touch $ready" &
  manager=$!
  local tries
  for ((tries = 0; tries < 600; ++tries)); do
    if [[ -e $ready ]]; then
      rm "$ready"
      return
    fi
    sleep 0.1
  done
  echo "the window manager did not manage the screen within 60 s"
  exit 1
}
