#!/usr/bin/env bash
# Runs the tests: scripts/test.sh [--all] [--at-once N] [CONFIGURATION...]
#
# Without --all these are the essential ones: what needs no device, but for the lab's, every kernel on lavapipe, a part of the sorts
# there, on SwiftShader and under a validation layer, and the simulated device. They take 9 minutes on two idle cores of a machine
# that has compiled nothing yet, and need no C++ compiler. --all runs every test on every driver configuration, as CI does.
#
# Sets up the machine first (scripts/setup.sh --tests, or --all-tests --kernels). Logs are in target/test-logs; each begins with the
# command that repeats it. Data and combinations follow from a seed, a new one each time; VKSORT_SEED=N repeats a run. The last
# lines are a table of the configurations, and the sum over all with the CPU time. lavapipe keeps compiled kernels in
# ~/.cache/vksort/mesa-*, with which its configurations take half the time in later runs.
#
#   CONFIGURATION  a name from --list [default: all of them]
#   --all          all tests instead of the essential ones
#   --at-once N    configurations that run at the same time [default: 2, as one sometimes leaves cores idle]
#   --list         prints the configurations
#   --help         this text
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
source scripts/lib.sh
# shellcheck source=scripts/tally.sh
source scripts/tally.sh
logs=target/test-logs limits=cpu

# A row per configuration: name | limit in seconds of CPU time | suites | driver, validation layer and variables.
# A suite is one of the binary `device` or of vksort-visitors, or another binary of tests. `programs:render` are the tests of a module of a
# binary. `lib` stands for the unit tests, `doc` for the documentation tests, `capi` for the tests of vksort-capi in
# Rust, `compiler` for those of vksort-visitors that need no device, `c` for its programs in C and C++, `bindings` for the programs of other bindings, `wgpu.sh` for all tests of
# vksort-wgpu, and `wgpu` for its suite alone.
# `lavapipe-WIDTH`, with kernels `unoptimized` by LLVM, `swiftshader`, `system-layer`, `newer-layer` and its `gpu-assisted`
# mode stand for the variables that choose them. `newer-lavapipe` is that of the packages that scripts/gpu-compilers.sh unpacks.
# `two-queues` puts the layer of lab/two-queues below `newer-layer`, and `faults` has processes run on that of lab/fault-layer.
# `only=TEXT` runs the tests with that in their name, `skip=TEXT,TEXT` those with none of these.
#
# The level `full` takes every option; `reduced` takes some values and windows, and of pairs of options only those that meet in a
# kernel. A row with VKSORT_TEST_PART runs that part of the trials of designs, which the seed chooses.

# What measures frames compares two ways in one run, which one row shows.
untimed=skip=are_measured
# What a first sort costs is the time of LLVM's optimizer, which the essential tests do without.
without_optimizer=skip=first::

# Each run takes another part of the designs. Most of the first run's time goes into compiling kernels, so LLVM does not optimize
# them, in any row: those of lavapipe share what is compiled.
essential=(
    "lavapipe-8         | 1800 | software modules segments segments-modules splits splits-modules top top-modules records kept-visitors conformance blocks matrix fallback routes verified inspected limits subgroups halves slices allocations cost | lavapipe-256 unoptimized VKSORT_EXPECT_SUBGROUP=8 VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/12"
    "swiftshader        | 1200 | conformance fallback kept-visitors | swiftshader VKSORT_EXPECT_SUBGROUP=4 VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/4"
    # The layer sees hazards within shaders and between submissions. Suites of the API run under it alone.
    "validation         | 1200 | matrix recording inspected frames | lavapipe-256 unoptimized newer-layer VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/8 $untimed"
    "host               | 1800 | lib doc host profiles programs capi | lavapipe-256 unoptimized VKSORT_EXPECT_SUBGROUP=8 $without_optimizer"
    "simulated          | 600 | simulated             | VKSORT_DRAW_SECONDS=3"
)

