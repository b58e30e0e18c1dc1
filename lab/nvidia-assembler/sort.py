"""Emulates whole sorts, as the library plans them, and compares what comes out with numpy's.

Workgroups run one after the other, so each finds all that its predecessors have published: look-back is at its best."""

import dataclasses
import json
import os
import re
import subprocess
import time

import numpy as np

import glsl2cu
import toolchain
from sass import Block, Global, Program

FULL_TILES = 3  # and a third of another
COUNTED_TILE = 2
EMULATE_SECONDS = int(os.environ.get("VKSORT_NVIDIA_EMULATOR_SECONDS", "900"))
LARGE = 1 << 28  # a capacity beyond which tiles and parts grow no more


@dataclasses.dataclass
class Case:
    """A kind of sort: type of keys, values as vksort-contract has them, and changes to the row."""

    name: str
    key: str
    value: str
    changes: tuple = ()

    KINDS = {
        "keys": ("u32", "none"),
        "pairs": ("u32", "4"),
        "argsort": ("u32", "index"),
        "u16": ("u16", "none"),
        "u64": ("u64", "none"),
        "u64-pairs": ("u64", "4"),
        "rows-8": ("u32", "none"),
        "rows-32": ("u32", "none"),
        "rows-32-pairs": ("u32", "4"),
    }

    @property
    def row(self):
        """Elements of a row, if rows are sorted by themselves."""
        found = re.match(r"rows-(\d+)", self.name)
        return int(found[1]) if found else None

    @staticmethod
    def parse(text):
        """KIND or KIND:FIELD=VALUE,..."""
        kind, _, changes = text.partition(":")
        if kind not in Case.KINDS:
            raise toolchain.Failed(f"{kind} is no kind of sort, allowed are {', '.join(Case.KINDS)}")
        return Case(text, *Case.KINDS[kind], tuple(filter(None, changes.split(","))))


@dataclasses.dataclass
class Figures:
    """What one workgroup did, by items: what a warp issues for 32 elements."""

    kernel: str
    executed: float
    static: int
    registers: int
    spill_bytes: int
    shared_bytes: int
    waves: float
    block: Block
    binary: toolchain.Binary

    @staticmethod
    def of(kernel, binary, block, items):
        warps = block.threads // 32
        return Figures(
            kernel,
            float(block.executed.sum()) / warps / items,
            sum(1 for op in block.program.ops if op[2] != "NOP"),
            binary.registers,
            binary.spill_stores + binary.spill_loads,
            binary.shared_bytes,
            sum(block.waves.values()) / warps / items,
            block,
            binary,
        )


def contract(case, capacity, count, changes=()):
    """What the library says of a sort."""
    command = [toolchain.CONTRACT, case.key, case.value]
    command += [str(capacity), str(count), *case.changes, *changes]
    command += [f"rows={case.row}"] if case.row else []
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise toolchain.Failed(done.stderr.strip().splitlines()[0])
    return json.loads(done.stdout)


class Pipelines:
    """Compiled kernels by what they are made from."""

    def __init__(self, arch):
        self.arch, self.glsl, self.made = arch, os.path.join(toolchain.ROOT, "glsl"), {}

    def get(self, step, abi):
        key = json.dumps([step["file"], step["macros"], step["constants"], abi])
        if key not in self.made:
            path = os.path.join(self.glsl, step["file"])
            kernel = glsl2cu.translate(path, self.glsl, step["macros"], step["constants"], abi, f"vksort_{step['kernel']}")
            binary = toolchain.compile(kernel.text, kernel.name, self.arch)
            self.made[key] = kernel, binary, Program(binary.sass, kernel.name, binary.banks)
        return self.made[key]


def parameter(kernel, binary, push, buffers):
    """The words of a kernel's parameter: addresses by binding, then push constants by name."""
    words = []
    for buffer in kernel.buffers:
        if buffer.binding not in buffers:
            raise toolchain.Failed(f"{kernel.name}: nothing is known of binding {buffer.binding}, {buffer.name}")
        for address in buffers[buffer.binding][: buffer.length]:
            words += [address & 0xFFFFFFFF, address >> 32]
    for name, size in kernel.push:
        words += [push[name]] if size == 1 else [0] * size
    return binary.parameter, words


def constants(abi):
    """The plain constants of abi.glsl."""
    return {name: int(value) for name, value in re.findall(r"^const uint (\w+) = (\d+)u;", abi, re.M)}


