#!/usr/bin/env python3
"""What the compilers of real GPUs make of every kernel of some requests: a table, a record and a check of limits."""
import argparse
import concurrent.futures
import csv
import fnmatch
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import gpus
import spirv

HERE = os.path.dirname(os.path.realpath(__file__))
REQUESTS = "keys pairs argsort u16 u64 u64-pairs u128 segments rows short top records split finish".split()
COLUMNS = ("gpu compiler request kernel workgroup_size items subgroup_size registers spills fills scratch_bytes shared_bytes "
           "workgroups_per_core instructions instructions_per_item slope compile_ms").split()
# Names of one figure in the drivers' statistics.
INSTRUCTIONS = ("Instruction count", "Instructions", "Instruction Count")
REGISTERS = ("Number of GPRs", "VGPRs", "Max live registers", "Registers used", "GPRs")
SPILLS = ("Spills to memory", "Spills", "Spilled VGPRs", "STP Count")
FILLS = ("Fills from memory", "Fills", "LDP Count")
SCRATCH = ("SLM size", "Scratch Memory Size", "Scratch size", "Scratch")
SHARED = ("LDS size", "Workgroup Memory Size")
# Items that the second shape has fewer, for the slope.
FEWER = 4


def first(statistics, names, otherwise=0):
    return next((statistics[name] for name in names if name in statistics), otherwise)


def command_of(options, name, *arguments, subgroup=None):
    """The command that runs the program on a GPU, with its environment. A subgroup of 0 leaves the size to the library."""
    gpu = gpus.GPUS[name]
    subgroup = gpu.subgroup if subgroup is None else subgroup
    foreign = re.compile("VK_|VKSORT_|NULLGPU|MESA_|RADV_|AGX_|ASAHI_|HK_|PIPESTATS")
    environment = {key: value for key, value in os.environ.items() if not foreign.match(key)}
    environment |= {**gpu.environment, "MESA_SHADER_CACHE_DISABLE": "true", "PIPESTATS": os.devnull,
                    "VK_INSTANCE_LAYERS": "VK_LAYER_pipestats", "VK_LAYER_PATH": options.folder}
    command = ["nice", "-n", "19", options.runner, options.folder, gpu.driver, options.program, *arguments]
    command += ["--subgroup", str(subgroup)] if subgroup else []
    return command + [f"--tuning={change}" for change in options.tuning], environment


def run_program(options, name, request, fewer, skip):
    """Makes the pipelines of a request. Gives the layer's lines, and why the program did not end well."""
    command, environment = command_of(options, name, "--requests", request, "--fewer-items", str(fewer))
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as out:
        environment |= {"PIPESTATS": out.name, "PIPESTATS_SKIP": ",".join(skip)}
        if options.dump and not fewer:
            os.makedirs(options.dump, exist_ok=True)
            environment["PIPESTATS_DUMP"] = os.path.join(options.dump, f"{name}.{request}")
        why = None
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=options.timeout)
            if done.returncode:
                said = [line for line in done.stderr.splitlines() if line.startswith("error:")]
                why = said[-1] if said else f"the compiler ended with status {done.returncode}"
        except subprocess.TimeoutExpired:
            why = f"the compiler took more than {options.timeout:g} s"
        return [json.loads(line) for line in out.read().decode().splitlines() if line.endswith("}")], why


def name_texts(prefix, line, modules):
    """Names the compiler's texts after their kernel; the layer has numbered them."""
    kernel = modules.get(line["module"], (line["module"],))[0]
    for path in glob.glob(f"{prefix}.{line['number']:03}.*"):
        os.replace(path, path.replace(f"{prefix}.{line['number']:03}", f"{prefix}.{kernel}"))


def compile_request(options, modules, name, request, fewer, skip=()):
    """The layer's line for every pipeline of a request, and a line for every kernel on which the compiler fails. Modules in
    `skip` are left out."""
    failures, skip = [], list(skip)
    while True:
        lines, why = run_program(options, name, request, fewer, skip)
        made = [line for line in lines if "module" in line]
        if options.dump and not fewer:
            for line in made:
                name_texts(os.path.join(options.dump, f"{name}.{request}"), line, modules)
        if not why:
            return made, failures
        # What was begun and not ended. The others go on without it.
        left = [line["compiling"] for line in lines if "compiling" in line]
        for line in made:
            left.remove(line["module"])
        kernels = ", ".join(modules.get(module, (module,))[0] for module in left) or "no kernel"
        failures.append(f"{name} {request} {kernels}: {why}")
        if not left:
            return made, failures
        skip += left


