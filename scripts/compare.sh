#!/usr/bin/env bash
# Compares two results.csv of the bench example: scripts/compare.sh [--fail-on-regression] OLD.csv NEW.csv
#
# Rows are joined by suite, case, device and size. A ratio is old time over new time, so more than 1 is faster now. What
# moved is marked: medians differ by more than 3 % and the ranges between quartiles do not overlap.
#
#   --fail-on-regression  exit code 1 when a case got slower
#   --help                this text
#
# Times are those of the device where both files have them, else those of the host. Exit code 2 is for bad input.
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
TIMES = ["gpu_ns", "wall_ns"]
COLUMNS = KEY + [f"{time}_{part}" for time in TIMES for part in ["median", "q25", "q75"]]


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
                rows[key] = {time: numbers(path, reader.line_num, row, time) for time in TIMES}
            return rows
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        fail(f"{path}: {error}")


def numbers(path, line, row, time):
    """Median and quartiles, or None where they were not measured."""
    texts = [row[f"{time}_{part}"] for part in ["median", "q25", "q75"]]
    if not all(texts):
        return None
    try:
        values = [float(text) for text in texts]
    except ValueError:
        fail(f"{path}, line {line}: {time} is {', '.join(texts)}, needed are three numbers")
    if not values[0] > 0:
        fail(f"{path}, line {line}: the median of {time} is {texts[0]}, needed is more than 0")
    return values


def main():
    fail_on_regression, old_path, new_path = sys.argv[1] == "1", sys.argv[2], sys.argv[3]
    old, new = read(old_path), read(new_path)
    common = [key for key in new if key in old]
    if not common:
        fail(f"{old_path} and {new_path} have no row in common")
    counts = {"faster": 0, "slower": 0, "": 0}
    print(f"{'suite':<11} {'case':<34} {'n':>10} {'old':>12} {'new':>12} {'ratio':>7}")
    for key in common:
        suite, case, _, n = key
        time = next((time for time in TIMES if old[key][time] and new[key][time]), None)
        if time is None:
            fail(f"{', '.join(key)} has no time in common")
        (old_median, old_low, old_high), (new_median, new_low, new_high) = old[key][time], new[key][time]
        ratio = old_median / new_median
        apart = new_low > old_high or new_high < old_low
        moved = apart and not 0.97 <= ratio <= 1.03
        mark = ("faster" if ratio > 1 else "slower") if moved else ""
        counts[mark] += 1
        print(
            f"{suite:<11} {case:<34} {n:>10} {old_median / 1000:>9.1f} us {new_median / 1000:>9.1f} us "
            f"{ratio:>7.3f} {mark}".rstrip()
        )
    print(f"\n{counts['faster']} faster, {counts['slower']} slower, {counts['']} within noise")
    for path, rows, others in [(old_path, old, new), (new_path, new, old)]:
        alone = len([key for key in rows if key not in others])
        if alone:
            print(f"{alone} rows are in {path} only")
    sys.exit(1 if fail_on_regression and counts["slower"] else 0)


try:
    main()
except BrokenPipeError:
    sys.stderr.close()
PYTHON
