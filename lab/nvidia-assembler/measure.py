"""Prints what kernels take by NVIDIA's assembler and an emulator: see scripts/nvidia-assembler.sh, which calls it."""

import argparse
import csv
import os
import sys
import time

import cub
import glsl2cu
import regions
import sort
import toolchain

RECORD = os.path.join(toolchain.ROOT, "lab", "record", "nvidia-assembler.csv")
LIMITS = os.path.join(toolchain.ROOT, "lab", "nvidia-assembler", "limits.csv")
COLUMNS = ["arch", "request", "kernel", "executed", "static", "registers", "spill_bytes", "shared_bytes", "waves"]
CUB_COLUMNS = ["cub_executed", "cub_static", "cub_registers", "cub_waves"]
ARCHS = (80, 89, 90)
USUAL = ("keys", "pairs", "histogram", "rows-8", "rows-32", "rows-32-pairs")


def row(arch, request, figures, reference):
    """A line of the record."""
    values = [arch, request, figures.kernel, f"{figures.executed:.1f}", figures.static, figures.registers]
    values += [figures.spill_bytes, figures.shared_bytes, f"{figures.waves:.1f}"]
    out = dict(zip(COLUMNS, values)) | dict.fromkeys(CUB_COLUMNS, "")
    if reference:
        of_cub = [f"{reference.executed:.1f}", reference.static, reference.registers, f"{reference.waves:.1f}"]
        out |= dict(zip(CUB_COLUMNS, of_cub))
    return {name: str(value) for name, value in out.items()}


def line(row):
    text = "{kernel:>14} {executed:>6} executed an item, {static:>5} static, {registers:>3} registers, "
    text += "{spill_bytes:>3} bytes spilled, {waves:>4} waves"
    if row["cub_executed"]:
        text += "; CUB {cub_executed:>5}, {cub_static}, {cub_registers}, {cub_waves}"
    return text.format(**row)


class References:
    """CUB's figures, each found once."""

    def __init__(self):
        self.found = {}

    def get(self, arch, kind):
        make = {
            "keys": lambda: cub.onesweep(arch, False),
            "pairs": lambda: cub.onesweep(arch, True),
            "histogram": lambda: cub.histogram(arch),
        }.get(kind)
        if make and (arch, kind) not in self.found:
            self.found[arch, kind] = make()
        return self.found.get((arch, kind))


def measure(arch, request, references, options):
    """Sorts, and gives (figures, CUB's) of the kernels that the request is about."""
    pipelines = sort.Pipelines(arch)
    kind, _, changes = request.partition(":")
    large = kind == "histogram"
    case = sort.Case.parse(":".join(filter(None, ["keys" if large else kind, changes])))
    ran, plan = sort.sort(pipelines, case, large=large, tiles=2 if large else sort.FULL_TILES)
    wanted = [("onesweep", 0, "onesweep first"), ("onesweep", 1, "onesweep")]
    if large or case.row:
        name = "short" if case.row else "histogram"
        wanted = [(name, None, name)]
    if any(step.get("kernel") == "runs" for step in plan["steps"]):
        wanted.append(("runs", None, "runs"))
    out = []
    for kernel, pass_, name in wanted:
        figures = sort.figures(ran, plan, kernel, pass_)
        figures.kernel = name
        # CUB keeps the order in every pass.
        reference = references.get(arch, kind) if pass_ != 0 else None
        found = row(arch, request, figures, reference)
        print(f"sm_{arch} {request:20} {line(found)}", flush=True)
        out.append(found)
        if options.functions or options.dump:
            step = next(step for step in plan["steps"] if step.get("kernel") == kernel and step["pass"] == pass_)
            translated, binary, _ = pipelines.get(step, plan["abi"])
            items = step["own"]["part"] / translated.workgroup_size
        if options.functions:
            for function, executed, static in regions.by_function(figures, translated, items):
                if executed < 0.05 and static < 20:
                    continue
                print(f"    {executed:6.1f} executed, {static:5} static  {function}")
        if options.dump:
            dump(options.dump, f"sm_{arch}-{request}-{name}".replace(" ", "-"), translated, figures)
    if options.patterns:
        runs = [(name, (), False) for name in sort.PATTERNS[1:]]
        runs += [("uniform", (), True), ("few", ("withhold=2",), False), ("uniform", ("withhold=1",), True)]
        for pattern, changes, backwards in runs:
            label = ", ".join((pattern, *changes, *(["backwards"] if backwards else [])))
            started = time.time()
            sort.sort(pipelines, case, pattern, large, changes, 2, backwards)
            print(f"sm_{arch} {request:20} {label} sorted right, {time.time() - started:.0f} s", flush=True)
    return out


