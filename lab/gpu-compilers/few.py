#!/usr/bin/env python3
"""Few u32 keys by counts: one workgroup beside a chain of dispatches, from the record of the compilers and the model.

    python3 lab/gpu-compilers/few.py [RECORD]
"""
import os
import sys

import compilers
import model

RECORD = os.path.join(compilers.HERE, "..", "..", "lab", "record", "gpu-compilers.csv")
PASSES = 4
# Microseconds from the end of a dispatch to the start of the next that waits for it: a guess.
DISPATCH = 2.0
# The clear, the histogram and a dispatch for each pass, each behind a barrier but the first.
STEPS = 2 + PASSES
# Times that a workgroup waits for itself in a pass of the single workgroup, and cycles of a wait: the latter a guess.
BARRIERS, BARRIER = 10, 40
TOGETHER = 4  # items that a single workgroup leaves out together


def alone(device, invocations, executed):
    """Cycles in which so many invocations, which have a core for themselves, execute so many instructions each."""
    return executed * max(invocations / device.lanes, model.DEPENDENT)


def single(device, row, elements):
    """Microseconds of a single workgroup: once for each pass, subgroups with elements execute a loop over their items."""
    each = -(-elements // int(row["workgroup_size"]))
    items = -(-each // TOGETHER) * TOGETHER
    lanes = int(row["subgroup_size"])
    busy = -(-elements // (lanes * items)) * lanes
    cycles = PASSES * (alone(device, busy, items * float(row["slope"])) + BARRIERS * BARRIER) + 2 * device.latency
    return DISPATCH + cycles / device.clock_mhz


def chain(device, tile, histogram):
    """Microseconds of OneSweep or reduce-then-scan while all tiles run at once."""
    executed = int(tile["instructions"]) * model.EXECUTED
    # Of a part for few elements the histogram executes a fraction of its code, once.
    counted = int(histogram["instructions"]) * model.EXECUTED / 2
    cycles = PASSES * (alone(device, int(tile["workgroup_size"]), executed) + model.ROUND_TRIPS * device.latency)
    cycles += alone(device, int(histogram["workgroup_size"]), counted) + 3 * device.latency
    steps = STEPS + (2 * PASSES if tile["kernel"].startswith("scatter") else 0)
    return steps * DISPATCH + cycles / device.clock_mhz


def main():
    rows = compilers.read_csv(sys.argv[1] if len(sys.argv) > 1 else RECORD)
    print("| GPU | request | one workgroup takes up to | at 2^10, us | at its most, us | chain, us | by counts up to |")
    print("|---|---|---|---|---|---|---|")
    for gpu, device in model.devices().items():
        name = f"{gpu}-wave32" if 32 in device.subgroups and 64 in device.subgroups else gpu
        for request in ("keys", "pairs"):
            own = [row for row in rows if row["gpu"] == name and row["request"] == request]
            def find(*starts):
                return next(row for row in own if row["kernel"].startswith(starts))
            one, tile, histogram = find("single"), find("onesweep", "scatter"), find("histogram", "count")
            reach = int(one["workgroup_size"]) * int(one["items"])
            many = chain(device, tile, histogram)
            crossing = next((n for n in range(1024, 1 << 18, 256) if single(device, one, n) > many), 1 << 18)
            print(f"| {gpu} | {request} | {reach} | {single(device, one, 1024):.0f} | {single(device, one, reach):.0f} | {many:.0f} "
                  f"| {crossing} |")


if __name__ == "__main__":
    main()
