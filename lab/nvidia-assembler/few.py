#!/usr/bin/env python3
"""Emulates sorts of few u32 keys on sm_90: commands, and what the warps of the busiest workgroup of each dispatch issue.

    few.py [KEYS...] [FIELD=VALUE...]

    VKSORT_CONTRACT=target/release/vksort-contract PYTHONPATH=$VKSORT_NVIDIA_ASSEMBLER/cuda python3 lab/nvidia-assembler/few.py

KEYS are numbers of keys, from 2^10 to 2^17 if none is given; a FIELD is one of the tuning, such as rank=match.
"""
import sys

import numpy as np

import sort
import toolchain

COUNTS = [1 << bits for bits in range(10, 18)]


def measure(pipelines, algorithm, count, changes):
    """Commands, instructions of the busiest workgroups one after the other, and of all workgroups; None beyond one workgroup."""
    case = sort.Case.parse(f"keys:algorithm={algorithm},{changes}")
    try:
        plan = sort.contract(case, count, count)
    except toolchain.Failed as error:
        # The library refuses keys that do not fit one workgroup.
        if algorithm == "single-workgroup" and str(count) in str(error):
            return None
        raise
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
    counts = [int(text) for text in sys.argv[1:] if text.isdigit()] or COUNTS
    changes = ",".join(text for text in sys.argv[1:] if not text.isdigit())
    print("| keys | algorithm | commands | issued by the busiest workgroups | by all |")
    print("|---|---|---|---|---|")
    for count in counts:
        for algorithm in ("single-workgroup", "onesweep", "reduce-then-scan"):
            if figures := measure(pipelines, algorithm, count, changes):
                print(f"| {count} | {algorithm} | {' | '.join(map(str, figures))} |", flush=True)


if __name__ == "__main__":
    main()