# What runs on every driver. Of the full designs each run has a sixth of the trials, by its seed: half of these at subgroup size 8,
# three eighths at 4 and an eighth at 16, where kernels take longest to compile. Suites of the API (recording, frames), of records and
# of programs do not depend on the subgroup size, so fewer rows have them. SwiftShader keeps no compiled kernels, and takes six
# minutes for segments beyond a block, which the row leaves out.
devices="modules inspected segments splits top blocks conformance matrix fallback finish routes properties subgroups"
# Without AVX-512 vectors of 16 lanes are split. LLVM's optimizer then takes minutes for a kernel of wide keys with uneven
# digits, so the rows of that width do without it.
wide=lavapipe-512
grep -qw avx512f /proc/cpuinfo || wide="lavapipe-512 unoptimized"

# Nearly all of a first run's time goes into compiling kernels, which lavapipe keeps for each width. So the configurations of
# a width come behind the longest of it, and take its part of the trials, whose kernels are there already. A small part of few
# trials may be none, so the busy rows take more than that part. LLVM's optimizer takes a third of a compilation. Kernels go
# through it at subgroup size 8, on both versions of Mesa, and the rows of size 4 and the GPU-assisted one do without.
everything=(
    "lavapipe-8         | 3600 | software $devices segments-modules splits-modules top-modules records verified recording emulated frames visitors kept-visitors | lavapipe-256 VKSORT_EXPECT_SUBGROUP=8 VKSORT_TEST_LEVEL=full VKSORT_TEST_PART=1/12"
    # The older lavapipe may crash in draws at this width, which is not its own choice on any processor.
    "lavapipe-16        | 3600 | $devices segments-modules | $wide VKSORT_TEST_LEVEL=full VKSORT_TEST_PART=48/48 VKSORT_DRAW_SECONDS=5"
    "lavapipe-4         | 2400 | $devices segments-modules visitors | lavapipe-128 unoptimized VKSORT_EXPECT_SUBGROUP=4 VKSORT_TEST_LEVEL=full VKSORT_TEST_PART=2/24,4/48"
    "swiftshader        | 2400 | software ${devices/ splits/} programs:splats programs:render kept-visitors | swiftshader VKSORT_EXPECT_SUBGROUP=4 VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/10 $untimed"
    "host               | 1800 | lib host profiles programs lab capi limits halves slices allocations cost | lavapipe-256 VKSORT_EXPECT_SUBGROUP=8 skip=window::,ledger::"
    # The SPIR-V of the kernels on a simulated device, at subgroup sizes of 4 to 128.
    "simulated          | 1200 | simulated             | VKSORT_DRAW_SECONDS=20"
    # Damaged scenes and arrays, for 10 seconds each; the suites take seconds elsewhere.
    "fuzz               | 600 | programs:scenes programs:arrays | VKSORT_FUZZ_SECONDS=10"
    # Random sorts of the run's seed, as many as take 20 seconds.
    "ledger             | 600 | lab:ledger            | lavapipe-256 unoptimized VKSORT_LEDGER_SECONDS=20"
    # Sixteen worker threads on few cores: look-back waits for tiles whose thread has been interrupted.
    "lavapipe-4-busy    | 1200 | conformance fallback  | lavapipe-128 unoptimized LP_NUM_THREADS=16 only=onesweep VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=2/12,4/24"
    "lavapipe-8-busy    | 1200 | conformance fallback  | lavapipe-256 LP_NUM_THREADS=16 only=onesweep VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/6"
    "lavapipe-16-busy   | 1200 | conformance fallback  | $wide LP_NUM_THREADS=16 only=onesweep VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=12/12"
    # A renderer's build, which has only the kernels of GPUs.
    "without-software   | 1200 | software conformance fallback segments | alone lavapipe-256 unoptimized VKSORT_EXPECT_SUBGROUP=8 VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/12"
    # Mesa's newest: another compiler, other limits of loops, other code for subgroups. Programs that tests start are the
    # system's, which cannot load its libraries.
    "newer-lavapipe     | 2400 | modules inspected conformance matrix segments segments-modules records fallback blocks | newer-lavapipe VKSORT_EXPECT_SUBGROUP=8 VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/6"
    # One key type goes through every kernel; the whole matrix would take this mode many minutes. What the mode adds at each
    # barrier are loops, whose iterations the older driver limits: it would report races that are none.
    "gpu-assisted       | 1200 | matrix                | newer-lavapipe unoptimized newer-layer gpu-assisted only=/f32/ VKSORT_TEST_LEVEL=reduced"
    # A device that was created without optional features: SPIR-V 1.6 promises full subgroups there. In the second row, nothing is
    # known of the driver, and kernels emulate subgroups.
    "least              | 1200 | modules conformance matrix | lavapipe-256 system-layer VKSORT_LEAST=1 VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/12 $untimed"
    "emulated           | 1200 | modules conformance matrix records recording visitors | lavapipe-256 system-layer VKSORT_LEAST=emulated VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/12 $untimed"
    "c                  | 1800 | c                     | lavapipe-256 system-layer"
    # Two minutes of it compile what the programs depend on, once per machine.
    "bindings           | 900 | bindings              | lavapipe-256 system-layer"
    # In the second row the layer also sees the hazards between command buffers of a submission.
    "wgpu               | 1800 | wgpu.sh               | lavapipe-256 system-layer VKSORT_EXPECT_SUBGROUP=8"
    "newer-wgpu         | 1200 | wgpu                  | newer-lavapipe newer-layer VK_LAYER_VALIDATE_SYNC=1"
    "window             | 600 | programs:window       | lavapipe-256 system-layer"
    "doc                | 600 | doc compiler          | lavapipe-256"
    # The older layer and the newer one, which finds hazards in shaders too, share the suites.
    "validation         | 1800 | blocks conformance recording emulated subgroups programs:render programs:examples | lavapipe-256 system-layer VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/12 $untimed"
    "newer-validation   | 1800 | modules matrix segments segments-modules splits top records fallback finish verified inspected recording routes frames properties subgroups visitors programs:render programs:examples | lavapipe-256 newer-layer VKSORT_TEST_LEVEL=reduced VKSORT_TEST_PART=1/12 $untimed"
    # A queue of another family, which software drivers do not have.
    "two-queues         | 600 | frames                | lavapipe-256 newer-layer two-queues only=two-queues"
    # Calls of Vulkan that fail: 160 of 8,298 ways, by the seed. lab/fault-layer/README.md has the command for all.
    "faults             | 600 | faults                | lavapipe-256 unoptimized faults VKSORT_TEST_LEVEL=reduced"
)

