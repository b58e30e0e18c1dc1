#!/usr/bin/env bash
# Compiles kernels with NVIDIA's own assembler and counts executed instructions, without a GPU:
# scripts/nvidia-assembler.sh [OPTION...] [KIND[:FIELD=VALUE,...]...]
#
# It translates a kernel to CUDA C++, compiles it, emulates a whole sort, and compares the result with numpy's. A line for
# each kernel has the instructions that a warp issues for 32 elements on a full tile, static instructions, registers, spills
# and wavefronts of shared memory, with CUB's beside them. lab/nvidia-assembler/README.md explains the figures. The first
# run installs NVIDIA's compiler (140 MB from PyPI) in $VKSORT_NVIDIA_ASSEMBLER, else in
# ~/.cache/vksort/nvidia-assembler.
#
#   KIND           keys, pairs, argsort, u16, u64, u64-pairs, histogram, rows-8, rows-32, rows-32-pairs; a FIELD of the tuning, as in pairs:rank=match.
#                  Without one, and without --arch, all figures are kept in lab/record/nvidia-assembler.csv
#   --arch A,B     targets among 75, 80, 86, 89 and 90 [default: 80,89,90]
#   --patterns     also sort other keys, such as tiles of one digit, and with tiles that never publish their counts
#   --functions    figures of each GLSL function
#   --dump FOLDER  write CUDA C++, and machine code with the count of each instruction
#   --check        fail if a figure is beyond its limit in lab/nvidia-assembler/limits.csv
#   --tighten      lower limits in that file to today's figures
#   --test         run the tests of the tool itself
#   --root FOLDER  the kernels and the library of another checkout
#   --help         this text
#
# If the packages are not available, it says so in one line and ends without an error. A compilation may take 240 s and a
# sort 900 s; $VKSORT_NVIDIA_ASSEMBLER_SECONDS and $VKSORT_NVIDIA_EMULATOR_SECONDS change this.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
export VKSORT_NVIDIA_ASSEMBLER=${VKSORT_NVIDIA_ASSEMBLER:-$vksort_cache/nvidia-assembler}

root=$PWD testing=0 arguments=()
while (($#)); do
    case $1 in
        --help) usage && exit ;;
        --test) testing=1 ;;
        --root | --dump)
            [[ ${2:-} ]] || die "$1 needs a folder"
            folder=$2
            [[ $folder == /* ]] || folder=$here/$folder
            if [[ $1 == --root ]]; then root=$folder; else arguments+=("$1" "$folder"); fi
            shift
            ;;
        *) arguments+=("$1") ;;
    esac
    shift
done

status=0
why=$(lab/nvidia-assembler/setup.sh "$VKSORT_NVIDIA_ASSEMBLER") || status=$?
((status != 3)) || { say "nvidia-assembler: skipped: $why" && exit; }
((status == 0)) || die "setting the compiler up failed with status $status $why"
export PYTHONPATH=$VKSORT_NVIDIA_ASSEMBLER/cuda VKSORT_ROOT=$root
(cd "$root" && cargo --config scripts/checked.toml build --quiet --release --package vksort-contract)
export VKSORT_CONTRACT=${CARGO_TARGET_DIR:-$root/target}/release/vksort-contract
if ((testing)); then
    exec python3 -B -m unittest discover --start-directory lab/nvidia-assembler/tests --top-level-directory lab/nvidia-assembler
fi
exec python3 -B lab/nvidia-assembler/measure.py "${arguments[@]}"