def emulate(pipelines, plan, keys, values, backwards=False):
    """Runs a sort. Gives the sorted keys, the sorted values, and a list of (step, workgroup, block, binary)."""
    memory = Global()
    key_words = keys.view(np.uint32)
    rng = np.random.default_rng(7)
    scratch = lambda words: memory.allocate(rng.integers(0, 1 << 32, words, dtype=np.uint32))
    length = lambda array: max(len(array), 1)
    keys_at = memory.allocate(key_words)
    values_at = memory.allocate(values)
    all_scratch = scratch(plan["scratch_bytes"] // 4)
    places = {"keys": keys_at, "values": values_at}
    if not plan["in_place"]:
        places |= {"keys_out": scratch(length(key_words)), "values_out": scratch(length(values))}
    counters = all_scratch + plan["counters_offset"] // 4
    names = constants(plan["abi"])
    unused = scratch(1) # for the count, and for places that no step uses

    def buffers_of(step):
        """The address at each binding of a step."""
        words = {"COUNTERS": counters, "TABLE": all_scratch + plan["table_offset"] // 4, "COUNT": unused, "SEGMENTS": unused}
        for name, place in step["places"].items():
            in_scratch = all_scratch + place // 4 if isinstance(place, int) else unused
            words[name] = places.get(place, in_scratch)
        return {names[f"BINDING_{name}"]: [memory.address(word)] for name, word in words.items()}

    ran = []
    deadline = time.monotonic() + EMULATE_SECONDS
    for step in plan["steps"]:
        if "clear" in step:
            memory.words[counters : counters + step["clear"] // 4] = 0
            continue
        kernel, binary, program = pipelines.get(step, plan["abi"])
        words = parameter(kernel, binary, step["push"], buffers_of(step))
        for index in range(step["workgroups"]):
            if time.monotonic() > deadline:
                raise toolchain.Failed(
                    f"{step['name']}, workgroup {index}: the sort took more than {EMULATE_SECONDS} s"
                )
            block = Block(program, memory, kernel.workgroup_size, words, index, step["workgroups"], backwards)
            try:
                block.run()
            except (NotImplementedError, RuntimeError, AssertionError) as error:
                raise toolchain.Failed(f"{step['name']}, workgroup {index}: {error}") from error
            ran.append((step, index, block, binary))
    if not memory.intact():
        raise toolchain.Failed("a kernel has written outside of its buffers")
    result = lambda at, like: memory.words[at : at + len(like.view(np.uint32))].view(like.dtype)
    target = lambda name: places[name if plan["in_place"] else f"{name}_out"]
    return result(target("keys"), keys), result(target("values"), values), ran


def pattern(name, dtype, count, tile):
    """Keys to sort."""
    rng = np.random.default_rng(1)
    bits = 8 * dtype.itemsize
    keys = rng.integers(0, 1 << bits, count, dtype=dtype)
    repeated = lambda byte: dtype.type(int.from_bytes(bytes([byte] * dtype.itemsize), "little"))
    if name == "few":  # four digits, in every pass
        keys &= repeated(0x81)
    elif name == "skewed":  # one digit has nine in ten
        keys[rng.random(count) < 0.9] = repeated(0x42)
    elif name == "tiles":  # a tile, and most of the next, have one digit in every pass
        keys[tile : 2 * tile + 2 * tile // 3] = repeated(0x42)
    elif name == "skip":  # one pass has nothing to do
        keys &= dtype.type(~(255 << 8) & (1 << bits) - 1)
    elif name == "equal":  # neither has any
        keys[:] = repeated(0x42)
    elif name == "sorted":
        keys.sort()
    elif name == "reversed":
        keys = np.sort(keys)[::-1].copy()
    return keys


PATTERNS = ("uniform", "few", "skewed", "tiles", "skip", "equal", "sorted", "reversed")


def sort(pipelines, case, name="uniform", large=False, changes=(), tiles=FULL_TILES, backwards=False):
    """Sorts a pattern, fails where the result is wrong, and gives the steps that ran and the plan."""
    dtype = np.dtype(f"<u{int(case.key[1:]) // 8}")
    capacity = LARGE if large else None
    probe = contract(case, capacity or 1 << 16, 1 << 16, changes)
    tile = probe["tile"]
    # Of a large sort the histogram's parts count, which are larger.
    parts = [step["own"]["part"] for step in probe["steps"] if large and step.get("kernel") == "histogram"]
    count = max([tile, *parts]) * tiles + tile // 3 + 5
    count += -count % (case.row or max(4 // dtype.itemsize, 1))  # whole rows, or words
    plan = contract(case, capacity or count, count, changes)
    keys = pattern(name, dtype, count, tile)
    indices = np.arange(count, dtype=np.uint32)
    values = {"none": indices[:0], "4": indices, "index": np.zeros(count, np.uint32)}[case.value]
    got_keys, got_values, ran = emulate(pipelines, plan, keys, values, backwards)
    rows = np.arange(count) // case.row if case.row else np.zeros(count)
    order = np.lexsort((keys, rows))  # stable
    wrong = []
    if case.value != "index" and not (got_keys == keys[order]).all():
        wrong.append("keys")
    if case.value != "none" and not (got_values == order).all():
        wrong.append("values")
    if wrong:
        raise toolchain.Failed(f"WRONG: {' and '.join(wrong)} of {count} elements, {name}")
    return ran, plan


def figures(ran, plan, kernel, pass_=None):
    """Of a full tile in the middle, or of a part of the histogram, or of the slots of short segments."""
    chosen = [entry for entry in ran if entry[0]["kernel"] == kernel and entry[0]["pass"] == pass_]
    step, _, block, binary = next(entry for entry in chosen if entry[1] == max(min(COUNTED_TILE, len(chosen) - 2), 0))
    part = step["own"].get("part") or block.threads * constants(plan["abi"])["HELD_SLOTS"]  # short segments
    return Figures.of(kernel, binary, block, part / block.threads)
