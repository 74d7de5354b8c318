#!/usr/bin/env bash
# Proves on a machine with a GPU what is only built and tried over stand-ins elsewhere, and leaves a report: kernels
# against double precision, losses against the CPU of one rank and of several on one GPU, NCCL between GPUs where there
# are two, a profile, a plan and its prediction beside a run, and the speed of two models beside PyTorch.
#
#   scripts/gpu_check.sh [--out FOLDER] [--programs FOLDER] [--limit SECONDS] [--small]
#
#   --out FOLDER       where the report goes (default docs/gpu), as DATE-DEVICE.md and .json
#   --programs FOLDER  with stagewright and gpu_check; default: bin/ beside this script's folder, where
#                      scripts/pack_gpu_check.sh put them, else they are built here (build/cuda)
#   --limit SECONDS    for everything (default 470); every step has a limit of its own, too
#   --small            sizes for which the stand-ins of the tests are fast enough
#
# Needs no network. A step that fails is reported and does not end the others. Exit codes: 0 everything that ran
# passed, 1 a step failed, 2 the arguments are wrong or the programs cannot be built, 3 there is no GPU.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
out=$root/docs/gpu programs='' limit=470 small=''
while (($# > 0)); do
  case $1 in
    --out) out=$2; shift 2 ;;
    --programs) programs=$2; shift 2 ;;
    --limit) limit=$2; shift 2 ;;
    --small) small=--small; shift ;;
    -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) echo "gpu_check.sh: unknown argument '$1'; see scripts/gpu_check.sh --help" >&2; exit 2 ;;
  esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
data=$root/examples/models # what the runs train on; in the source tree and in a package alike

build() {
  echo "building stagewright and gpu_check in build/cuda"
  cd "$root" || return 1
  timeout 240 bash -c '
    cmake --preset cuda -DSTAGEWRIGHT_BUILD_TESTS=OFF -DSTAGEWRIGHT_WITH_GUI=OFF -DSTAGEWRIGHT_WITH_MPI=OFF &&
    cmake --build build/cuda -j "$(nproc)" --target stagewright gpu_check' >"$work/build.log" 2>&1 ||
    { tail -n 20 "$work/build.log" >&2; return 1; }
  mkdir -p "$work/bin"
  local program
  for program in stagewright gpu_check; do
    ln -s "$(find build/cuda -type f -name "$program" -perm -u+x | head -n 1)" "$work/bin/$program"
  done
  programs=$work/bin
}

