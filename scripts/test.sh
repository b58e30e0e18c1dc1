#!/usr/bin/env bash
# Runs all tests on every driver configuration: scripts/test.sh [--at-once N] [CONFIGURATION...]
#
# Sets up the machine first (scripts/setup.sh --tests --kernels). Logs are in target/test-logs; each begins with the command that
# repeats it. Data and combinations follow from a seed, a new one each time; VKSORT_SEED=N repeats a run. The last lines are
# a table of the configurations and the sum over all. lavapipe keeps compiled kernels in ~/.cache/vksort/mesa-*, with which
# its configurations take half the time in later runs.
#
#   CONFIGURATION  a name from --list [default: all]
#   --at-once N    configurations that run at the same time [default: 2, as one sometimes leaves cores idle]
#   --list         prints the configurations
#   --help         this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
# shellcheck source=scripts/tally.sh
source scripts/tally.sh
logs=target/test-logs

# What runs on every driver. The level `full` takes every option; `reduced` takes some values and windows, and of pairs
# of options only those that meet in a kernel. A row with VKSORT_TEST_PART runs that part of the trials, which the seed
# chooses: of the full designs each run has every trial once, half of them at subgroup size 8, three eighths at 4 and an eighth
# at 16, where kernels take longest to compile. Suites of the API (recording, frames) and of programs do not depend on the
# subgroup size, so fewer rows have them.
devices="blocks conformance matrix fallback routes properties"
# Without AVX-512 vectors of 16 lanes are split. LLVM's optimizer then takes minutes for a kernel of wide keys with uneven
# digits, so the rows of that width do without it.
wide=lavapipe-512
grep -qw avx512f /proc/cpuinfo || wide="lavapipe-512 unoptimized"
# What measures frames compares two ways in one run, which one row shows.
untimed=skip=are_measured

# A row per configuration: name | limit in seconds | suites | driver, validation layer and variables.
# `lib` stands for the unit tests, `doc` for the documentation tests, `features` for both with other features of the crate,
# `c` for the programs in C and C++, `wgpu.sh` for all tests of the feature wgpu, and `wgpu` for their suite alone;
# `lavapipe-WIDTH`, with kernels `unoptimized` by LLVM, `swiftshader`, `system-layer`, `newer-layer` and its `gpu-assisted`
# mode for the variables that choose them. `newer-lavapipe` is that of the packages that scripts/gpu-compilers.sh unpacks.
# `two-queues` puts the layer of tools/two-queues below `newer-layer`.
# `only=TEXT` runs the tests with that in their name, `skip=TEXT,TEXT` those with none of these.
#
# Nearly all of a first run's time goes into compiling kernels, which lavapipe keeps for each width. So the configurations of
# a width come behind the longest of it and take the same part of the trials, whose kernels are there already. An eighth of few
# trials may be none, so the busy row of that width takes a quarter. LLVM's optimizer takes a third of a compilation. Kernels go
# through it at subgroup size 8, on both versions of Mesa, and the rows of size 4 and the GPU-assisted one do without.
configurations=(
    "lavapipe-8         | 1800 | $devices recording emulated frames visitors | lavapipe-256 VKSORT_EXPECT_SUBGROUP=8 VKSORT_TEST_LEVEL=full VKSORT_TEST_PART=1/2 VKSORT_DRAW_SECONDS=30"
    # The older lavapipe may crash in draws at this width, which is not its own choice on any processor.
    "lavapipe-16        | 1800 | $devices             | $wide VKSORT_TEST_LEVEL=full VKSORT_TEST_PART=8/8"
    "lavapipe-4         | 1200 | $devices visitors    | lavapipe-128 unoptimized VKSORT_EXPECT_SUBGROUP=4 VKSORT_TEST_LEVEL=full VKSORT_TEST_PART=2/4,4/8"
    "swiftshader        | 1200 | $devices recording splats render visitors | swiftshader VKSORT_EXPECT_SUBGROUP=4 VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/3 $untimed"
    "host               | 900 | lib architecture contract rewrite instructions shapes table requests limits cache tuning rows search design profiles allocations cost halves cli splats render scenes widths bench order tune pipelines header guide capi | lavapipe-256 VKSORT_EXPECT_SUBGROUP=8"
    # The SPIR-V of the kernels on a simulated device, at subgroup sizes of 4 to 128.
    "simulated          | 600 | simulated             | VKSORT_DRAW_SECONDS=45"
    # Damaged scenes for two minutes; the suite takes seconds elsewhere. Without a suite of the library in the row, cargo would
    # choose fewer features for it, and compile everything again.
    "fuzz               | 300 | rows scenes           | VKSORT_FUZZ_SECONDS=120 only=mutated"
    # Sixteen worker threads on few cores: look-back waits for tiles whose thread has been interrupted.
    "lavapipe-4-busy    | 600 | conformance fallback  | lavapipe-128 unoptimized LP_NUM_THREADS=16 only=onesweep VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=2/4,4/8"
    "lavapipe-8-busy    | 600 | conformance fallback  | lavapipe-256 LP_NUM_THREADS=16 only=onesweep VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/2"
    "lavapipe-16-busy   | 600 | conformance fallback  | $wide LP_NUM_THREADS=16 only=onesweep VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=4/4"
    # Mesa's newest: another compiler, other limits of loops, other code for subgroups. Programs that tests start are the
    # system's, which cannot load its libraries.
    "newer-lavapipe     | 1200 | conformance matrix fallback blocks | newer-lavapipe VKSORT_EXPECT_SUBGROUP=8 VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=2/3"
    # One key type goes through every kernel; the whole matrix would take this mode many minutes. What the mode adds at each
    # barrier are loops, whose turns the older driver limits: it would report races that are none.
    "gpu-assisted       | 600 | matrix                | newer-lavapipe unoptimized newer-layer gpu-assisted only=/f32/ VKSORT_TEST_LEVEL=reduced"
    # A device that was created without optional features: kernels emulate subgroups.
    "least              | 600 | conformance matrix recording visitors | lavapipe-256 system-layer VKSORT_LEAST=1 VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/2 $untimed"
    "c                  | 900 | c                     | lavapipe-256 system-layer"
    # In the second row the layer also sees the hazards between command buffers of a submission.
    "wgpu               | 900 | wgpu.sh               | lavapipe-256 system-layer VKSORT_EXPECT_SUBGROUP=8"
    "newer-wgpu         | 600 | wgpu                  | newer-lavapipe newer-layer VK_LAYER_VALIDATE_SYNC=1"
    "features           | 900 | features              | lavapipe-256"
    "window             | 300 | rows window           | lavapipe-256 system-layer"
    "doc                | 300 | doc                   | lavapipe-256"
    # The older layer and the newer one, which finds hazards in shaders too, share the suites.
    "validation         | 900 | blocks conformance recording emulated render | lavapipe-256 system-layer VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/2 $untimed"
    "newer-validation   | 900 | matrix fallback recording routes frames properties visitors render | lavapipe-256 newer-layer VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/2 $untimed"
    # A queue of another family, which software drivers do not have.
    "two-queues         | 300 | frames                | lavapipe-256 newer-layer two-queues only=two-queues"
)

