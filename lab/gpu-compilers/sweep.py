#!/usr/bin/env python3
"""Shapes and methods of the pass over u32 keys and pairs on every GPU, with compilers' figures, beside the built-in rows."""
import argparse
import concurrent.futures
import itertools
import json
import subprocess
import sys
import time

import compilers
import gpus
import spirv

REQUESTS = ["keys", "pairs"]
SHAPE = ["workgroup_size", "items"]
FIELDS = [*SHAPE, "subgroup_size", "rank", "ballot", "few_registers"]
FIGURES = "registers spills fills shared_bytes workgroups_per_core instructions instructions_per_item".split()
COLUMNS = ["gpu", "request", "built_in", *FIELDS, *FIGURES]
# Sizes of subgroups beside the row's own.
SUBGROUPS = {"anv": ("16", "32"), "Turnip": ("64", "128")}
# What is tried beside the row's own: methods in the row's shape, then shapes by the row's method and the first of each ranking.
FEW = ("false", "true")
METHODS = [("ballot", ballot, few) for ballot in ("by-place", "by-mask") for few in FEW]
METHODS += [("match", "by-place", few) for few in FEW]
# In larger subgroups ballots take the place of comparisons, with the row's way of a ballot.
MOST_COMPARED_LANES = 16
WORKGROUPS, ITEMS = (128, 256, 384, 512), (8, 12, 16, 20, 24)


def order(line):
    """First are candidates without spills of which two workgroups fit a core, by instructions for an item, then larger tiles."""
    number = {field: float(line[field]) for field in ["workgroup_size", "items", *FIGURES]}
    suits = number["workgroups_per_core"] >= 2 and number["spills"] == 0
    return not suits, number["instructions_per_item"], -number["workgroup_size"] * number["items"]


def firsts(lines):
    """The first line of each ranking method. Instructions do not compare methods, as they differ in accesses to shared memory."""
    return list({line["rank"]: line for line in sorted(lines, key=order)[::-1]}.values())


def built_in(options, name, request):
    """The device's row as a candidate."""
    command, environment = compilers.command_of(options, name, "--row")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=options.timeout, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr.strip()}")
    row = json.loads(done.stdout)
    row["items"] = row[f"items_{request}"]
    return {field: str(row[field]).lower() for field in FIELDS}


def sweep(options, modules, ids, name, request):
    """The candidates of one GPU and request in order, and a line for every failure."""
    # Nothing but the pass is compiled.
    skip = [key for key, (module, _) in modules.items() if not module.startswith(("onesweep", "scatter"))]
    rows, tried, failures = [], set(), []
    row = built_in(options, name, request)

    def attempt(**changes):
        """Adds a candidate's line, unless it was tried, or comes out in another shape."""
        candidate = {**row, **changes}
        key = tuple(candidate.values())
        if key in tried:
            return
        tried.add(key)
        tuning = {f"items_{request}" if field == "items" else field: value for field, value in candidate.items()}
        given = [f"{field}={value}" for field, value in tuning.items() if value != "none"]
        changed = argparse.Namespace(**{**vars(options), "tuning": options.tuning + given})
        pipelines, failed = compilers.compile_request(changed, modules, name, request, 0, skip)
        failures.extend(f"{failure} with {candidate}" for failure in failed if "UnsuitableDevice" not in failure)
        for made in compilers.rows_of(name, request, pipelines, modules, ids):
            if all(str(made[field]) == candidate[field] for field in SHAPE) and made["workgroups_per_core"]:
                figures = {field: made[field] for field in ["gpu", "request", "subgroup_size", *FIGURES]}
                rows.append({**candidate, **figures, "built_in": int(candidate == row)})

    attempt()
    if not rows:
        return rows, failures
    # A row may leave the size of subgroups to the device, or ask for one that the device has not.
    row["subgroup_size"] = str(rows[0]["subgroup_size"])
    tried.add(tuple(row.values()))
    for subgroup in SUBGROUPS.get(gpus.GPUS[name].compiler, (row["subgroup_size"],)):
        compared = [("compare", row["ballot"], few) for few in FEW if int(subgroup) <= MOST_COMPARED_LANES]
        for rank, ballot, few in METHODS + compared:
            attempt(subgroup_size=subgroup, rank=rank, ballot=ballot, few_registers=few)
    for changes in [{}, *({field: str(line[field]) for field in FIELDS[2:]} for line in firsts(rows))]:
        for workgroup in WORKGROUPS:
            for items in (*ITEMS, row["items"]):
                attempt(**changes, workgroup_size=str(workgroup), items=str(items))
    return sorted(rows, key=order), failures


def name_of(line):
    """A candidate in a table."""
    options = ["few registers"] if line["few_registers"] == "true" else []
    ballot = [line["ballot"]] if line["rank"] == "ballot" else []
    return " ".join([f"{line['workgroup_size']} x {line['items']} / {line['subgroup_size']}", line["rank"], *ballot, *options])


def table(rows):
    """A line for the built-in row and for the first one of each ranking method, for each GPU and request, as Markdown."""
    text = ["| GPU | request | candidate | registers, spills | fit | instructions for an item |", "|---" * 6 + "|"]
    for (gpu, request), lines in itertools.groupby(rows, key=lambda row: (row["gpu"], row["request"])):
        lines = list(lines)
        shown = firsts(lines)
        for line in lines:
            own = int(line["built_in"])
            if own or line in shown:
                name = f"**{name_of(line)}**" if own else name_of(line)
                text.append(f"| {gpu} | {request} | {name} | {line['registers']}, {line['spills']} "
                            f"| {line['workgroups_per_core']} | {line['instructions_per_item']} |")
    return "\n".join(text)


def main(given=None):
    options, started = compilers.arguments(given, __doc__), time.monotonic()
    modules, ids = spirv.modules(options.root), spirv.constants(options.root)
    cases = [(name, request) for name in options.gpus for request in options.requests if request in REQUESTS]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        done = list(pool.map(lambda case: sweep(options, modules, ids, *case), [] if options.read else cases))
    rows, failures = [row for lines, _ in done for row in lines], [line for _, failed in done for line in failed]
    rows = compilers.read_csv(options.read) if options.read else rows
    if options.record:
        compilers.write_csv(options.record, [{column: row[column] for column in COLUMNS} for row in rows], COLUMNS)
    print(table(rows))
    for line in failures:
        print(f"failed: {line}")
    print(f"{len(rows)} candidates, {len(failures)} failed, {time.monotonic() - started:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
