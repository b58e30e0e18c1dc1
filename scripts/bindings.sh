#!/usr/bin/env bash
# Builds and runs the programs for other bindings of Vulkan: scripts/bindings.sh [NAME...]
#
# examples/bindings has one for each of hpp (Vulkan-Hpp), python (the package vulkan), vulkanalia and vulkano. Each sorts on the
# driver that the environment chooses, compares the result with a stable sort, and prints one line. With VKSORT_VALIDATE=1 they
# run under the validation layer, which must be silent, except about a barrier that is left out on purpose. A binding whose
# packages cannot be had is skipped with a line. Ends with the number of programs as a test result.
#
# What the programs depend on takes two minutes of CPU time to compile, and stays in target/bindings.
#
#   NAME    one of hpp, python, vulkanalia and vulkano [default: all of them]
#   --help  this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh

all=(hpp python vulkanalia vulkano)
chosen=()
for name in "$@"; do
    case $name in
        --help) usage && exit ;;
        *) [[ " ${all[*]} " == *" $name "* ]] || die "unknown binding $name, allowed are ${all[*]}" ;;
    esac
    chosen+=("$name")
done
((${#chosen[@]})) || chosen=("${all[@]}")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
built=${CARGO_TARGET_DIR:-$PWD/target}
passed=0 skipped=0
layer=(env)
if [[ ${VKSORT_VALIDATE:-} == 1 ]]; then
    # No program names the layer or its settings.
    layer+=(VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation
        VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT)
fi

step() {
    say "-- $*"
    timeout --kill-after=10 1200 "$@" || die "failed: $*"
}

# Runs a program. What it prints, and the layer with it, goes to $work/out.
run() {
    timeout --kill-after=10 300 "${layer[@]}" "$@" >"$work/out" 2>&1 || { cat "$work/out" >&2 && die "failed: $*"; }
}

left_out() {
    say "skipped $1: $2"
    skipped=$((skipped + 1))
}

# Runs a program that prints one line; messages of the layer would be more.
verified() {
    run "$@"
    cat "$work/out"
    [[ $(<"$work/out") == *": "*" depths and indices equal those of a stable sort"* ]] && (($(wc -l <"$work/out") == 1)) ||
        die "it does not print that one line: $*"
    passed=$((passed + 1))
}

# The library for C, once.
prefix=$work/prefix
install_library() {
    [[ -e $prefix ]] || step crates/capi/install.sh --prefix "$prefix"
}

run_hpp() {
    local missing=
    [[ -e /usr/include/vulkan/vulkan_raii.hpp ]] || missing="vulkan_raii.hpp (Debian's libvulkan-dev)"
    has cmake && has g++ || missing="cmake or g++"
    [[ -z $missing ]] || { left_out hpp "$missing is missing" && return; }
    install_library
    export CXXFLAGS="-Wall -Wextra -Wpedantic -Wold-style-cast -Werror"
    step cmake -Wno-dev --log-level=WARNING -S examples/bindings/hpp -B "$work/hpp" -DCMAKE_PREFIX_PATH="$prefix"
    step cmake --build "$work/hpp" -- --quiet
    verified "$work/hpp/hpp"
}

run_python() {
    # Kept, so that later runs need no network.
    local packages=$vksort_cache/python-vulkan python line='barrier(lib.VKSORT_OUTPUT_STAGES'
    python=$packages/bin/python3
    if ! "$python" -c 'import vulkan' 2>/dev/null; then
        rm -rf "$packages"
        { python3 -m venv "$packages" && "$packages/bin/pip" install --quiet vulkan==1.3.275.1; } >"$work/pip" 2>&1 || {
            rm -rf "$packages"
            left_out python "its package vulkan could not be installed: $(tail -n 1 "$work/pip")" && return
        }
    fi
    install_library
    verified "$python" examples/bindings/python/main.py "$prefix"
    [[ ${VKSORT_VALIDATE:-} == 1 ]] || return 0
    # The control: without the barrier after the sort the layer reports a hazard.
    sed "/$line/d" examples/bindings/python/main.py >"$work/control.py"
    ! cmp --quiet examples/bindings/python/main.py "$work/control.py" || die "main.py has no line with $line"
    run "$python" "$work/control.py" "$prefix"
    grep -q 'SYNC-HAZARD-READ-AFTER-WRITE' "$work/out" || die "the layer does not see that a barrier is missing"
    passed=$((passed + 1))
}

# A program of a workspace of its own. The crate vksort is compiled anew, as another checkout may have left its own there.
run_crate() {
    local name=$1 manifest=examples/bindings/$1/Cargo.toml
    local cargo=(env "CARGO_TARGET_DIR=$built/bindings" CARGO_PROFILE_DEV_DEBUG=0 cargo)
    timeout 300 "${cargo[@]}" fetch --quiet --manifest-path "$manifest" >"$work/fetch" 2>&1 ||
        { left_out "$name" "its crates could not be had: $(head -n 1 "$work/fetch")" && return; }
    "${cargo[@]}" clean --quiet --manifest-path "$manifest" --package vksort --package "vksort-$name"
    step "${cargo[@]}" build --quiet --manifest-path "$manifest"
    verified "$built/bindings/debug/vksort-$name"
}

for name in "${chosen[@]}"; do
    case $name in
        hpp | python) "run_$name" ;;
        *) run_crate "$name" ;;
    esac
done
printf 'test result: ok. %s passed; 0 failed; %s ignored\n' "$passed" "$skipped"