def dump(folder, name, kernel, figures):
    """CUDA C++, and machine code with how often each instruction was issued."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".cu"), "w") as f:
        f.write(kernel.text)
    with open(os.path.join(folder, name + ".sass"), "w") as f:
        for (address, text), count in zip(figures.block.program.code, figures.block.executed):
            f.write(f"{count:7} /*{address:04x}*/ {text}\n")


def read(path):
    if not os.path.exists(path):
        return []
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def write(path, columns, rows):
    with open(path, "w", newline="") as f:
        out = csv.DictWriter(f, columns, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def record(rows):
    """Puts rows in the record in place of those of the same kernel, request and target."""
    key = lambda row: (int(row["arch"]), row["request"], row["kernel"])
    kept = {key(row): row for row in read(RECORD)} | {key(row): row for row in rows}
    write(RECORD, COLUMNS + CUB_COLUMNS, [kept[at] for at in sorted(kept)])


MEASURES = ("executed", "registers", "spill_bytes", "waves")


def beyond(rows, limits):
    """A line for every figure beyond its limit."""
    out = []
    for found in rows:
        for limit in limits:
            same = all(limit[name] == found[name] for name in ("request", "kernel"))
            if same and limit["arch"] in ("", found["arch"]):
                for name in MEASURES:
                    if limit[name] and float(found[name]) > float(limit[name]):
                        what = f"sm_{found['arch']} {found['request']} {found['kernel']}"
                        out.append(f"{what}: {name} {found[name]}, at most {limit[name]}")
    return out


def distance(rows, limits):
    """A line for every figure that is not yet what the kernels aim at."""
    out = []
    for found in rows:
        for limit in limits:
            if all(limit[name] == found[name] for name in ("arch", "request", "kernel")):
                for name in ("executed", "registers"):
                    aim = limit["aim_" + name]
                    if aim and float(found[name]) > float(aim):
                        what = f"sm_{found['arch']} {found['request']} {found['kernel']}"
                        out.append(f"{what}: {name} {found[name]}, aim {aim}")
    return out


def tighten(rows, limits):
    """Puts figures in the place of limits of their target that they are better than."""
    for limit in limits:
        for found in rows:
            if all(limit[name] == found[name] for name in ("arch", "request", "kernel")):
                for name in MEASURES:
                    if float(found[name]) < float(limit[name]):
                        limit[name] = found[name]
    write(LIMITS, list(limits[0]), limits)


def main():
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("requests", nargs="*", metavar="KIND[:FIELD=VALUE,...]")
    parser.add_argument("--arch", help="targets, of 75, 80, 86, 89 and 90; 80,89,90 without it")
    parser.add_argument("--check", action="store_true", help="fail where a figure is beyond its limit in limits.csv")
    parser.add_argument("--tighten", action="store_true", help="lower limits to today's figures")
    parser.add_argument(
        "--patterns", action="store_true", help="sort other keys too, and with tiles that never publish"
    )
    parser.add_argument("--functions", action="store_true", help="figures of each GLSL function")
    parser.add_argument("--dump", help="write CUDA C++ and machine code with counts to this folder")
    options = parser.parse_args()
    archs = [int(arch) for arch in options.arch.split(",")] if options.arch else ARCHS
    if not set(archs) <= {75, 80, 86, 89, 90}:
        parser.error("--arch is of 75, 80, 86, 89 and 90")
    references, rows, failures = References(), [], []
    for arch in archs:
        for request in options.requests or USUAL:
            try:
                measured = measure(arch, request, references, options)
                rows += measured
                if not (options.requests or options.arch or options.check):
                    record(measured)
            except (toolchain.Failed, glsl2cu.Unsupported) as error:
                failures.append(f"sm_{arch} {request}: {error}")
                print(failures[-1], file=sys.stderr, flush=True)
    limits = read(LIMITS)
    if options.check:
        over = beyond(rows, limits)
        for text in distance(rows, limits):
            print(text)
        for text in over:
            print(text, file=sys.stderr)
        if not over:
            print(f"{len(rows)} kernels within their limits")
        failures += over
    if options.tighten:
        tighten(rows, limits)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