# Every configuration runs with overflow checks and debug assertions in this package; its dependencies are not optimized.
cargo=(cargo --config scripts/checked.toml)
# Visitors are compiled, which takes a C++ tool chain; all configurations run what is built with it.
features=(--features vksort/runtime-shaders,vksort-programs/visitors,vksort-programs/window)
# Four random bytes, as a number.
seed=${VKSORT_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}

# Variables that would lead a configuration elsewhere.
clean=(env)
for variable in $(compgen -e); do
    case $variable in
        VK_* | VKSORT_* | LP_* | GALLIVM_* | MESA_*) clean+=(-u "$variable") ;;
    esac
done

# Kernels that lavapipe has compiled, for this run and later ones. Mesa finds an entry by the kernel and the driver. Processor,
# width and optimization decide about its code too, so directories are named by them.
processor=$(grep -m 1 -E '^(flags|Features)' /proc/cpuinfo | sha256sum) || true
mesa_cache=$vksort_cache/mesa-${processor:0:16}

# Splits a row into `name`, `limit`, `suites` and `words`.
split() {
    IFS='|' read -r name limit suites words <<<"$1"
    name=${name// /} limit=${limit// /}
}

# Turns the words of a row into `variables` and `only`; fails with `missing` set when one cannot be had here.
resolve() {
    local word icd layer parts text texts kernels=''
    variables=() only=() missing='' optional=''
    parts=$(chromium_parts) || parts=
    for word in $1; do
        case $word in
            lavapipe-*)
                icd=$(lavapipe_icd) || missing="lavapipe is not installed"
                kernels=${word#*-}
                variables+=("LP_NATIVE_VECTOR_WIDTH=$kernels" "VK_DRIVER_FILES=$icd" "VK_ICD_FILENAMES=$icd")
                # Without AVX-512 the driver may choose another subgroup size, which the suites then print.
                [[ $word != lavapipe-512 ]] || ! grep -qw avx512f /proc/cpuinfo || variables+=(VKSORT_EXPECT_SUBGROUP=16)
                ;;
            unoptimized) kernels=unoptimized-$kernels variables+=(GALLIVM_PERF=nopt) ;;
            newer-lavapipe)
                # What Debian has on the day is no fault of the code.
                missing=$(tools/gpu-compilers/setup.sh "$gpu_compilers") || optional=1 missing=${missing:-setting them up failed}
                variables+=("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=$PWD/tools/gpu-compilers/run.sh $gpu_compilers lvp"
                    LP_NATIVE_VECTOR_WIDTH=256)
                kernels=newer
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
            two-queues)
                tools/two-queues/build.sh target/two-queues || die "configuration $name: its layer does not build"
                # The validation layer is the first, which is above the other and so sees both families.
                variables+=("VK_LAYER_PATH=$parts/layers:$PWD/target/two-queues" VKSORT_EXPECT_FAMILIES=2
                    VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation:VK_LAYER_VKSORT_two_queues)
                ;;
            gpu-assisted) variables+=(VK_LAYER_GPUAV_ENABLE=1) ;;
            only=*) only=(-- "${word#only=}") ;;
            skip=*)
                only=(--)
                IFS=, read -ra texts <<<"${word#skip=}"
                for text in "${texts[@]}"; do only+=(--skip "$text"); done
                ;;
            *=*) variables+=("$word") ;;
            *) die "configuration $name: unknown word $word" ;;
        esac
    done
    [[ -z $kernels ]] || variables+=("MESA_SHADER_CACHE_DIR=$mesa_cache/$kernels")
    [[ -z $missing ]]
}