def rows_of(name, request, pipelines, modules, ids):
    """A row of the record for every pipeline, without the slope."""
    gpu, rows = gpus.GPUS[name], []
    for pipeline in pipelines:
        spec = {key: int(value) for key, value in pipeline["spec"].items()}
        kernel, words = modules.get(pipeline["module"], (pipeline["module"], []))
        workgroup = spec.get(ids["WORKGROUP_SIZE"], 1)
        # Kernels that hold no items have no such constant.
        items = spec.get(ids["ITEMS"], 1) if spirv.has_constant(words, ids["ITEMS"]) else ""
        for executable in pipeline["executables"]:
            said, subgroup = executable["statistics"], executable["subgroup_size"]
            registers, count = first(said, REGISTERS), first(said, INSTRUCTIONS)
            shared = first(said, SHARED, None)
            shared = spirv.shared_bytes(words, spec) if shared is None else shared
            version = re.search(r"Mesa (\d+(\.\d+)*)", pipeline["driver"])
            rows.append({
                "gpu": name, "compiler": f"{gpu.compiler} {version.group(1) if version else ''}".strip(),
                "request": request, "kernel": kernel, "workgroup_size": workgroup, "items": items,
                "subgroup_size": subgroup, "registers": registers, "spills": first(said, SPILLS),
                "fills": first(said, FILLS), "scratch_bytes": first(said, SCRATCH), "shared_bytes": shared,
                "workgroups_per_core": gpus.workgroups(gpu, said, registers, shared, workgroup, subgroup),
                "instructions": count, "instructions_per_item": round(count / items, 1) if items else "", "slope": "",
                "compile_ms": round(pipeline["compile_ms"]),
            })
    rows.sort(key=lambda row: row["kernel"])
    # Several pipelines of a module are told apart by a number.
    for index, row in enumerate(rows):
        earlier = sum(other["kernel"].split(" ")[0] == row["kernel"] for other in rows[:index])
        row["kernel"] += f" {earlier + 1}" if earlier else ""
    return rows


def add_slopes(rows, fewer):
    """The slope of each row: instructions of one more item, from the same kernel with fewer."""
    others = {row["kernel"]: row for row in fewer}
    for row in rows:
        other = others.get(row["kernel"])
        if other and row["items"] and other["items"] != row["items"] and other["workgroup_size"] == row["workgroup_size"]:
            row["slope"] = round((row["instructions"] - other["instructions"]) / (row["items"] - other["items"]), 1)
    return rows


def measure(options, report):
    """Rows of all GPUs and requests in order, and a line for every failure; `report` gets rows as they come."""
    modules, ids = spirv.modules(options.root), spirv.constants(options.root)
    cases = [(name, request) for name in options.gpus for request in options.requests]
    # Longest first, so that no core is idle at the end.
    slow = sorted(cases, key=lambda case: (gpus.GPUS[case[0]].compiler not in ("NVK", "anv"), -REQUESTS.index(case[1])))
    done, failures = {}, []

    def run(case):
        made, failed = compile_request(options, modules, *case, 0)
        rows = rows_of(*case, made, modules, ids)
        if not options.no_slope and not failed:
            made, failed = compile_request(options, modules, *case, FEWER)
            rows = add_slopes(rows, rows_of(*case, made, modules, ids))
        return rows, failed

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        futures = {pool.submit(run, case): case for case in slow}
        for future in concurrent.futures.as_completed(futures):
            done[futures[future]], failed = future.result()
            report(done[futures[future]])
            for line in failed:
                print(f"failed: {line}", flush=True)
            failures += failed
    for _ in range(1, options.times):
        for case in cases:
            made, failed = compile_request(options, modules, *case, 0)
            if not failed:
                least_time(done[case], rows_of(*case, made, modules, ids))
    return [row for case in cases for row in done.get(case, [])], failures


def least_time(rows, again):
    """Keeps the shorter of two times of each row, as other programs make times longer only."""
    for row, other in zip(rows, again, strict=True):
        row["compile_ms"] = min(row["compile_ms"], other["compile_ms"])


def line_of(row):
    slope = f"{row['slope']:>6}" if row["slope"] != "" else "      "
    return (f"{row['gpu']:14} {row['request']:9} {row['kernel']:22} {row['workgroup_size']:>4} x {row['items']:>3} /{row['subgroup_size']:>3}"
            f" | {row['instructions']:>6} {row['instructions_per_item']:>7} slope {slope} | regs {row['registers']:>4}"
            f" | spills {row['spills']}/{row['fills']} scratch {row['scratch_bytes']:>5} | shared {row['shared_bytes']:>6}"
            f" | fit {row['workgroups_per_core']:>2} | {row['compile_ms']:>5} ms")


# Limits: a measure of a row, and whether it is a most or a least.
LIMITS = {
    "max_instructions": ("instructions", max),
    "max_instructions_per_item": ("instructions_per_item", max),
    "max_slope": ("slope", max),
    "max_registers": ("registers", max),
    "max_spills": ("spills", max),
    "max_fills": ("fills", max),
    "max_scratch_bytes": ("scratch_bytes", max),
    "min_workgroups": ("workgroups_per_core", min),
}