# Every configuration runs with overflow checks and debug assertions in this package; its dependencies are not optimized.
cargo=(cargo --config scripts/checked.toml)
# With --all visitors are compiled, which takes a C++ tool chain; all configurations run what is built with it.
features=()
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

# Turns the words of a row into `variables`, `only` and `package`; fails with `missing` set when one cannot be had here.
resolve() {
    local word icd layer parts text texts kernels=''
    variables=() only=() package=(${features[@]+"${features[@]}"}) missing='' optional=''
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
                missing=$(lab/gpu-compilers/setup.sh "$gpu_compilers") || optional=1 missing=${missing:-setting them up failed}
                variables+=("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER=$PWD/lab/gpu-compilers/run.sh $gpu_compilers lvp"
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
                    # It says no more after ten messages of a kind otherwise, and tests provoke messages.
                    VK_LAYER_ENABLE_MESSAGE_LIMIT=0
                    # Without it synchronization validation looks at transfers only.
                    VK_LAYER_SYNCVAL_SHADER_ACCESSES_HEURISTIC=1 VKSORT_EXPECT_HAZARDS=1)
                ;;
            two-queues)
                lab/two-queues/build.sh target/two-queues || die "configuration $name: its layer does not build"
                # The validation layer is the first, which is above the other and so sees both families.
                variables+=("VK_LAYER_PATH=$parts/layers:$PWD/target/two-queues" VKSORT_EXPECT_FAMILIES=2
                    VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation:VK_LAYER_VKSORT_two_queues)
                ;;
            faults)
                lab/fault-layer/build.sh target/fault-layer || die "configuration $name: its layer does not build"
                variables+=("VKSORT_FAULT_LAYER=$PWD/target/fault-layer")
                ;;
            gpu-assisted) variables+=(VK_LAYER_GPUAV_ENABLE=1) ;;
            # What programs add to the features of the library is left out.
            alone) package=(--package vksort) ;;
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

# The suites of a binary whose trials are made on the device.
suites_of() {
    "${clean[@]}" VKSORT_TEST_SUITES='?' "${cargo[@]}" test --quiet --release "$@" | sed -n 's/^suite //p'
}

# Runs commands one after the other, given as lines; fails with the last one that failed.
each() {
    local line status=0
    for line in "$@"; do
        eval "$line" || status=$?
    done
    return "$status"
}