# Prints the draws that failed and are not in git yet, to be pasted into their files: CI throws its clone away.
print_new_draws() {
    local file lines
    git rev-parse --quiet --verify HEAD >/dev/null 2>&1 || return 0
    for file in tests/regressions/*.txt; do
        [[ -e $file ]] || continue
        lines=$({ git show "HEAD:./$file" 2>/dev/null || true; } | diff - "$file" | sed -n 's/^> \(cc \)/\1/p') || true
        [[ -z $lines ]] || printf 'to keep in %s:\n%s\n' "$file" "$lines"
    done
}

run() {
    local name limit suites words variables missing optional only command suite
    split "$1"
    command=("${cargo[@]}" test --release --no-fail-fast "${features[@]}")
    for suite in $suites; do
        case $suite in
            features) command=(scripts/features.sh test) ;;
            c) command=(scripts/c.sh) ;;
            wgpu.sh) command=(scripts/wgpu.sh) ;;
            wgpu) command=("${cargo[@]}" test --release --no-fail-fast --package vksort --features wgpu --test wgpu) ;;
            lib | doc) command+=("--$suite") ;;
            *) command+=(--test "$suite") ;;
        esac
    done
    if resolve "$words"; then
        run_suites "$name" "$limit" "${clean[@]}" "${variables[@]}" "VKSORT_SEED=$seed" "${command[@]}" "${only[@]}"
        # A layer that does not know the variable would pass in its usual mode.
        [[ $words != *gpu-assisted* ]] || grep -q 'GPU Assisted Validation' "$log" ||
            { failed=$((failed + 1)) && fail "$name" "the layer does not say that it is in this mode"; }
        # Each row counts from zero.
        ((failed == 0)) || print_new_draws
    elif [[ $optional ]]; then
        CI='' skip "$name" "$missing"
    else
        skip "$name" "$missing"
    fi
}

names=() chosen=() used= at_once=2
for row in "${configurations[@]}"; do
    split "$row"
    names+=("$name") used+=" $suites "
done
while (($#)); do
    case $1 in
        --help) usage && exit ;;
        --list) printf '%s\n' "${configurations[@]}" && exit ;;
        --at-once)
            [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "--at-once is '${2:-}', allowed is a number from 1 on"
            at_once=$2
            shift
            ;;
        *)
            [[ " ${names[*]} " == *" $1 "* ]] || die "unknown configuration $1, allowed are ${names[*]}"
            chosen+=("$1")
            ;;
    esac
    shift
done
[[ $seed =~ ^[0-9]+$ ]] || die "VKSORT_SEED is '$seed', allowed is a number"
[[ ${chosen[*]} ]] || chosen=("${names[@]}")

scripts/setup.sh --tests --kernels
mkdir -p "$mesa_cache" # Mesa itself creates only the last directory of a path
# A suite that no configuration runs would pass unseen.
metadata=$(cargo metadata --locked --no-deps --format-version 1) || die "cargo metadata failed"
targets=$(python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    for target in package["targets"]:
        if target["kind"] == ["test"]:
            print(target["name"])
' <<<"$metadata")
for suite in $targets; do
    [[ $used == *" $suite "* ]] || die "the suite $suite is in no configuration of this script"
done

printf 'VKSORT_SEED=%s\n' "$seed"
if ! "${cargo[@]}" test --release --no-run "${features[@]}"; then
    say "test.sh: the tests do not build"
    failed=1
    finish
fi
# Rows that run beside them would wait for cargo's lock until wgpu is compiled, and exceed their limits.
if [[ ${chosen[*]} == *wgpu* ]] && ! "${cargo[@]}" test --release --no-run --package vksort --features wgpu --test wgpu; then
    say "test.sh: the tests of wgpu do not build"
    failed=1
    finish
fi
for row in "${configurations[@]}"; do
    split "$row"
    [[ " ${chosen[*]} " != *" $name "* ]] || in_background "$at_once" run "$row"
done
finish
