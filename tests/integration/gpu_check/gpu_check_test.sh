#!/usr/bin/env bash
# Tests scripts/gpu_check.sh and scripts/pack_gpu_check.sh on a machine without a GPU.
#
#   gpu_check_test.sh PART STAGEWRIGHT GPU_CHECK CUDART CUBLASLT NCCL
#
# The last three are the stand-ins of the tests.
set -uo pipefail
part=$1 stagewright=$2 gpu_check=$3
root=$(cd "$(dirname "$0")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0

# expect WHAT COMMAND ...: the command succeeds.
expect() {
  local what=$1
  shift
  "$@" || { echo "WRONG: $what"; wrong=1; }
}
says() { grep -qF -- "$2" "$1"; }

mkdir "$work/bin"
ln -s "$stagewright" "$work/bin/stagewright"
ln -s "$gpu_check" "$work/bin/gpu_check"
run_check() { "$root/scripts/gpu_check.sh" --programs "$work/bin" --small --out "$work/report" "$@" >"$work/log" 2>&1; }

over_the_standins() {
  export STAGEWRIGHT_CUDART_LIBRARY=$4 STAGEWRIGHT_CUBLASLT_LIBRARY=$5 STAGEWRIGHT_NCCL_LIBRARY=$6
  STAGEWRIGHT_CUDNN_LIBRARY=$(dirname "$4")/libstandin_cudnn.so
  export STAGEWRIGHT_CUDNN_LIBRARY
  export GPU_CHECK_DEVICE_TYPE=h200 STANDIN_NCCL_FOLDER=$work
  run_check
  local code=$?
  cat "$work/log"
  expect "all that runs passes ($code)" test "$code" = 0
  local report
  report=$(echo "$work"/report/*-stand-in-0.md)
  for step in machine kernels losses nccl prediction speed-gpt2-350m-like speed-llama-like; do
    expect "$step passed" says "$report" "| $step | passed |"
  done
  expect "the report has a JSON file, too" test -s "${report%.md}.json"

  # A step that fails is reported, and the others run.
  STAGEWRIGHT_CUBLASLT_LIBRARY=/no/such/library.so run_check
  code=$?
  expect "a failure is told by the exit code ($code)" test "$code" = 1
  expect "kernels failed" says "$report" "| kernels | failed | cuBLASLt is missing"
  expect "losses ran" says "$report" "| losses | failed | 0 of 9 plans"
  expect "the machine is described" says "$report" "| machine | passed |"

  # What did not run is said.
  run_check --limit 1
  code=$?
  expect "what could not run is no failure ($code)" test "$code" = 0
  expect "kernels did not run" says "$report" "* kernels: the 1 s for all steps were over"
}

without_a_gpu() {
  STAGEWRIGHT_CUDART_LIBRARY=/no/such/library.so run_check
  local code=$?
  cat "$work/log"
  expect "the exit code says that there is no GPU ($code)" test "$code" = 3
  expect "the text says it, too" says "$work/log" "no GPU here, so nothing was checked: error: the CUDA runtime is missing"
  expect "there is no report" test ! -e "$work/report"
  "$root/scripts/gpu_check.sh" --no-such-argument >"$work/log" 2>&1
  expect "unknown arguments are refused" test $? = 2
}

# A step that hangs is ended, and said to have.
hanging() {
  export STAGEWRIGHT_CUDART_LIBRARY=$4 STAGEWRIGHT_CUBLASLT_LIBRARY=$5 STAGEWRIGHT_NCCL_LIBRARY=$6
  STAGEWRIGHT_CUDNN_LIBRARY=$(dirname "$4")/libstandin_cudnn.so
  export STAGEWRIGHT_CUDNN_LIBRARY
  rm "$work/bin/gpu_check"
  printf '#!/usr/bin/env bash\nif [[ $1 == kernels ]]; then tail -f /dev/null; fi\nexec "%s" "$@"\n' "$gpu_check" \
    >"$work/bin/gpu_check"
  chmod +x "$work/bin/gpu_check"
  run_check --limit 6
  local code=$?
  cat "$work/log"
  expect "a hang is a failure ($code)" test "$code" = 1
  expect "it is said" grep -q '| kernels | failed | did not end within' "$work"/report/*.md
}

# The programs come from a package, in an environment that knows nothing of this build or of CUDA.
packed() {
  mkdir "$work/build"
  cp -L "$work/bin/stagewright" "$work/bin/gpu_check" "$work/build"
  expect "it is packed" "$root/scripts/pack_gpu_check.sh" --build "$work/build" "$work/package.tar.gz"
  expect "it is below 60 MB" test "$(stat -c %s "$work/package.tar.gz")" -lt 60000000
  tar -C "$work" -xzf "$work/package.tar.gz"
  for program in "$work"/gpu_check/bin/*; do
    expect "$program links nothing of CUDA" bash -c "! ldd '$program' | grep -E 'libcud|libcublas|libnccl'"
  done
  env -i PATH=/usr/bin:/bin HOME="$work" STAGEWRIGHT_CUDART_LIBRARY=/no/such/library.so \
    "$work/gpu_check/scripts/gpu_check.sh" >"$work/log" 2>&1
  local code=$?
  cat "$work/log"
  expect "the packed program starts and finds no GPU ($code)" test "$code" = 3
  expect "it says so" says "$work/log" "no GPU here"
  # The same with the libraries that it carries instead of the machine's.
  expect "it starts with the libraries that it carries" env -i PATH=/usr/bin:/bin \
    LD_LIBRARY_PATH="$work/gpu_check/lib:$work/gpu_check/lib/compiler" "$work/gpu_check/bin/stagewright" --version
}

"$part" "$@"
exit $wrong
