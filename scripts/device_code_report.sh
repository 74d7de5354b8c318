#!/usr/bin/env bash
# What ptxas says of the kernels for devices, as a table in Markdown: registers for each generation,
# bytes spilled, and how many of the accesses to global memory in the PTX move 16 bytes at once.
# Needs nvcc, no device.
#
#   scripts/device_code_report.sh [BUILD_FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
include=$build/include/runtime
[[ -d $include ]] || { echo "no $include: configure a build first, or name its folder" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source=runtime/compute/kernels/device_kernels.cu
generations=(80 90 100)

for generation in "${generations[@]}"; do
  "$nvcc" -cubin -std=c++20 -O3 -arch="sm_$generation" -Xptxas -v -I "$include" \
    -o "$work/image" "$source" 2>"$work/$generation.log"
done
"$nvcc" -ptx -std=c++20 -O3 -arch=sm_90 -I "$include" -o "$work/ptx" "$source"

awk '
  FILENAME ~ /ptx$/ {
    if ($0 ~ /\.entry/) { name = $3; sub(/\(.*/, "", name) }
    if ($0 ~ /(ld|st)\.global/) { ++accesses[name] }
    if ($0 ~ /(ld|st)\.global.*\.v4/) { ++wide[name] }
    next
  }
  FNR == 1 { file = FILENAME; gsub(/.*\/|\.log/, "", file); order[++files] = file }
  /Compiling entry function/ { split($0, quoted, "\047"); name = quoted[2]; names[name] }
  /spill stores/ { spilled[name] += $5 + $9 }
  /Used [0-9]+ registers/ { registers[name, file] = $5 }
  END {
    printf "| kernel |"
    for (i = 1; i <= files; ++i) printf " sm_%s |", order[i]
    printf " spilled | 16-byte accesses |\n| --- |"
    for (i = 1; i <= files; ++i) printf " --- |"
    printf " --- | --- |\n"
    for (name in names) {
      line = "| " name " |"
      for (i = 1; i <= files; ++i) line = line " " registers[name, order[i]] " |"
      print line, spilled[name] + 0, "|", wide[name] + 0, "of", accesses[name] + 0, "|" | "sort"
    }
  }' "$work"/{80,90,100}.log "$work/ptx"