run() {
    local name limit suites words variables missing optional only package commands suite base named=() modules=() targets=() visited=() line
    split "$1"
    if ! resolve "$words"; then
        if [[ $optional ]]; then CI='' skip "$name" "$missing"; else skip "$name" "$missing"; fi
        return
    fi
    base=("${cargo[@]}" test --release --no-fail-fast ${package[@]+"${package[@]}"})
    commands=()
    # One command for whole suites, and one for each binary of which modules are asked for.
    for suite in $suites; do
        case $suite in
            c | bindings) commands+=("scripts/$suite.sh") ;;
            capi) commands+=("$(printf '%q ' "${cargo[@]}" test --release --no-fail-fast "${capi[@]}")") ;;
            compiler)
                line=("${cargo[@]}" test --release --no-fail-fast "${visitors[@]}")
                commands+=("$(printf '%q ' "${line[@]}" --lib --test kept)" "$(printf '%q ' "${line[@]}" --doc)")
                ;;
            wgpu.sh) commands+=(scripts/wgpu.sh) ;;
            wgpu) commands+=("$(printf '%q ' "${cargo[@]}") test --release --no-fail-fast --package vksort-wgpu --test wgpu") ;;
            lib) targets+=(--lib) ;;
            doc) commands+=("$(printf '%q ' "${base[@]}" --doc)") ;;
            *:*) modules+=("${suite%%:*}" "${suite#*:}::") ;;
            *)
                if [[ " $device_suites " == *" $suite "* ]]; then
                    [[ " ${targets[*]-} " == *" device "* ]] || targets+=(--test device)
                    named+=("$suite")
                elif [[ " $visitor_suites " == *" $suite "* ]]; then
                    ((${#visited[@]})) || visited=("${cargo[@]}" test --release --no-fail-fast "${visitors[@]}" --test visitors)
                    named+=("$suite")
                else
                    targets+=(--test "$suite")
                fi
                ;;
        esac
    done
    ((${#targets[@]} == 0)) || commands+=("$(printf '%q ' "${base[@]}" "${targets[@]}" "${only[@]}")")
    ((${#visited[@]} == 0)) || commands+=("$(printf '%q ' "${visited[@]}" "${only[@]}")")
    while ((${#modules[@]})); do
        line=("${base[@]}" --test "${modules[0]}" -- "${modules[1]}" "${only[@]:1}")
        commands+=("$(printf '%q ' "${line[@]}")")
        modules=("${modules[@]:2}")
    done
    run_suites "$name" "$limit" "${clean[@]}" "${variables[@]}" "VKSORT_SEED=$seed" ${named[@]+"VKSORT_TEST_SUITES=${named[*]}"} \
        bash -c "$(declare -f each); each \"\$@\"" each "${commands[@]}"
    # A layer that does not know the variable would pass in its usual mode.
    [[ $words != *gpu-assisted* ]] || grep -q 'GPU Assisted Validation' "$log" ||
        { failed=$((failed + 1)) && fail "$name" "the layer does not say that it is in this mode"; }
    # Each row counts from zero.
    ((failed == 0)) || print_new_draws
}

# Ends with one line if a disk has less room than what is built there takes: needs_space FOLDER MIB PURPOSE.
needs_space() {
    local folder=$1 free taken=0
    [[ ! -e $folder ]] || taken=$(du --summarize --block-size=1M "$folder" 2>/dev/null | cut -f1)
    while [[ ! -e $folder ]]; do folder=$(dirname "$folder"); done
    free=$(df --output=avail --block-size=1M "$folder" | tail -n 1)
    ((free + taken >= $2 && free >= 100)) ||
        die "the disk of $1 has $((free)) MiB left, needed are $(($2 > taken + 100 ? $2 - taken : 100)) MiB for $3"
}

all=0 chosen=() at_once=2 list=0 capi=(--package vksort-capi) visitors=(--package vksort-visitors)
while (($#)); do
    case $1 in
        --help) usage && exit ;;
        --all) all=1 ;;
        --list) list=1 ;;
        --at-once)
            [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "--at-once is '${2:-}', allowed is a number from 1 on"
            at_once=$2
            shift
            ;;
        -*) die "unknown option $1, allowed are --all, --at-once, --list and --help" ;;
        *) chosen+=("$1") ;;
    esac
    shift
done
if ((all)); then
    configurations=("${everything[@]}")
    features=(--features vksort-lab/visitors,vksort-programs/visitors,vksort-programs/window)
    capi+=(--features visitors)
    needs=(--all-tests --kernels) built_mib=9700
else
    configurations=("${essential[@]}")
    needs=(--tests) built_mib=3000
    last_words="These are the essential tests. scripts/test.sh --all runs all, which takes an hour on a machine that has compiled nothing yet."
fi
((!list)) || { printf '%s\n' "${configurations[@]}" && exit; }
names=()
for row in "${configurations[@]}"; do
    split "$row"
    names+=("$name")
done
for name in ${chosen[@]+"${chosen[@]}"}; do
    [[ " ${names[*]} " == *" $name "* ]] || die "unknown configuration $name, allowed are ${names[*]}"
done
[[ $seed =~ ^[0-9]+$ ]] || die "VKSORT_SEED is '$seed', allowed is a number"
((${#chosen[@]})) || chosen=("${names[@]}")

built=${CARGO_TARGET_DIR:-target}
needs_space "$built" "$built_mib" "what the tests are built to"
needs_space "$vksort_cache" 300 "what is made once per machine"
needs_space "${TMPDIR:-/tmp}" 300 "the files of tests"
scripts/setup.sh "${needs[@]}"
lavapipe_icd >/dev/null || die "a Vulkan driver is missing: lavapipe, of Debian's package mesa-vulkan-drivers"
mkdir -p "$mesa_cache" "$logs" # Mesa itself creates only the last directory of a path

printf 'VKSORT_SEED=%s\n' "$seed"
build() {
    "${cargo[@]}" test --release --no-run "$@" 2>&1 | tee "$logs/build.log" >&2 && return
    ! grep -q 'No space left on device' "$logs/build.log" || die "the tests do not build: the disk of $built is full"
    ! grep -qE 'Could not resolve host|failed to download|spurious network|Could not connect' "$logs/build.log" ||
        die "the tests do not build: crates of Cargo.lock are missing, and downloading them takes a network"
    die "the tests do not build, see above"
}
build ${features[@]+"${features[@]}"}
# Rows that run beside them would wait for cargo's lock until these are compiled.
[[ " ${chosen[*]} " != *" host "* ]] || build "${capi[@]}"
((!all)) || build "${visitors[@]}"
[[ " ${chosen[*]} " != *wgpu* ]] || build --package vksort-wgpu --test wgpu
[[ " ${chosen[*]} " != *" without-software "* ]] || build --package vksort --test device

device_suites=$(suites_of ${features[@]+"${features[@]}"} --test device | paste -sd ' ')
# Visitors that are compiled at run time are not in the essential tests.
visitor_suites=
((!all)) || visitor_suites=$(suites_of "${visitors[@]}" --test visitors | paste -sd ' ')
[[ $device_suites && ($visitor_suites || $all == 0) ]] || die "the tests on a device do not name their suites"
# A suite that no configuration of all tests runs would pass unseen. `capi` brings `header`, and `compiler` brings `kept`.
metadata=$(cargo metadata --locked --no-deps --format-version 1) || die "cargo metadata failed"
targets=$(python3 -c '
import json, sys
for package in json.load(sys.stdin)["packages"]:
    for target in package["targets"]:
        if target["kind"] == ["test"] and target["name"] not in ("device", "visitors", "header", "kept"):
            print(target["name"])
' <<<"$metadata")
used=
for row in "${everything[@]}"; do
    split "$row"
    used+=" $suites "
done
for suite in $targets $device_suites $visitor_suites; do
    [[ $used == *" $suite "* ]] || die "the suite $suite is in no configuration of --all"
done
for row in "${configurations[@]}"; do
    split "$row"
    for suite in $suites; do
        [[ " lib doc c bindings wgpu.sh compiler ${targets//$'\n'/ } $device_suites $visitor_suites " == *" ${suite%%:*} "* ]] || die "configuration $name: there is no suite $suite"
    done
done
for row in "${configurations[@]}"; do
    split "$row"
    [[ " ${chosen[*]} " != *" $name "* ]] || in_background "$at_once" run "$row"
done
finish
