#!/usr/bin/env bash
# Compares two results.csv of the program bench: scripts/compare.sh [--fail-on-regression] OLD.csv NEW.csv
#
# Rows are joined by suite, case, device and size. A ratio is old time over new time: above 1, the new sort is faster. A row
# is marked if the medians differ by more than 3 % and the ranges between quartiles do not overlap. Rows of fewer than 5
# runs are never marked.
#
#   --fail-on-regression  exit code 1 if a case is slower
#   --help                this text
#
# Times are CPU times if both files have them, else device times, else host times. Exit code 2 is for bad input, for cases
# on different devices, and for cases that sort different data. A changed driver or subgroup size gives a warning, as it
# may be the reason for a difference. Rows of one file alone are listed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/lib.sh
source "$here/lib.sh"

fail_on_regression=0
files=()
for argument; do
    case $argument in
        --help | -h) usage && exit ;;
        --fail-on-regression) fail_on_regression=1 ;;
        -*) say "error: unknown option $argument, allowed are --fail-on-regression and --help" && exit 2 ;;
        *) files+=("$argument") ;;
    esac
done
if ((${#files[@]} != 2)); then
    say "error: ${#files[@]} files are given, needed are two: OLD.csv and NEW.csv"
    exit 2
fi
has python3 || { say "error: python3 is missing" && exit 2; }

exec python3 - "$fail_on_regression" "${files[@]}" <<'PYTHON'
import csv
import sys

KEY = ["suite", "case", "device", "n"]
TIMES = ["cpu_ns", "gpu_ns", "wall_ns"]
# Results of other programs, and of versions before the suites of problems, have no CPU time.
NEEDED = TIMES[1:]
# What a case sorts; a name that stands for something else now has no time to compare with.
SORT = ["key", "value_bytes", "order", "bits", "placement", "data", "seed"]
# What else a time depends on, and is not vksort's doing.
AROUND = ["driver", "subgroup"]
COLUMNS = KEY + SORT + AROUND + ["runs"] + [f"{time}_{part}" for time in NEEDED for part in ["median", "q25", "q75"]]
FEWEST_RUNS = 5


def fail(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def read(path):
    try:
        with open(path, newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = [column for column in COLUMNS if column not in (reader.fieldnames or [])]
            if missing:
                fail(f"{path} has no column {missing[0]}")
            rows = {}
            for row in reader:
                key = tuple(row[column] for column in KEY)
                if key in rows:
                    fail(f"{path}, line {reader.line_num}: a second row of {', '.join(key)}")
                if not row["runs"].isdigit():
                    fail(f"{path}, line {reader.line_num}: runs is {row['runs']}, needed is a number")
                rows[key] = row | {time: numbers(path, reader.line_num, row, time) for time in TIMES}
            return rows
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        fail(f"{path}: {error}")


def numbers(path, line, row, time):
    """Median and quartiles, or None where they were not measured."""
    texts = [row.get(f"{time}_{part}") for part in ["median", "q25", "q75"]]
    if not all(texts):
        return None
    try:
        values = [float(text) for text in texts]
    except ValueError:
        fail(f"{path}, line {line}: {time} is {', '.join(texts)}, needed are three numbers")
    if not values[0] > 0:
        fail(f"{path}, line {line}: the median of {time} is {texts[0]}, needed is more than 0")
    return values


def check_devices(old_path, old, new_path, new):
    """Refuses a case that both files have, but on different devices."""
    place = [KEY.index(name) for name in KEY if name != "device"]
    case = lambda key: tuple(key[index] for index in place)
    known = {case(key): key[KEY.index("device")] for key in old if key not in new}
    for key in new:
        device = known.get(case(key))
        if key not in old and device is not None:
            fail(
                f"{', '.join(case(key))}: the device is {device} in {old_path} and {key[KEY.index('device')]} in "
                f"{new_path}; needed are times of one device"
            )


def check_sorts(old_path, old, new_path, new, common):
    """Refuses a name that stands for different sorts, and warns of what else is different."""
    for key in common:
        for column in SORT:
            was, now = old[key][column], new[key][column]
            if was != now:
                fail(f"{', '.join(key)}: {column} is {was} in {old_path} and {now} in {new_path}")
    for column in AROUND:
        changes = {(old[key][column], new[key][column]) for key in common}
        for was, now in sorted(change for change in changes if change[0] != change[1]):
            print(f"warning: the {column} was {was or 'none'} and is {now or 'none'}", file=sys.stderr)


def main():
    fail_on_regression, old_path, new_path = sys.argv[1] == "1", sys.argv[2], sys.argv[3]
    old, new = read(old_path), read(new_path)
    check_devices(old_path, old, new_path, new)
    common = [key for key in new if key in old]
    if not common:
        fail(f"{old_path} and {new_path} have no row in common")
    check_sorts(old_path, old, new_path, new, common)
    counts = {"faster": 0, "slower": 0, "": 0}
    few_runs = 0
    print(f"{'suite':<11} {'case':<34} {'n':>10} {'old':>12} {'new':>12} {'ratio':>7}")
    for key in common:
        suite, case, _, n = key
        time = next((time for time in TIMES if old[key][time] and new[key][time]), None)
        if time is None:
            fail(f"{', '.join(key)} has no time in common")
        (old_median, old_low, old_high), (new_median, new_low, new_high) = old[key][time], new[key][time]
        ratio = old_median / new_median
        enough = min(int(old[key]["runs"]), int(new[key]["runs"])) >= FEWEST_RUNS
        few_runs += not enough
        apart = new_low > old_high or new_high < old_low
        moved = enough and apart and not 0.97 <= ratio <= 1.03
        mark = ("faster" if ratio > 1 else "slower") if moved else ""
        counts[mark] += 1
        print(
            f"{suite:<11} {case:<34} {n:>10} {old_median / 1000:>9.1f} us {new_median / 1000:>9.1f} us "
            f"{ratio:>7.3f} {mark}".rstrip()
        )
    print(f"\n{counts['faster']} faster, {counts['slower']} slower, {counts['']} within noise")
    if few_runs:
        print(f"{few_runs} of them had fewer than {FEWEST_RUNS} runs, which tell nothing")
    for path, rows, others in [(old_path, old, new), (new_path, new, old)]:
        alone = [key for key in rows if key not in others]
        if alone:
            print(f"{len(alone)} rows are in {path} only:")
            for suite, case, _, n in alone:
                print(f"  {suite}, {case}, {n}")
    sys.exit(1 if fail_on_regression and counts["slower"] else 0)


try:
    main()
except BrokenPipeError:
    sys.stderr.close()
PYTHON
