#!/usr/bin/env python3
"""Shapes and methods of the pass over u32 keys and pairs on every GPU, in the order of a model, with the built-in rows' places."""
import concurrent.futures
import json
import subprocess
import sys
import time

import compilers
import gpus
import model
import spirv

REQUESTS = ["keys", "pairs"]
FIELDS = "workgroup_size items subgroup_size rank ballot few_registers".split()
FIGURES = "registers spills fills shared_bytes workgroups_per_core instructions".split()
COLUMNS = ["gpu", "request", "place", "built_in", *FIELDS, *FIGURES, *model.TERMS, "bound", "cycles"]
# What is tried beside the row's own: methods in the row's shape, then shapes with the row's methods and with the best ones.
METHODS = [("ballot", ballot, few) for ballot in ("by-place", "by-mask") for few in ("false", "true")]
METHODS += [("match", "by-place", few) for few in ("false", "true")]
# In larger subgroups ballots take the place of comparisons, with the row's way of a ballot.
COMPARED = [("compare", few) for few in ("false", "true")]
MOST_COMPARED_LANES = 16
WORKGROUPS, ITEMS = (128, 256, 384, 512), (8, 12, 16, 20, 24)
# Candidates a table shows.
SHOWN = 3


def built_in(options, name, request):
    """The device's row as a candidate."""
    command, environment = compilers.command_of(options, name, "--row", subgroup=0)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=options.timeout, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr.strip()}")
    row = json.loads(done.stdout)
    row["items"] = row[f"items_{request}"]
    as_text = {field: str(row[field]) for field in FIELDS}
    return {**as_text, "few_registers": as_text["few_registers"].lower()}


def node(gpu, subgroup):
    """The name by which a GPU is compiled for with subgroups of a size."""
    return gpu if gpus.GPUS[gpu].subgroup in (0, int(subgroup)) else f"{gpu}-wave{subgroup}"


class Sweep:
    """The candidates of one GPU and request."""

    def __init__(self, options, modules, ids, gpu, request):
        self.options, self.modules, self.ids, self.gpu, self.request = options, modules, ids, gpu, request
        self.device = model.devices()[gpu]
        # Nothing but the pass is compiled.
        self.skip = [key for key, (name, _) in modules.items() if not name.startswith(("onesweep", "scatter"))]
        self.rows, self.tried, self.failures = [], set(), []

    def compile(self, candidate):
        """Adds a candidate's line, unless it was tried, does not fit, or comes out in another shape."""
        key = tuple(candidate[field] for field in FIELDS)
        if key in self.tried:
            return
        self.tried.add(key)
        changes = {**candidate, f"items_{self.request}": candidate["items"]}
        del changes["items"]
        name = node(self.gpu, candidate["subgroup_size"])
        options = compilers.argparse.Namespace(**vars(self.options))
        options.tuning = self.options.tuning + [f"{field}={value}" for field, value in changes.items()]
        made, failed = compilers.compile_request(options, self.modules, name, self.request, 0, self.skip)
        self.failures += [f"{failure} with {dict(candidate)}" for failure in failed if "UnsuitableDevice" not in failure]
        for row in compilers.rows_of(name, self.request, made, self.modules, self.ids):
            shape = [str(row[field]) for field in ("workgroup_size", "items", "subgroup_size")]
            terms = model.predict(self.device, {**row, **candidate}, self.request == "pairs")
            if shape == [candidate[field] for field in ("workgroup_size", "items", "subgroup_size")] and terms:
                figures = {field: row[field] for field in FIGURES}
                self.rows.append({"gpu": self.gpu, "request": self.request, "built_in": 0, **candidate, **figures, **terms})

    def run(self):
        row = built_in(self.options, node(self.gpu, max(self.device.subgroups)), self.request)
        if row["subgroup_size"] not in map(str, self.device.subgroups):
            row["subgroup_size"] = str(self.device.subgroups[-1])
        self.compile(row)
        for subgroup in self.device.subgroups:
            compared = COMPARED if subgroup <= MOST_COMPARED_LANES else []
            for method in METHODS + [(rank, row["ballot"], *rest) for rank, *rest in compared]:
                self.compile({**row, "subgroup_size": str(subgroup), **dict(zip(FIELDS[3:], method))})
        best = min(self.rows, key=lambda line: line["cycles"])
        for methods in (row, best):
            for workgroup in WORKGROUPS:
                for items in (*ITEMS, int(row["items"])):
                    shape = {"workgroup_size": str(workgroup), "items": str(items)}
                    self.compile({**{field: str(methods[field]) for field in FIELDS}, **shape})
        self.rows.sort(key=lambda line: line["cycles"])
        for place, line in enumerate(self.rows, 1):
            line["place"] = place
            line["built_in"] = int(all(line[field] == row[field] for field in FIELDS))
        return self.rows, self.failures


