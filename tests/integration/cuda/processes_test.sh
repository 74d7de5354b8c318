#!/usr/bin/env bash
# Tests `stagewright run` with one process per rank, over the stand-ins: it trains as threads on the CPU do, a process
# that dies ends the others, and processes that do not fit the plan are refused.
#
#   processes_test.sh STAGEWRIGHT CUDART CUBLASLT NCCL RESERVE_PORTS
set -uo pipefail
. "$(dirname "$0")/over_standins.sh"
reserve_ports=$5

cat >"$work/two.plan.json" <<PLAN
{ "version": 1, "model": "$data/gpt-demo.json", "cluster": "1x4xcpu", "sequence": 16, "micro_batch_size": 1,
  "micro_batches": 2, "schedule": "1f1b", "precision": { "compute": "fp32" }, "dp": 2, "tp": 1, "pp": 2,
  "zero_stage": 1 }
PLAN

# Ports that the system gives to nobody else while the program runs that holds them.
coproc ports { "$reserve_ports" 8; }
mapfile -t -n 8 port_list <&"${ports[0]}"

# begin COUNT: before the processes of a run of so many ranks.
begin() {
  count=$1 port=${port_list[0]}
  port_list=("${port_list[@]:1}")
  rm -rf "$work/nccl"
  mkdir "$work/nccl"
  pids=()
}
# start RANK ARGUMENT ...: the process of a rank, whose output goes to RANK.out and RANK.err.
start() {
  local rank=$1
  shift
  RANK=$rank WORLD_SIZE=$count LOCAL_RANK=$rank MASTER_ADDR=127.0.0.1 MASTER_PORT=$port STANDIN_NCCL_FOLDER=$work/nccl \
    "$stagewright" run "$work/two.plan.json" --data "$data" "$@" >"$work/$rank.out" 2>"$work/$rank.err" &
  pids+=($!)
}
# processes COUNT ARGUMENT ...: a process for each rank.
processes() {
  local rank
  begin "$1"
  shift
  for ((rank = 0; rank < count; ++rank)); do
    start "$rank" "$@"
  done
}
# Waits for them; their exit codes are in `ended`.
await() {
  local pid
  ended=''
  for pid in "${pids[@]}"; do
    wait "$pid"
    ended+="$? "
  done
}
# Step and loss of a run's table.
losses() { awk '$1 ~ /^[0-9]+$/ && $2 ~ /^[0-9.]+$/ { print $1, $2 }' "$1"; }

"$stagewright" run "$work/two.plan.json" --data "$data" --steps 3 >"$work/threads.out"
processes 4 --steps 3 --device cuda --trace "$work/measured.json" --metrics "$work/metrics.jsonl"
await
cat "$work"/?.err
expect "four processes end well ($ended)" test "$ended" = "0 0 0 0 "
expect "there are losses" test "$(losses "$work/threads.out" | wc -l)" = 3
paste -d ' ' <(losses "$work/threads.out") <(losses "$work/0.out") >"$work/pairs"
expect "they are those of threads on the CPU: $(cat "$work/pairs")" awk '
  { if ($1 != $3 || ($2 - $4) ^ 2 > 1e-10) bad = 1 } END { exit bad || NR != 3 }' "$work/pairs"
expect "the other ranks print nothing" test ! -s "$work/1.out" -a ! -s "$work/2.out" -a ! -s "$work/3.out"
for rank in 0 1 2 3; do
  expect "the trace has rank $rank" grep -q "rank $rank" "$work/measured.json"
done
expect "one process writes the metrics" test "$(wc -l <"$work/metrics.jsonl")" = 3

# A process that dies takes the others with it.
processes 4 --steps 100000 --device cuda
until [[ -n $(find "$work/nccl" -name '*collective*' -print -quit) ]]; do sleep 0.1; done
kill -KILL "${pids[2]}"
await
expect "no process goes on alone ($ended)" bash -c '[[ " $1" != *" 0 "* ]]' _ "$ended"
expect "rank 0 says who is gone: $(cat "$work/0.err")" grep -q 'rank 2' "$work/0.err"

# One that cannot begin ends the others at once, and they say why.
SECONDS=0
begin 4
for rank in 0 2 3; do
  start $rank --steps 3 --device cuda
done
STAGEWRIGHT_CUDART_LIBRARY=/no/such/library.so start 1 --steps 3 --device cuda
await
expect "no process begins alone ($ended)" bash -c '[[ " $1" != *" 0 "* ]]' _ "$ended"
expect "it takes $SECONDS s" test "$SECONDS" -lt 30
for rank in 0 2 3; do
  expect "rank $rank says why: $(cat "$work/$rank.err")" grep -q 'rank 1 cannot begin: the CUDA runtime is missing' "$work/$rank.err"
done

processes 2 --steps 1 --device cuda
await
expect "a number of processes that does not fit is refused ($ended)" grep -q 'has 4 ranks, but 2 processes were started' "$work/0.err"
processes 2 --steps 1
await
expect "processes without NCCL are refused ($ended)" grep -q 'pass --device cuda' "$work/1.err"
exit $wrong
