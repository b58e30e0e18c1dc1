#!/usr/bin/env bash
# Runs all tests on every driver configuration: scripts/test.sh [CONFIGURATION...]
#
# Sets the machine up first (scripts/setup.sh --tests). Logs are kept in target/test-logs; each begins with the command
# that repeats it. The last line is the sum over all configurations.
#
#   CONFIGURATION  one of those that --list prints; all without one
#   --list         prints the configurations
#   --help         this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
# shellcheck source=scripts/tally.sh
source scripts/tally.sh
logs=target/test-logs

# What runs on every driver. Conformance at the level `full` takes every size with every pattern; `reduced` takes every
# size and every pattern, but not each with each.
devices="conformance matrix leading fallback recording"

# A row per configuration: name | limit in seconds | suites | driver, validation layer and variables.
# `lib` stands for the unit tests and `doc` for the documentation tests; `lavapipe-WIDTH`, `swiftshader`,
# `system-layer`, `newer-layer` and its `gpu-assisted` mode for the variables that choose them. `only=TEXT` runs the tests
# with that in their name.
configurations=(
    "host               | 600 | lib contract spirv table allocations cost properties cli splats bench tune | lavapipe-256 VKSORT_EXPECT_SUBGROUP=8"
    "doc                | 300 | doc                  | lavapipe-256"
    "lavapipe-8         | 1200 | $devices emulated    | lavapipe-256 VKSORT_EXPECT_SUBGROUP=8 VKSORT_TEST_LEVEL=full"
    "lavapipe-4         | 900 | $devices splats      | lavapipe-128 VKSORT_EXPECT_SUBGROUP=4 VKSORT_TEST_LEVEL=reduced"
    "lavapipe-16        | 900 | $devices splats      | lavapipe-512 VKSORT_TEST_LEVEL=reduced"
    "lavapipe-8-busy    | 600 | conformance fallback | lavapipe-256 LP_NUM_THREADS=16 VKSORT_TEST_LEVEL=reduced"
    "lavapipe-4-busy    | 600 | conformance fallback | lavapipe-128 LP_NUM_THREADS=16 VKSORT_TEST_LEVEL=reduced"
    "lavapipe-16-busy   | 600 | conformance fallback | lavapipe-512 LP_NUM_THREADS=16 VKSORT_TEST_LEVEL=reduced"
    "swiftshader        | 900 | $devices splats      | swiftshader VKSORT_EXPECT_SUBGROUP=4 VKSORT_TEST_LEVEL=reduced"
    "validation         | 600 | $devices emulated    | lavapipe-256 system-layer VKSORT_TEST_LEVEL=reduced"
    "newer-validation   | 600 | matrix leading fallback recording | lavapipe-256 newer-layer VKSORT_TEST_LEVEL=reduced"
    # One key type goes through every kernel; the whole matrix would take this mode many minutes.
    "gpu-assisted       | 300 | matrix leading       | lavapipe-256 newer-layer gpu-assisted only=/f32/ VKSORT_TEST_LEVEL=reduced"
)

# Variables that would lead a configuration elsewhere.
clean=(env)
for variable in $(compgen -e); do
    case $variable in
        VK_* | VKSORT_* | LP_* | GALLIVM_* | MESA_*) clean+=(-u "$variable") ;;
    esac
done

mesa_cache=$(mktemp -d)
trap 'rm -rf "$mesa_cache"' EXIT

# Splits a row into `name`, `limit`, `suites` and `words`.
split() {
    IFS='|' read -r name limit suites words <<<"$1"
    name=${name// /} limit=${limit// /}
}

# Turns the words of a row into `variables` and `only`; fails with `missing` set when one cannot be had here.
resolve() {
    local word icd layer parts
    variables=() only=() missing=
    parts=$(chromium_parts) || parts=
    for word in $1; do
        case $word in
            lavapipe-*)
                icd=$(lavapipe_icd) || missing="lavapipe is not installed"
                # Mesa's cache does not know the width, so each width has its own.
                variables+=("LP_NATIVE_VECTOR_WIDTH=${word#*-}" "MESA_SHADER_CACHE_DIR=$mesa_cache/${word#*-}"
                    "VK_DRIVER_FILES=$icd" "VK_ICD_FILENAMES=$icd")
                # Without AVX-512 the driver may choose another subgroup size, which the suites then print.
                [[ $word != lavapipe-512 ]] || ! grep -qw avx512f /proc/cpuinfo || variables+=(VKSORT_EXPECT_SUBGROUP=16)
                ;;
            swiftshader)
                icd=$parts/vk_swiftshader_icd.json
                [[ $parts ]] || missing="SwiftShader could not be had from the package chromium-common"
                variables+=("VK_DRIVER_FILES=$icd" "VK_ICD_FILENAMES=$icd")
                ;;
            system-layer)
                layer=$(system_validation_layer) || missing="vulkan-validationlayers is not installed"
                variables+=("VK_LAYER_PATH=${layer%/*}" VKSORT_VALIDATE=1)
                ;;
            newer-layer)
                [[ $parts ]] || missing="the newer layer could not be had from the package chromium-common"
                variables+=("VK_LAYER_PATH=$parts/layers" VKSORT_VALIDATE=1
                    # Without it synchronization validation looks at transfers only.
                    VK_LAYER_SYNCVAL_SHADER_ACCESSES_HEURISTIC=1 VKSORT_EXPECT_HAZARDS=1)
                ;;
            gpu-assisted) variables+=(VK_LAYER_GPUAV_ENABLE=1) ;;
            only=*) only=(-- "${word#only=}") ;;
            *=*) variables+=("$word") ;;
            *) die "configuration $name: unknown word $word" ;;
        esac
    done
    [[ -z $missing ]]
}

run() {
    local name limit suites words variables missing only targets=() suite
    split "$1"
    for suite in $suites; do
        case $suite in
            lib | doc) targets+=("--$suite") ;;
            *) targets+=(--test "$suite") ;;
        esac
    done
    if resolve "$words"; then
        run_suites "$name" "$limit" "${clean[@]}" "${variables[@]}" cargo test --release --no-fail-fast "${targets[@]}" \
            "${only[@]}"
        # A layer that does not know the variable would pass in its usual mode.
        [[ $words != *gpu-assisted* ]] || grep -q 'GPU Assisted Validation' "$log" ||
            { failed=$((failed + 1)) && fail "$name" "the layer does not say that it is in this mode"; }
    else
        skip "$name" "$missing"
    fi
}

names=() chosen=() used=
for row in "${configurations[@]}"; do
    split "$row"
    names+=("$name") used+=" $suites "
done
for argument in "$@"; do
    case $argument in
        --help) usage && exit ;;
        --list) printf '%s\n' "${configurations[@]}" && exit ;;
        *) [[ " ${names[*]} " == *" $argument "* ]] || die "unknown configuration $argument, allowed are ${names[*]}" ;;
    esac
    chosen+=("$argument")
done
[[ ${chosen[*]} ]] || chosen=("${names[@]}")

# A suite that no configuration runs would pass unseen.
for suite in tests/*.rs tests/*/main.rs; do
    suite=${suite#tests/} suite=${suite%/main.rs} suite=${suite%.rs}
    [[ $used == *" $suite "* ]] || die "the suite $suite is in no configuration of this script"
done

scripts/setup.sh --tests
if ! cargo test --release --no-run; then
    say "test.sh: the tests do not build"
    failed=1
    finish
fi
for row in "${configurations[@]}"; do
    split "$row"
    [[ " ${chosen[*]} " != *" $name "* ]] || run "$row"
done
finish