# Libraries that a package carries are looked for after the machine's own would have been missing.
carried=''
program() {
  local name=$1
  shift
  if [[ -n $carried ]]; then
    LD_LIBRARY_PATH=$carried${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$programs/$name" "$@"
  else
    "$programs/$name" "$@"
  fi
}

choose_carried_libraries() {
  local choice
  for choice in '' "$root/lib" "$root/lib:$root/lib/compiler"; do
    carried=$choice
    if program gpu_check libraries >"$work/libraries" 2>"$work/libraries.log"; then return 0; fi
  done
  cat "$work/libraries.log" >&2
  return 1
}

# Where toolkits, packages of the system and of Python put CUDA's libraries.
library_folders() {
  ldconfig -p 2>/dev/null | sed -n 's/.* => \(\/.*\)\/[^/]*$/\1/p' | sort -u
  printf '%s\n' /usr/local/cuda/lib64 /usr/local/cuda-*/lib64 /usr/local/cuda*/targets/*/lib
  python3 - 2>/dev/null <<'PYTHON'
import glob, site, sys
for folder in site.getsitepackages() + [site.getusersitepackages()] + sys.path:
    print("\n".join(glob.glob(folder + "/nvidia/*/lib") + glob.glob(folder + "/torch/lib")))
PYTHON
}

# Names the machine's libraries for the programs, unless the environment does or the linker finds them.
find_libraries() {
  local variable file folder folders
  folders=$(library_folders)
  while read -r variable file; do
    if [[ -n ${!variable:-} ]] || ldconfig -p 2>/dev/null | grep -q "[[:space:]]$file "; then continue; fi
    while read -r folder; do
      if [[ -e $folder/$file ]]; then
        export "$variable=$folder/$file"
        break
      fi
    done <<<"$folders"
  done <"$work/libraries"
}

# note STEP STATUS TEXT: the outcome of a step that left none itself.
note() {
  program gpu_check note "$@" --folder "$work/steps"
  [[ $2 != failed ]] || failed=1
}

remaining() { echo $((limit - SECONDS)); }

# step NAME LIMIT COMMAND ...: runs it, with its limit; what it did not note itself is noted here.
step() {
  local name=$1 seconds=$2 code=0
  shift 2
  steps+=("$name")
  if (($(remaining) < 5)); then
    note "$name" 'not run' "the $limit s for all steps were over"
    return
  fi
  if (($(remaining) < seconds)); then seconds=$(remaining); fi
  timeout -k 5 "$seconds" bash -c '"$@"' step "$@" >"$work/$name.log" 2>&1 || code=$?
  cat "$work/$name.log"
  if [[ ! -s $work/steps/$name.step.json ]]; then
    if ((code == 124 || code == 137)); then
      note "$name" failed "did not end within $seconds s"
    elif ((code == 0)); then
      note "$name" 'not run' "$(tail -n 1 "$work/$name.log")"
    else
      note "$name" failed "ended with code $code: $(tail -n 1 "$work/$name.log")"
    fi
  elif ((code != 0)); then
    failed=1
  fi
}

check() { program gpu_check "$1" --folder "$work/steps" $small; }

# A profile of one model on one GPU, the best plan by it, its prediction, and a run of that plan beside it.
prediction() {
  local type model=gpt2-medium sequence=1024 micro_batch=8 steps=8
  type=${GPU_CHECK_DEVICE_TYPE:-$(program gpu_check device-type)} || return 1
  if [[ -n $small ]]; then model=$data/gpt-demo.json sequence=16 micro_batch=1 steps=3; fi
  local folder=$work/prediction
  mkdir -p "$folder"
  program stagewright profile --model "$model" --device cuda --device-type "$type" --ranks 1 --seq "$sequence" \
    --micro-batch "$micro_batch" --recompute none --precision bf16 --steps "$steps" --out "$folder/profile.json" &&
    program stagewright plan --model "$model" --cluster "1x1x$type" --profile "$folder/profile.json" --seq "$sequence" \
      --global-batch $((2 * micro_batch)) --micro-batch "$micro_batch" --recompute none --precision bf16 \
      --out "$folder/best.plan.json" >"$folder/plan.txt" &&
    program stagewright simulate "$folder/best.plan.json" --profile "$folder/profile.json" \
      --trace "$folder/predicted.json" >"$folder/simulate.txt" &&
    program stagewright run "$folder/best.plan.json" --device cuda --data "$data" --steps "$steps" \
      --trace "$folder/measured.json" >"$folder/run.txt" &&
    program stagewright compare "$folder/predicted.json" "$folder/measured.json" --json >"$folder/comparison.json" &&
    program gpu_check prediction --folder "$work/steps" --comparison "$folder/comparison.json" $small
}

# Plans of two ranks, and of four where there are as many GPUs, with a process and a GPU for each rank.
nccl() {
  local count plans=(dp2 tp2 pp2) plan dp tp pp rank port pids failures=0
  count=$(program gpu_check device-count)
  if ((count < 2)); then
    echo "needs 2 GPUs, here is $count"
    return 0
  fi
  if ((count >= 4)); then plans+=(dp2-tp2 dp2-pp2); fi
  local folder=$work/nccl sequence=128
  if [[ -n $small ]]; then sequence=16 plans=(dp2 tp2); fi
  mkdir -p "$folder"
  for plan in "${plans[@]}"; do
    dp=1 tp=1 pp=1
    [[ $plan != *dp2* ]] || dp=2
    [[ $plan != *tp2* ]] || tp=2
    [[ $plan != *pp2* ]] || pp=2
    count=$((dp * tp * pp))
    cat >"$folder/$plan.plan.json" <<PLAN
{ "version": 1, "model": "$data/gpt-demo.json", "cluster": "1x${count}xcpu", "sequence": $sequence,
  "micro_batch_size": 1, "micro_batches": 4, "schedule": "1f1b", "precision": { "compute": "fp32" },
  "dp": $dp, "tp": $tp, "pp": $pp, "zero_stage": $((dp - 1)) }
PLAN
    program stagewright run "$folder/$plan.plan.json" --data "$data" --steps 3 --json >"$folder/$plan.cpu.json"
    port=$((10000 + (RANDOM * 32768 + RANDOM) % 20000)) pids=()
    for ((rank = 0; rank < count; ++rank)); do
      RANK=$rank WORLD_SIZE=$count LOCAL_RANK=$rank MASTER_ADDR=127.0.0.1 MASTER_PORT=$port \
        program stagewright run "$folder/$plan.plan.json" --device cuda --data "$data" --steps 3 --json \
        >"$folder/$plan.$rank.out" &
      pids+=($!)
    done
    for rank in "${pids[@]}"; do wait "$rank" || failures=1; done
    mv "$folder/$plan.0.out" "$folder/$plan.gpus.json"
  done
  program gpu_check nccl --folder "$work/steps" --runs "$folder" --plan "${plans[@]}" && ((failures == 0))
}

torch() {
  if ! python3 -c 'import torch' 2>/dev/null; then
    echo "no python3 with torch"
    return 0
  fi
  python3 "$root/scripts/gpu_check_torch.py" --model "$1" --folder "$work/steps" $small
}

# A step runs in a shell of its own, so that `timeout` ends all that it has started.
export -f program check nccl prediction torch
export root data work small

if [[ -z $programs && -x $root/bin/gpu_check ]]; then programs=$root/bin; fi
[[ -n $programs ]] || build || { echo "gpu_check.sh: the programs cannot be built" >&2; exit 2; }
choose_carried_libraries || { echo "gpu_check.sh: the programs do not start" >&2; exit 2; }
export programs carried
find_libraries
mkdir -p "$work/steps"
steps=(machine)
if ! check machine 2>"$work/machine.log"; then
  echo "gpu_check.sh: no GPU here, so nothing was checked: $(cat "$work/machine.log")" >&2
  exit 3
fi

step kernels 60 check kernels
step losses 90 check losses
step nccl 60 nccl
step prediction 120 prediction
for model in gpt2-350m-like llama-like; do
  step "speed-$model" 60 check "speed-$model"
done
for model in gpt2-350m-like llama-like; do
  step "torch-$model" 100 torch "$model"
done
program gpu_check report --folder "$work/steps" --out "$out" --expect "${steps[@]}" || failed=1
exit $failed
