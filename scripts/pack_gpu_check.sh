#!/usr/bin/env bash
# Packs what scripts/gpu_check.sh needs on a machine with a GPU where nothing can be built: the programs with code for
# sm_80, sm_90 and sm_100, the libraries that they link (CUDA's are the machine's own) and the script itself.
#
#   scripts/pack_gpu_check.sh [--build FOLDER] [OUT.tar.gz]
#
#   --build FOLDER   an optimized build with both programs; default: built here, in build/cuda
#   OUT.tar.gz       default build/gpu_check.tar.gz; there: tar xzf, then gpu_check/scripts/gpu_check.sh
#
# The machine there has to be of the same kind of processor, with glibc as new as this one's.
set -euo pipefail
cd "$(dirname "$0")/.."
build='' out=build/gpu_check.tar.gz
while (($# > 0)); do
  case $1 in
    --build) build=$2; shift 2 ;;
    -h | --help) sed -n '2,/^set /{/^set /!s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    -*) echo "pack_gpu_check.sh: unknown argument '$1'; see scripts/pack_gpu_check.sh --help" >&2; exit 2 ;;
    *) out=$1; shift ;;
  esac
done
if [[ -z $build ]]; then
  build=build/cuda
  cmake --preset cuda -DSTAGEWRIGHT_BUILD_TESTS=OFF -DSTAGEWRIGHT_WITH_GUI=OFF -DSTAGEWRIGHT_WITH_MPI=OFF >/dev/null
  cmake --build "$build" -j "$(nproc)" --target stagewright gpu_check
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
package=$work/gpu_check
mkdir -p "$package"/{bin,lib/compiler,scripts,examples,docs}
for program in stagewright gpu_check; do
  found=$(find "$build" -type f -name "$program" -perm -u+x | head -n 1)
  [[ -n $found ]] || { echo "pack_gpu_check.sh: no program $program in $build" >&2; exit 1; }
  strip -o "$package/bin/$program" "$found"
  # The compiler's own libraries lie apart: a machine's newer ones go before them.
  ldd "$found" | sed -n 's/^[[:space:]]*\(.*\) => \(\/[^ ]*\) .*/\1 \2/p' | while read -r name file; do
    case $name in
      libc.so* | libm.so* | libpthread.so* | libdl.so* | librt.so* | ld-linux*) ;;
      libstdc++.so* | libgcc_s.so* | libgomp.so*) cp -L "$file" "$package/lib/compiler/$name" ;;
      *) cp -L "$file" "$package/lib/$name" && strip "$package/lib/$name" ;;
    esac
  done
done
cp scripts/gpu_check.sh scripts/gpu_check_torch.py "$package/scripts/"
cp -r examples/models "$package/examples/"
mkdir -p "$(dirname "$out")"
tar -C "$work" -czf "$out.new" gpu_check
mv "$out.new" "$out"
size=$(($(stat -c %s "$out") / 1000000))
echo "packed $out: $size MB"
((size < 60)) || { echo "pack_gpu_check.sh: more than 60 MB" >&2; exit 1; }
