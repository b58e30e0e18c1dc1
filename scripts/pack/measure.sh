#!/usr/bin/env bash
# Tests and measures vksort on this machine's Vulkan device, beside CUB where nvcc is found: ./measure.sh [OPTION...]
#
# Runs a self-test, the device's tests, CUB, the bench, the tuner, and the bench again with the tuner's profile, each for its
# share of the time; what is stopped keeps what it has. All results go to one directory, with a summary of one page, summary.md,
# and report.json, the file to send: it has no names of users, machines and files.
# The exit status is 1 when a test failed, a program of vksort failed, or no test passed in its time.
#
#   --minutes M      time for all of it, 1 to 600 (8 without it)
#   --out DIR        the directory for results, a new or an empty one (./vksort-results without it)
#   --force          replace the results that are there
#   --device DEVICE  an index or a part of the name, as ./examples/devices prints them; the best one without it
#   --max-log2 N     sort up to 2^N elements, 10 to 31 (28 without it, on CPUs 18; less where memory does not reach)
#   --help           this text
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/tally.sh
source "$here/tally.sh"

die() {
    printf 'measure.sh: %s\n' "$*" >&2
    exit 1
}

# Fails unless an option's value is in a range: check_number OPTION VALUE LOW HIGH
check_number() {
    if [[ ! $2 =~ ^[1-9][0-9]{0,5}$ ]] || (($2 < $3 || $2 > $4)); then
        die "$1 is $2, allowed are $3 to $4"
    fi
}

# As it is sent, so without the name of a directory.
command=./measure.sh
minutes=8 out=vksort-results force=0 max_log2=
while (($#)); do
    case $1 in
        --minutes | --out | --device | --max-log2)
            [[ ${2:-} ]] || die "$1 needs a value"
            case $1 in
                --minutes) check_number "$1" "$2" 1 600 && minutes=$2 ;;
                --out) out=$2 ;;
                --device) export VKSORT_DEVICE=$2 ;;
                --max-log2) check_number "$1" "$2" 10 31 && max_log2=$2 ;;
            esac
            [[ $1 == --out ]] || command+=$(printf ' %q %q' "$1" "$2")
            shift
            ;;
        --force) force=1 ;;
        --help) sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" && exit ;;
        *) die "unknown option $1, see --help" ;;
    esac
    shift
done

# Prints the device that all programs will choose.
chosen_device() {
    timeout 60 "$here/examples/devices" --device "${VKSORT_DEVICE:-best}"
}
device=$(chosen_device 2>/dev/null) || die "$(chosen_device 2>&1 >/dev/null | tail -n 1 | sed 's/^error: //')"

if [[ -e $out && ! -d $out ]]; then
    die "--out is $out, which is not a directory"
elif [[ -e $out/steps.csv ]]; then
    ((force)) || die "--out is $out, which holds results; allowed with --force"
    rm -rf "$out"
elif [[ -d $out && $(ls -A "$out") ]]; then
    die "--out is $out, which holds other things than results; allowed is a new or an empty directory"
fi
mkdir -p "$out/logs" 2>/dev/null || die "--out is $out, which cannot be made"
out=$(cd "$out" && pwd)
logs=$out/logs
cp "$here/BUILD" "$out"
printf '%s\n' "$command" >"$out/command.txt"
printf '%s\n' "$device" | tee "$out/device.txt"
timeout 60 "$here/examples/devices" --device "${VKSORT_DEVICE:-best}" --report "$out/device.json" --force >"$logs/device.log" 2>&1 ||
    printf 'measure.sh: there will be no report.json: %s\n' "$(tail -n 1 "$logs/device.log")" >&2
printf 'step,state,seconds,passed,failed,note\n' >"$out/steps.csv"

if [[ -z $max_log2 ]]; then
    max_log2=28
    ! grep -q '^ *kind *CPU$' <<<"$device" || max_log2=18
fi
# The bench takes every second size down from the largest. Of the small ones the others are measured too.
parity=$((max_log2 % 2))
small_log2=$((max_log2 > 17 ? 17 - parity : max_log2 - 1))
# What is measured at one size only.
middle_log2=$((max_log2 > 24 ? 24 - parity : max_log2))
# Elements of problems, each of which the host solves too.
problem_log2=$((max_log2 > 22 ? 22 : max_log2))
large_log2=$((max_log2 > 18 + parity ? 18 + parity : max_log2))
# Device memory may be the host's, and the host needs some for itself.
memory_mib=$(awk '$1 == "MemAvailable:" { print int($2 / 2048) }' /proc/meminfo)

# Steps and their shares of the time; what one does not need goes to those after it.
suites=(conformance matrix fallback recording segments splits top records inspected)
steps=(selftest "${suites[@]/#/test-}" cub cub-segments small sizes features finish methods patterns segments top records few visitors
    lost tune tuned)
shares=(10 10 6 3 4 5 5 4 3 1 12 8 3 12 14 8 5 6 12 6 4 3 2 6 8 5)
# Seconds since the start; the summary takes a moment too.
deadline=$((minutes * 60 - 5))
current='' started=0
# The compilers of CUB's programs.
declare -A building

