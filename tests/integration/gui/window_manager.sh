# Sourced by tests on a virtual screen, whose server must not reset itself (-noreset): it would turn away who connects
# while it does, after its first client has left.
#
# start_window_manager: starts openbox and returns when it manages the screen, with its process in $manager; a window
# that is mapped before that may never be given the keyboard. Ends the test after 60 s.
start_window_manager() {
  local ready tries
  ready=$(mktemp -u)
  manager=
  for ((tries = 0; tries < 600; ++tries)); do
    if [[ -e $ready ]]; then
      rm "$ready"
      return
    fi
    # It ends where it cannot reach the screen.
    if [[ -z $manager ]] || ! kill -0 "$manager" 2>/dev/null; then
      openbox --startup "touch $ready" &
      manager=$!
    fi
    sleep 0.1
  done
  echo "the window manager did not manage the screen within 60 s"
  exit 1
}
