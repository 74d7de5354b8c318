# To be sourced by a test of `stagewright run` over the stand-ins, with that test's arguments:
#
#   STAGEWRIGHT CUDART CUBLASLT NCCL ...
#
# Names the program and the libraries, makes a folder that goes with the test, and lets it expect things.
stagewright=$1
export STAGEWRIGHT_CUDART_LIBRARY=$2 STAGEWRIGHT_CUBLASLT_LIBRARY=$3 STAGEWRIGHT_NCCL_LIBRARY=$4
STAGEWRIGHT_CUDNN_LIBRARY=$(dirname "$2")/libstandin_cudnn.so
export STAGEWRIGHT_CUDNN_LIBRARY
data=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)/examples/models
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0
# expect WHAT COMMAND...: the command succeeds; else WHAT is told, and the test fails in the end
expect() {
  local what=$1
  shift
  "$@" || { echo "WRONG: $what"; wrong=1; }
}
