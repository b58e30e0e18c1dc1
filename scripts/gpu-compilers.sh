#!/usr/bin/env bash
# Compiles the kernels with the compilers of real GPUs, without a GPU: scripts/gpu-compilers.sh [OPTION...]
#
# Without options it compiles the kernels of all requests for all GPUs, keeps the figures in
# lab/record/gpu-compilers.csv and draws lab/gpu-compilers.png. lab/GPU-COMPILERS.md explains the figures. The first
# run unpacks Mesa's compilers (80 MB of Debian packages) into $VKSORT_GPU_COMPILERS, else ~/.cache/vksort/gpu-compilers.
#
#   --gpus A,B         only these GPUs, with a line for each kernel; the record stays
#   --requests A,B     only these requests, likewise
#   --no-slope         only one shape of each kernel, which takes half the time; likewise
#   --tuning F=VALUE   change a field of the built-in rows, as --tuning=items_keys=12; likewise
#   --dump FOLDER      write NIR and machine code of every kernel there; likewise
#   --check            compare all figures with lab/gpu-compilers/limits.csv; a figure beyond its limit fails
#   --tighten          replace limits in that file by today's figures where these are better
#   --sweep            compile the pass in many shapes and with all methods instead, and show for each method the shape with the
#                      fewest instructions beside the built-in row, which takes some minutes; --record FILE keeps all of them
#   --limits FILE      another file of limits
#   --program FILE     a built program `pipelines`, of the checkout that --root names
#   --root FOLDER      the checkout that gives names of kernels and constants [default: this one]
#   --help             this text; `lab/gpu-compilers/compilers.py --help` has more options, which can be given here too
#
# If the packages are not available, it says so in one line and ends without an error.
set -euo pipefail
here=$PWD
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
record=lab/record/gpu-compilers.csv
plot=lab/gpu-compilers.png

program='' complete=1 tool=compilers.py arguments=()
while (($#)); do
    case $1 in
        --help) usage && exit ;;
        --sweep) tool=sweep.py complete=0 ;;
        --program | --root | --dump | --limits | --read | --record)
            # Paths are those of the caller's directory.
            [[ ${2:-} ]] || die "$1 needs a path"
            path=$2
            [[ $path == /* ]] || path=$here/$path
            [[ $1 != --program ]] || program=$path
            [[ $1 == --limits ]] || complete=0
            arguments+=("$1" "$path")
            shift
            ;;
        *)
            complete=0
            arguments+=("$1")
            ;;
    esac
    shift
done

# What is read from a record needs no compiler.
if [[ " ${arguments[*]} " != *" --read "* ]]; then
    status=0
    why=$(lab/gpu-compilers/setup.sh "$gpu_compilers") || status=$?
    ((status != 3)) || { say "gpu-compilers: skipped: $why" && exit; }
    ((status == 0)) || die "setting the compilers up failed with status $status $why"
    if [[ ! $program ]]; then
        cargo --config scripts/checked.toml build --quiet --release --package vksort-lab --bin pipelines
        program=${CARGO_TARGET_DIR:-target}/release/pipelines
        arguments+=(--program "$program")
    fi
fi
# Compilers beside each other make times longer.
((!complete)) || arguments+=(--record "$record" --times 3)
python3 -B "lab/gpu-compilers/$tool" --folder "$gpu_compilers" "${arguments[@]}"
((!complete)) || "$program" --plot "$record" --out "$plot"
