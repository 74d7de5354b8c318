#!/usr/bin/env bash
# Installs the packages that Stagewright needs on Debian 12 or Ubuntu 24.04. What is there already is left alone, and
# with nothing missing neither root nor a network is needed.
#
#   scripts/install_deps.sh [GROUP ...]     default: build
#
#   build     compiler, CMake, ccache and the libraries of the command stagewright
#   test      GoogleTest
#   mpi       Open MPI, for the MPI communicator
#   gui       Qt 6, for the desktop application
#   display   a virtual screen with a window manager and accessibility, for tests of the desktop application
#   cluster   Slurm and network namespaces, for the tests of real clusters (systemd may start munge)
#   bench     Google Benchmark
#   peers     other simulators that benchmarks compare with
#   lint      clang-format and clang-tidy 14
#   fuzz      Clang 14 with libFuzzer and the sanitizers
set -euo pipefail

packages_of() {
  case $1 in
    build) echo "g++ make cmake ninja-build ccache git libboost-graph-dev libcli11-dev libdnnl-dev libeigen3-dev" \
      "libexpected-dev libfmt-dev libspdlog-dev libtbb-dev libtomlplusplus-dev libxxhash-dev libyaml-cpp-dev" \
      "nlohmann-json3-dev zlib1g-dev" ;;
    test) echo "libgtest-dev libgmock-dev" ;;
    mpi) echo "libopenmpi-dev openmpi-bin" ;;
    gui) echo "qt6-base-dev qt6-svg-dev qt6-l10n-tools qt6-tools-dev qt6-tools-dev-tools fonts-dejavu-core" ;;
    display) echo "xvfb xauth openbox xdotool at-spi2-core dbus-x11 python3-pyatspi gir1.2-atspi-2.0" ;;
    cluster) echo "slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge iproute2 util-linux" ;;
    bench) echo "libbenchmark-dev" ;;
    peers) echo "libsimgrid-dev" ;;
    lint) echo "clang-format-14 clang-tidy-14" ;;
    fuzz) echo "clang-14" ;;
    -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0" >&2; return 2 ;;
    *) echo "install_deps.sh: no group '$1'; known: build test mpi gui display cluster bench peers lint fuzz" >&2; return 2 ;;
  esac
}

is_installed() { [[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null) == ii* ]]; }

(($# > 0)) || set -- build
missing=()
for group in "$@"; do
  packages=$(packages_of "$group")
  for package in $packages; do
    # On another system we cannot tell what is there; the configure step will.
    if command -v dpkg-query >/dev/null && ! is_installed "$package"; then missing+=("$package"); fi
  done
done
if ! command -v dpkg-query >/dev/null; then
  echo "install_deps.sh: not Debian or Ubuntu; nothing installed, see CONTRIBUTING.md for what is needed" >&2
  exit 0
fi
((${#missing[@]} > 0)) || exit 0

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "install_deps.sh: needs root or sudo to run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "Installing ${missing[*]}"
apt_get=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 -o Dpkg::Use-Pty=0)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${apt_get[@]}" update && "${apt_get[@]}" install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "install_deps.sh: the packages above could not be installed" >&2
  exit 1
fi
