# shellcheck shell=bash
# Runs steps, alone or several at once, counts their tests and ends with a table and the sum: test.sh and the bundle of
# pack.sh use it.

# The directory that gets a log per step; the caller chooses another.
logs=${TMPDIR:-/tmp}/vksort-logs
passed=0 failed=0 skipped=0
# What was skipped in the background, and what follows the sum, if anything.
left_out= last_words=
# A line for each step: name, tests and seconds.
steps=()
child=
# Why the last step was stopped, if it was.
stopped=
# Where steps in the background leave what they counted, in the order in which they were started.
results=
started_steps=0

# What the limits of steps count: `time`, or `cpu` time, which a step on a busy machine takes no more of. Then a step also hangs
# that takes none for `most_idle` seconds. It takes /proc and setsid.
limits=time most_idle=600

# Prints the processes of the session that a step began, and their CPU time in seconds with that of processes that have ended.
# /proc counts in hundredths.
session() {
    cat /proc/[0-9]*/stat 2>/dev/null | awk -v leader="$1" '{
        id = $1
        sub(/^.*\) /, "") # the name before may have spaces
        if ($4 == leader && $1 != "Z") { ids = ids " " id; ticks += $12 + $13 + $14 + $15 }
    } END { print int(ticks / 100) ids }'
}

# Ends all processes of a step, first by asking.
end_session() {
    local signal processes
    for signal in TERM KILL; do
        read -r _ processes < <(session "$1")
        # shellcheck disable=SC2086
        [[ -z $processes ]] || kill -"$signal" $processes 2>/dev/null || true
        [[ $signal == KILL || -z $processes ]] || sleep 2
    done
}

# A step has a process group or a session of its own, which Ctrl-C does not reach.
stop() {
    if [[ $child ]]; then
        [[ $limits == time ]] || end_session "$child"
        kill -TERM "$child" 2>/dev/null || true
    fi
    local background
    for background in $(jobs -p); do
        kill -TERM "$background" 2>/dev/null || true
    done
    exit 130
}
trap stop INT TERM

# Prints passed, failed and ignored, added up over the result lines of all suites in a log.
counts_of() {
    awk '/test result: / {
        for (i = 2; i <= NF; i++) {
            if ($i == "passed;") passed += $(i - 1)
            if ($i == "failed;") failed += $(i - 1)
            if ($i == "ignored;") ignored += $(i - 1)
        }
    } END { print passed + 0, failed + 0, ignored + 0 }' "$1"
}

report() {
    printf '%-22s %s\n' "$1" "$2"
}

# Runs a command with a limit in seconds; its exit status goes to `status`, what it prints to `log`.
run_logged() {
    local name=$1 limit=$2 used before=-1 changed=$SECONDS
    shift 2
    log=$logs/$name.log
    status=0 stopped=
    mkdir -p "$logs"
    {
        printf '$'
        printf ' %q' "$@"
        printf '\n\n'
    } >"$log"
    [[ ! -t 1 ]] || printf '%-22s ...\r' "$name"
    if [[ $limits == time || ! -r /proc/self/stat ]] || ! command -v setsid >/dev/null; then
        timeout --kill-after=10 "$limit" "$@" >>"$log" 2>&1 </dev/null &
        child=$!
        wait "$child" || status=$?
        child=
        [[ $status != 124 && $status != 137 ]] || stopped="over the limit of $limit s"
        return
    fi
    setsid "$@" >>"$log" 2>&1 </dev/null &
    child=$!
    while kill -0 "$child" 2>/dev/null; do
        sleep 1
        read -r used _ < <(session "$child")
        if ((used != before)); then
            before=$used changed=$SECONDS
        fi
        if ((used > limit)); then
            stopped="over the limit of $limit s of CPU time"
        elif ((SECONDS - changed > most_idle)); then
            stopped="it did nothing for $most_idle s"
        fi
        [[ -z $stopped ]] || { end_session "$child" && break; }
    done
    wait "$child" || status=$?
    child=
}

fail() {
    report "$1" "FAILED: $2; the end of $log:"
    tail -n 40 "$log" | sed 's/^/    /'
}

# How a command ended that did not end well.
why() {
    if [[ $stopped ]]; then
        printf '%s' "$stopped"
    elif grep -q 'No space left on device' "$log"; then
        printf 'the disk is full'
    else
        printf 'exit status %s' "$status"
    fi
}

