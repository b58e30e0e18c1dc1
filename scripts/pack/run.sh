#!/usr/bin/env bash
# Runs vksort's tests and examples on this machine's Vulkan device: ./run.sh [OPTION...]
#
# The last line is the sum of the tests. Logs go to ./vksort-logs.
#
#   --quick          a short run: fewer sizes and patterns, no emulated subgroups
#   --device DEVICE  an index or a part of the name, as ./examples/devices prints them; the best one without it
#   --scene FILE     a scene of splats to draw, instead of one made up
#   --help           this text
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/tally.sh
source "$here/tally.sh"
logs=vksort-logs

level=full elements=16777216 scene=(--synthetic 500000)
suites=$(VKSORT_TEST_SUITES='?' "$here/tests/device" | sed -n 's/^suite //p') validated=(conformance fallback emulated recording frames)
while (($#)); do
    case $1 in
        --quick)
            level=reduced elements=1048576 validated=(conformance recording)
            suites=$(grep -vx emulated <<<"$suites")
            ;;
        --device | --scene)
            [[ ${2:-} ]] || { echo "run.sh: $1 needs a value" >&2 && exit 2; }
            [[ $1 == --device ]] && export VKSORT_DEVICE=$2
            [[ $1 == --scene ]] && scene=(--scene "$2")
            shift
            ;;
        --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;;
        *) echo "run.sh: unknown option $1, see --help" >&2 && exit 2 ;;
    esac
    shift
done

export VKSORT_EXAMPLES=$here/examples VKSORT_TEST_LEVEL=$level

# Runs an example and shows what it prints.
example() {
    local name=$1
    shift
    run_program "example-$name" 120 "$here/examples/$name" "$@"
    ((status != 0)) || tail -n +3 "$log" | sed 's/^/    /'
}

cat "$here/BUILD"
example devices
# Without a device everything else fails for the same reason.
((failed == 0)) || finish
example sort --count "$elements"
example splats "${scene[@]}"
example record

for test in "$here"/tests/*; do
    [[ ${test##*/} == device ]] || run_suites "${test##*/}" 300 "$test"
done
for suite in $suites; do
    run_suites "$suite" 300 env "VKSORT_TEST_SUITES=$suite" "$here/tests/device"
done

# Whether the loader finds the Khronos layer without help.
system_layer() {
    local root
    for root in "$HOME/.local/share" /etc /usr/local/etc /usr/local/share /usr/share; do
        [[ ! -e $root/vulkan/explicit_layer.d/VkLayer_khronos_validation.json ]] || return 0
    done
    return 1
}

# The heuristic lets synchronization validation look at what shaders access.
validation=(VKSORT_VALIDATE=1 VKSORT_TEST_LEVEL=reduced VK_LAYER_SYNCVAL_SHADER_ACCESSES_HEURISTIC=1)
if [[ -d $here/layers ]]; then
    validation+=(VK_LAYER_PATH="$here/layers")
elif ! system_layer; then
    validation=()
fi
for suite in "${validated[@]}"; do
    if ((${#validation[@]})); then
        run_suites "$suite-validated" 300 env "${validation[@]}" "VKSORT_TEST_SUITES=$suite" "$here/tests/device"
    else
        skip "$suite-validated" "no Khronos validation layer in this bundle or on this machine"
    fi
done
finish