def matches(limit, row):
    """Whether a line of limits is for a row: each of its names is a pattern, or several with | between."""
    return all(any(fnmatch.fnmatchcase(row[key], pattern) for pattern in limit[key].split("|"))
               for key in ("gpu", "request", "kernel"))


def governing(limits, row):
    """The line of limits that is for a row: the first that matches."""
    return next((limit for limit in limits if matches(limit, row)), {})


def check(rows, limits):
    """A line for every figure beyond its limit."""
    broken = []
    for row in rows:
        limit = governing(limits, row)
        for measure, (figure, worst) in LIMITS.items():
            if not limit.get(measure) or row[figure] == "":
                continue
            given, allowed = float(row[figure]), float(limit[measure])
            if worst(given, allowed) == given != allowed:
                broken.append(f"{row['gpu']} {row['request']} {row['kernel']}: {figure} is {row[figure]}, allowed is "
                              f"{limit[measure]} at {'most' if worst is max else 'least'}")
    return broken


def unused(rows, limits):
    """A line for every limit that is for none of the rows, as after a kernel has got another name."""
    return [f"{limit['gpu']} {limit['request']} {limit['kernel']}: no such kernel"
            for limit in limits if not any(matches(limit, row) for row in rows)]


def tighten(rows, limits):
    """Limits that are the worst figure of today, where that is better than they were."""
    for limit in limits:
        of_limit = [row for row in rows if governing(limits, row) is limit]
        for measure, (figure, worst) in LIMITS.items():
            given = [float(row[figure]) for row in of_limit if row[figure] != ""]
            if given and limit.get(measure):
                now, allowed = worst(given), float(limit[measure])
                limit[measure] = limit[measure] if worst(now, allowed) == now else f"{now:g}"
    return limits


def read_csv(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def write_csv(path, rows, columns):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def names(allowed):
    def parse(text):
        given = text.split(",")
        for name in given:
            if name not in allowed:
                raise argparse.ArgumentTypeError(f"{name!r} is unknown, allowed are {', '.join(allowed)}")
        return given
    return parse


def arguments(given, description=__doc__):
    parser = argparse.ArgumentParser(description=description)
    option = parser.add_argument
    option("--gpus", type=names(list(gpus.GPUS)), default=list(gpus.GPUS), metavar="A,B", help="GPUs to compile for")
    option("--requests", type=names(REQUESTS), default=REQUESTS, metavar="A,B", help="requests to compile")
    option("--no-slope", action="store_true", help="compile one shape of each kernel only")
    option("--tuning", action="append", default=[], metavar="FIELD=VALUE", help="change a field of the built-in rows")
    option("--times", type=int, default=1, metavar="N", help="keep the least of N times, all but the first measured alone")
    option("--check", action="store_true", help="say what is beyond the limits, and fail if something is")
    option("--tighten", action="store_true", help="replace limits by figures that are better")
    option("--limits", default=os.path.join(HERE, "limits.csv"), metavar="FILE")
    option("--record", metavar="FILE", help="write the figures as CSV")
    option("--read", metavar="FILE", help="take the figures from such a file, and compile nothing")
    option("--dump", metavar="FOLDER", help="write the compilers' texts: NIR and machine code")
    option("--folder", help="where setup.sh has unpacked the compilers")
    option("--program", help="the built program `pipelines`")
    option("--root", default=os.path.join(HERE, "..", ".."), help="the checkout that it was built from")
    option("--runner", default=os.path.join(HERE, "run.sh"), help=argparse.SUPPRESS)
    option("--timeout", type=float, default=180, metavar="S", help="seconds for one request of one GPU")
    option("--jobs", type=int, default=os.cpu_count(), metavar="N", help="compilers that run at the same time")
    return parser.parse_args(given)


def main(given=None):
    options, started = arguments(given), time.monotonic()
    failures = []
    if options.read:
        rows = read_csv(options.read)
    else:
        report = (lambda rows: None) if options.check else lambda rows: print(*map(line_of, rows), sep="\n", flush=True)
        rows, failures = measure(options, report)
    if options.record and failures:
        print(f"{options.record} stays as it is, as figures are missing")
    elif options.record:
        write_csv(options.record, rows, COLUMNS)
    broken = []
    if options.check or options.tighten:
        limits = read_csv(options.limits)
        if options.tighten:
            write_csv(options.limits, tighten(rows, limits), ["gpu", "request", "kernel", *LIMITS])
        broken = check(rows, limits) if options.check else []
        if options.check and {row["gpu"] for row in rows} == set(gpus.GPUS) and {row["request"] for row in rows} == set(REQUESTS):
            broken += unused(rows, limits)
        for line in broken:
            print(f"beyond its limit: {line}")
    print(f"{len(rows)} pipelines, {len(failures)} failed, {len(broken)} beyond a limit, {time.monotonic() - started:.0f} s")
    return 1 if failures or broken else 0


if __name__ == "__main__":
    sys.exit(main())