# Sets `cpu` to the CPU time of this script and of all that it has waited for, in seconds. A subshell would have its own.
measure_cpu() {
    local file
    file=$(mktemp)
    times >"$file"
    cpu=$(tr 'ms' '  ' <"$file" | awk '{ seconds += 60 * ($1 + $3) + $2 + $4 } END { print int(seconds + 0.5) }')
    rm -f "$file"
}

# Runs test binaries, counting their tests: run_suites NAME LIMIT COMMAND...
run_suites() {
    local name=$1 started=$SECONDS step_passed step_failed step_ignored reason=
    run_logged "$@"
    read -r step_passed step_failed step_ignored < <(counts_of "$log")
    if ((status != 0 && step_failed == 0)); then
        # A crash or a time limit leaves no count.
        step_failed=1 reason=$(why)
    elif ((step_failed > 0)); then
        reason="$step_failed of $((step_passed + step_failed)) tests"
    elif ((step_passed == 0)); then
        step_failed=1 reason="no test ran"
    fi
    passed=$((passed + step_passed)) failed=$((failed + step_failed)) skipped=$((skipped + step_ignored))
    steps+=("$name $((step_passed + step_failed)) $((SECONDS - started))")
    if [[ $reason ]]; then
        fail "$name" "$reason"
    else
        report "$name" "$step_passed passed in $((SECONDS - started)) s"
    fi
}

# Runs a program whose exit status is its one test: run_program NAME LIMIT COMMAND...
run_program() {
    local started=$SECONDS
    run_logged "$@"
    steps+=("$1 1 $((SECONDS - started))")
    if ((status == 0)); then
        passed=$((passed + 1))
        report "$1" "1 passed in $((SECONDS - started)) s"
    else
        failed=$((failed + 1))
        fail "$1" "$(why)"
    fi
}

# Counts a step that cannot run here: skip NAME REASON. In CI nothing may be missing.
skip() {
    if [[ ${CI:-} == true ]]; then
        failed=$((failed + 1))
        report "$1" "FAILED: $2"
    else
        skipped=$((skipped + 1))
        report "$1" "skipped: $2"
        [[ -z $results ]] || printf 'skipped %s: %s\n' "$1" "$2" >>"$results/skipped"
    fi
}

# Runs a function that takes steps, in the background as soon as fewer than so many run: in_background COUNT FUNCTION...
in_background() {
    local at_once=$1
    shift
    [[ $results ]] || results=$(mktemp -d)
    while (($(jobs -rp | wc -l) >= at_once)); do
        wait -n || true
    done
    started_steps=$((started_steps + 1))
    (
        trap stop INT TERM
        passed=0 failed=0 skipped=0 steps=()
        "$@"
        {
            printf '%s %s %s\n' "$passed" "$failed" "$skipped"
            printf '%s\n' "${steps[@]}"
        } >"$results/$started_steps"
    ) &
}

# Waits for what runs in the background and adds up what it counted.
gather() {
    local step lines line more_passed more_failed more_skipped
    wait
    for ((step = 1; step <= started_steps; step++)); do
        if ! mapfile -t lines <"$results/$step" || ((${#lines[@]} == 0)); then
            failed=$((failed + 1))
            report "step $step" "FAILED: it ended without a result"
            continue
        fi
        read -r more_passed more_failed more_skipped <<<"${lines[0]}"
        passed=$((passed + more_passed)) failed=$((failed + more_failed)) skipped=$((skipped + more_skipped))
        for line in "${lines[@]:1}"; do
            [[ -z $line ]] || steps+=("$line")
        done
    done
    if [[ $results ]]; then
        [[ ! -e $results/skipped ]] || left_out=$(<"$results/skipped")
        rm -rf "$results"
    fi
    results='' started_steps=0
}

# Ends the script with a table of the steps, and the sum as the last line or before `last_words`.
finish() {
    local sum line name tests seconds cpu
    gather
    if ((${#steps[@]} > 1)); then
        printf '\n%-22s %8s %8s\n' step tests seconds
        for line in "${steps[@]}"; do
            read -r name tests seconds <<<"$line"
            printf '%-22s %8s %8s\n' "$name" "$tests" "$seconds"
        done
        printf '%-22s %8s %8s\n\n' together "$((passed + failed))" "$SECONDS"
    fi
    [[ -z $left_out ]] || printf '%s\n' "$left_out"
    sum="$passed passed, $failed failed"
    ((skipped == 0)) || sum+=", $skipped skipped"
    measure_cpu
    printf '%s\n' "$sum, in $cpu s of CPU time and $SECONDS s" ${last_words:+"$last_words"}
    ((failed == 0 && passed > 0)) && exit 0
    exit 1
}