def name_of(line):
    """A candidate in a table."""
    options = ["few_registers"] if line["few_registers"] == "true" else []
    ballot = [line["ballot"]] if line["rank"] == "ballot" else []
    return " ".join([f"{line['workgroup_size']} x {line['items']} / {line['subgroup_size']}", line["rank"], *ballot, *options])


def table(rows):
    """A line for the built-in row and for the best ones of each GPU and request, as Markdown."""
    text = ["| GPU | request | place | candidate | registers, spills | fit | " + " | ".join(model.TERMS) + " | cycles | over best |",
            "|---" * (len(model.TERMS) + 8) + "|"]
    for gpu, request in dict.fromkeys((row["gpu"], row["request"]) for row in rows):
        lines = [row for row in rows if (row["gpu"], row["request"]) == (gpu, request)]
        best = float(lines[0]["cycles"])
        for line in lines:
            own = int(line["built_in"])
            if int(line["place"]) <= SHOWN or own:
                name = f"**{name_of(line)}**" if own else name_of(line)
                cells = [gpu, request, f"{line['place']} of {len(lines)}", name, f"{line['registers']}, {line['spills']}",
                         line["workgroups_per_core"], *(line[term] for term in model.TERMS), line["cycles"],
                         f"{float(line['cycles']) / best:.2f}"]
                text.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(text)


def places(rows):
    """A line for the built-in row of each GPU and request, beside the first of the model's order, as lab/GPU-COMPILERS.md has it."""
    text = ["| GPU | request | built-in row | place | cycles, bound by | first in the model's order | cycles |", "|---" * 7 + "|"]
    for gpu, request in dict.fromkeys((row["gpu"], row["request"]) for row in rows):
        lines = [row for row in rows if (row["gpu"], row["request"]) == (gpu, request)]
        [own], first = [line for line in lines if int(line["built_in"])], lines[0]
        best = ["the same", ""] if own is first else [name_of(first).replace("_", " "), f"{float(first['cycles']):.1f}"]
        cells = [f"`{gpu}`", request, name_of(own).replace("_", " "), f"{own['place']} of {len(lines)}",
                 f"{float(own['cycles']):.1f}, {own['bound']}", *best]
        text.append(f"| {' | '.join(cells)} |".replace("|  |", "| |"))
    return "\n".join(text)


def predicted_again(rows):
    """Rows of a record by today's model, in its order."""
    devices = model.devices()
    rows = [{**row, **model.predict(devices[row["gpu"]], row, row["request"] == "pairs")} for row in rows]
    groups = dict.fromkeys((row["gpu"], row["request"]) for row in rows)
    for group in groups:
        lines = sorted((row for row in rows if (row["gpu"], row["request"]) == group), key=lambda row: row["cycles"])
        for place, line in enumerate(lines, 1):
            line["place"] = place
        groups[group] = lines
    return [line for lines in groups.values() for line in lines]


def main(given=None):
    options, started = compilers.arguments(given, __doc__), time.monotonic()
    failures = []
    if options.read:
        rows = predicted_again(compilers.read_csv(options.read))
    else:
        modules, ids = spirv.modules(options.root), spirv.constants(options.root)
        asked = [request for request in options.requests if request in REQUESTS]
        cases = [(gpu, request) for gpu in model.devices() if gpu in options.gpus for request in asked]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            done = list(pool.map(lambda case: Sweep(options, modules, ids, *case).run(), cases))
        rows = [row for lines, _ in done for row in lines]
        failures = [line for _, failed in done for line in failed]
    if options.record:
        compilers.write_csv(options.record, [{column: row[column] for column in COLUMNS} for row in rows], COLUMNS)
    print(table(rows))
    for line in failures:
        print(f"failed: {line}")
    print(f"{len(rows)} candidates, {len(failures)} failed, {time.monotonic() - started:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
