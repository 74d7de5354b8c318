#!/usr/bin/env bash
# Tests `stagewright run` under mpirun, over the stand-ins: processes without torchrun's variables meet by MPI and train
# as threads on the CPU do.
#
#   mpi_test.sh STAGEWRIGHT CUDART CUBLASLT NCCL MPIRUN
set -uo pipefail
. "$(dirname "$0")/over_standins.sh"
mpirun=$5
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT
losses() { awk '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9.]+$/ { print $1, $2 }' "$1"; }
under_mpi() {
  local count=$1
  shift
  rm -rf "$work/nccl"
  mkdir "$work/nccl"
  STANDIN_NCCL_FOLDER=$work/nccl timeout 120 "$mpirun" --oversubscribe -n "$count" "$stagewright" run \
    "$work/$count.plan.json" --data "$data" --steps 3 "$@" >"$work/mpi.out" 2>"$work/mpi.err"
}

for ranks in 2 4; do
  cat >"$work/$ranks.plan.json" <<PLAN
{ "version": 1, "model": "$data/gpt-demo.json", "cluster": "1x${ranks}xcpu", "sequence": 16, "micro_batch_size": 1,
  "micro_batches": 2, "schedule": "1f1b", "precision": { "compute": "fp32" }, "dp": $((ranks / 2)), "tp": 1, "pp": 2 }
PLAN
  "$stagewright" run "$work/$ranks.plan.json" --data "$data" --steps 3 >"$work/threads.out"
  under_mpi "$ranks" --device cuda
  expect "$ranks processes end well ($?): $(cat "$work/mpi.err")" test "$(losses "$work/mpi.out" | wc -l)" = 3
  paste -d ' ' <(losses "$work/threads.out") <(losses "$work/mpi.out") >"$work/pairs"
  expect "they are those of threads on the CPU: $(cat "$work/pairs")" awk '
    { if ($1 != $3 || ($2 - $4) ^ 2 > 1e-10) bad = 1 } END { exit bad || NR != 3 }' "$work/pairs"
done
under_mpi 2
expect "processes without NCCL are refused: $(cat "$work/mpi.err")" grep -q 'pass --device cuda' "$work/mpi.err"
STAGEWRIGHT_MPI_MODULE=/no/such/module.so under_mpi 2 --device cuda
expect "a module that is missing is named: $(cat "$work/mpi.err")" grep -q 'module for MPI is missing' "$work/mpi.err"
exit $wrong
