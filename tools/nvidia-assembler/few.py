#!/usr/bin/env python3
"""Emulates sorts of few u32 keys on sm_90: commands, and what the warps of the busiest workgroup of each dispatch issue.

    VKSORT_CONTRACT=target/release/vksort-contract PYTHONPATH=$VKSORT_NVIDIA_ASSEMBLER/cuda python3 tools/nvidia-assembler/few.py
"""
import sys

import numpy as np

import sort
import toolchain


def measure(pipelines, algorithm, count):
    """Dispatches and clears, instructions of the busiest workgroups one after the other, and of all workgroups."""
    case = sort.Case.parse(f"keys:algorithm={algorithm}")
    plan = sort.contract(case, count, count)
    keys = sort.pattern("uniform", np.dtype("<u4"), count, plan["tile"])
    got, _, ran = sort.emulate(pipelines, plan, keys, np.zeros(0, np.uint32))
    if not (got == np.sort(keys)).all():
        raise toolchain.Failed(f"WRONG: {algorithm} of {count} keys")
    busiest, total = {}, 0
    for step, _, block, _ in ran:
        executed = int(block.executed.sum())
        busiest[step["name"]] = max(busiest.get(step["name"], 0), executed)
        total += executed
    return len(plan["steps"]), sum(busiest.values()), total


def main():
    pipelines = sort.Pipelines(90)
    print("| keys | algorithm | commands | issued by the busiest workgroups | by all |")
    print("|---|---|---|---|---|")
    for count in [int(text) for text in sys.argv[1:]] or [1 << 10, 1 << 11, 1 << 12, 1 << 13]:
        for algorithm in ("single-workgroup", "onesweep", "reduce-then-scan"):
            commands, busiest, total = measure(pipelines, algorithm, count)
            print(f"| {count} | {algorithm} | {commands} | {busiest} | {total} |", flush=True)


if __name__ == "__main__":
    main()