# Starts the next step, and gives its seconds in `limit`. Fails, with that noted, when no time is left.
begin() {
    local sum=0 share
    for share in "${shares[@]}"; do
        sum=$((sum + share))
    done
    current=${steps[0]} started=$SECONDS
    limit=$(((deadline - SECONDS) * shares[0] / sum))
    steps=("${steps[@]:1}") shares=("${shares[@]:1}")
    ((limit > 0)) || { end skipped "no time was left" && return 1; }
}

# Notes how the step at hand ended: end STATE [NOTE [PASSED FAILED]]
end() {
    local note=${2-} seconds=$((SECONDS - started))
    note=${note//$'\n'/, }
    printf '%s,%s,%s,%s,%s,"%s"\n' "$current" "$1" "$seconds" "${3:-0}" "${4:-0}" "${note//\"/\"\"}" >>"$out/steps.csv"
    local how=$1
    [[ $how == skipped ]] || how+=" after $seconds s"
    report "$current" "$how${note:+: $note}"
    current=
}

# Runs a command in the time of the step at hand, and says in `state` and `note` how it ended.
attempt() {
    run_logged "$current" "$limit" "$@"
    state=failed note="exit status $status: $(tail -n 1 "$log")"
    if ((status == 0)); then
        state='done' note=''
    elif ((status == 124 || status == 137 && SECONDS - started >= limit)); then
        state=stopped note="its share of the time was over"
    fi
}

# Ends a step of tests: end_tests STATE NOTE. They are counted line by line, as a suite that is stopped prints no sum.
end_tests() {
    local state=$1 note=$2 names step_passed step_failed
    step_passed=$(grep -c '^test .* \.\.\. ok$' "$log") || true
    names=$(sed -n 's/^test \(.*[^ ]\) *\.\.\. FAILED$/\1/p' "$log")
    step_failed=$(grep -c . <<<"$names") || true
    if [[ $names ]]; then
        [[ $state != failed ]] || note=
        state=failed note="$names${note:+; $note}"
    elif [[ $state == failed ]]; then
        # A crash names no test.
        step_failed=1
    fi
    passed=$((passed + step_passed)) failed=$((failed + step_failed))
    end "$state" "$note" "$step_passed" "$step_failed"
}

run_tests() {
    begin || return 0
    if [[ ! -x $here/tests/device ]]; then
        end skipped "this bundle has no suites of a device"
        return
    fi
    attempt env VKSORT_TEST_LEVEL=reduced "VKSORT_TEST_SUITES=$1" "$here/tests/device"
    end_tests "$state" "$note"
}

# Runs an example as the step at hand: run_example NAME ARGUMENT...
run_example() {
    local left_out
    attempt "$here/examples/$1" "${@:2}"
    left_out=$(grep '^skipped: ' "$log") || true
    [[ $state != failed ]] || failed=$((failed + 1))
    end "$state" "$note${left_out:+${note:+; }$left_out}"
}

# Sorts of every kind; the report to send has what each came to.
run_selftest() {
    begin || return 0
    local verdict seconds=$limit
    # A kind that has begun may end, however long the driver compiles it.
    limit=$((4 * limit + 20))
    attempt "$here/examples/devices" --device "${VKSORT_DEVICE:-best}" --selftest --seconds "$seconds" \
        --report "$out/device.json" --force
    verdict=$(sed -n 's/^# device [0-9]*: //p' "$log")
    # Kinds for which there was no time are no fault.
    [[ $verdict != 'RIGHT SO FAR'* ]] || state=stopped note=$verdict
    [[ $state != failed ]] || failed=$((failed + 1))
    end "$state" "$note"
}

run_bench() {
    run_example bench "$@" --memory-mib "$memory_mib" --out "$out/$current"
}

# The compiler, also where only the toolkit's own directory has it.
nvcc=$(command -v nvcc || command -v "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc") || nvcc=
# Holds CUB's programs.
temporary=$(mktemp -d)

# Compiles CUB's programs in the background, as that takes long and nothing is timed during the tests.
start_building_cub() {
    [[ $nvcc ]] || return 0
    local capability architecture=native program
    capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1) || true
    [[ ! $capability =~ ^[0-9]+\.[0-9]+$ ]] || architecture=sm_${capability/./}
    for program in cub_sort cub_segments; do
        timeout --kill-after=10 $((deadline / 3)) "$nvcc" -O3 -std=c++17 "-arch=$architecture" "$here/peers/$program.cu" \
            -o "$temporary/$program" >"$logs/$program-build.log" 2>&1 </dev/null &
        building[$program]=$!
    done
}

# Runs one of CUB's programs as the step at hand: run_cub PROGRAM ARGUMENT...
run_cub() {
    local built=0 program=$1
    begin || return 0
    if [[ -z $nvcc ]]; then
        end skipped "nvcc was not found"
        return
    fi
    wait "${building[$program]}" || built=$?
    unset "building[$program]"
    if ((built != 0)); then
        end failed "nvcc ended with exit status $built: $(grep -im 1 error "$logs/$program-build.log")"
        return
    fi
    limit=$((limit + started - SECONDS))
    if ((limit < 1)); then
        end stopped "its share of the time was over when nvcc was done"
        return
    fi
    mkdir "$out/$current"
    # shellcheck disable=SC2016
    attempt bash -c 'exec "${@:2}" >"$1"' cub "$out/$current/results.csv" "$temporary/$program" "${@:2}"
    end "$state" "$note"
}

# Gives in `peers` the options for the rows of a step with CUB. Without a row below its header there is nothing to show.
peers_of() {
    local csv=$out/$1/results.csv
    peers=()
    [[ ! -e $csv ]] || (($(wc -l <"$csv") < 2)) || peers=(--peer-csv "$csv")
}

run_sizes() {
    begin || return 0
    peers_of cub
    run_bench --suite sizes --max-log2 "$max_log2" "${peers[@]}"
}

# Many segments, first elements and records, each beside other ways.
run_problems() {
    begin || return 0
    peers_of cub-segments
    run_bench --suite "$current" --count $((1 << problem_log2)) --runs 11 "${peers[@]}"
}

run_small() {
    begin || return 0
    if ((small_log2 < 11 - parity)); then
        end skipped "no size is left out by the others"
    else
        run_bench --suite sizes --max-log2 "$small_log2"
    fi
}

# Sorts with a finish beside all passes, from where small tiles have an end.
run_finish() {
    begin || return 0
    run_bench --suite finish --min-log2 $((middle_log2 > 16 ? 16 : middle_log2)) --max-log2 "$middle_log2"
}

# Where OneSweep with lost look-back words takes as long as reduce-then-scan. A row chooses between the two.
run_lost() {
    begin || return 0
    run_bench --suite lost --max-log2 "$middle_log2"
}

# Each part of a sort that a visitor may take, beside a buffer in its place.
run_visitors() {
    begin || return 0
    if [[ ! -x $here/examples/visitors ]]; then
        end skipped "this bundle has no visitors"
        return
    fi
    # shellcheck disable=SC2016
    attempt bash -c 'for part in keys pairs output; do echo "# $part"; "$1" --replaces "$part" --count "$2" || exit; done' \
        visitors "$here/examples/visitors" $((1 << problem_log2))
    [[ $state != failed ]] || failed=$((failed + 1))
    end "$state" "$note"
}

run_tuner() {
    begin || return 0
    if [[ ! -x $here/examples/tune ]]; then
        end skipped "this bundle has no tuner"
    else
        run_example tune --seconds $(((limit * 4 + 4) / 5)) --out "$out/profile.json"
    fi
}

run_tuned() {
    begin || return 0
    if [[ ! -e $out/profile.json ]]; then
        end skipped "there is no profile"
    elif ! "$here/examples/bench" --help | grep -q -e --tuning; then
        end skipped "this bundle's bench takes no profile"
    else
        run_bench --suite sizes --min-log2 "$large_log2" --max-log2 "$max_log2" --tuning "$out/profile.json"
    fi
}

summarize() {
    "$here/examples/bench" --summarize "$out" || die "the summary could not be written"
    if grep -q '^ratio' "$logs/visitors.log" 2>/dev/null; then
        printf '\n## Visitors over buffers\n\n```text\n%s\n```\n' \
            "$(grep -E '^(#|elements|algorithm|all|ratio)' "$logs/visitors.log")" >>"$out/summary.md"
    fi
    printf '\n%s\n' "$(<"$out/summary.md")"
}

# Ctrl-C keeps what there is.
interrupt() {
    trap '' INT TERM
    if [[ $child ]]; then
        kill -TERM "$child" 2>/dev/null || true
        wait "$child" || true
    fi
    case $current in
        '') ;;
        test-*) end_tests interrupted "" ;;
        *) end interrupted ;;
    esac
    for current in "${steps[@]}"; do
        started=$SECONDS
        end skipped "the run was interrupted before it"
    done
    summarize
    exit 130
}
trap interrupt INT TERM

cleanup() {
    local pid
    for pid in "${building[@]}"; do
        kill -TERM "$pid" 2>/dev/null || true
    done
    rm -rf "$temporary"
}
trap cleanup EXIT

printf '%s minutes at most; results go to %s\n' "$minutes" "$out"
start_building_cub
run_selftest
for suite in "${suites[@]}"; do
    run_tests "$suite"
done
run_cub cub_sort --max-log2 "$max_log2" --every-to 17
run_cub cub_segments --log2 "$problem_log2"
run_small
run_sizes
begin && run_bench --suite features --count $((1 << middle_log2))
run_finish
begin && run_bench --suite methods --count $((1 << middle_log2))
begin && run_bench --suite patterns --count $((1 << middle_log2))
for suite in segments top records; do
    run_problems
done
begin && run_bench --suite few
run_visitors
run_lost
run_tuner
run_tuned
summarize
printf '\n%s passed, %s failed; results are in %s\n' "$passed" "$failed" "$out"
[[ ! -e $out/report.json ]] || printf 'the report to send is %s\n' "$out/report.json"
((failed == 0 && passed > 0))
