"""CUB's kernels through the same assembler and emulator: the reference, and a check of the emulator."""

import os

import numpy as np

import toolchain
from sass import Block, Global, Program
from sort import Figures

THREADS, ITEMS, TILES, COUNTED_TILE = 384, 20, 6, 4
HISTOGRAM_THREADS, HISTOGRAM_ITEMS, HISTOGRAM_ROUNDS, HISTOGRAM_GRID = 128, 16, 4, 2


def compiled(name, arch, flags=()):
    with open(os.path.join(toolchain.HERE, name + ".cu")) as f:
        binary = toolchain.compile(f.read(), name, arch, flags)
    return binary, Program(binary.sass, name, binary.banks)


def words(*numbers):
    """Addresses, which are above 32 bits, and integers as words of a parameter."""
    out = []
    for number in numbers:
        out += [number & 0xFFFFFFFF, number >> 32] if number >> 32 else [number]
    return out


def onesweep(arch, pairs):
    """The second pass over a full tile in the middle; fails where the output is wrong."""
    binary, program = compiled("cub_onesweep", arch, ["-DPAIRS"] if pairs else [])
    memory, rng = Global(), np.random.default_rng(1)
    tile = THREADS * ITEMS
    count = tile * TILES
    keys = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    values = np.arange(count, dtype=np.uint32)
    digits = keys >> np.uint32(8) & np.uint32(255)
    counts = lambda part: np.bincount(part, minlength=256)
    starts = np.cumsum(counts(digits)) - counts(digits)
    table = np.zeros((TILES, 256), np.int64)
    for before in range(COUNTED_TILE):
        table[before] = counts(digits[: (before + 1) * tile]) | 1 << 31
    look_back, tickets = memory.allocate(table.ravel()), memory.allocate([COUNTED_TILE])
    starts_out, starts_in = memory.allocate(256), memory.allocate(starts)
    keys_out, keys_in, values_out, values_in = (memory.allocate(a) for a in (count, keys, count, values))
    buffers = (look_back, tickets, starts_out, starts_in, keys_out, keys_in, values_out, values_in)
    parameter = words(*map(memory.address, buffers), count, 8, 8)
    block = Block(program, memory, THREADS, (binary.parameter, parameter), COUNTED_TILE, TILES)
    block.run()
    mine = slice(COUNTED_TILE * tile, (COUNTED_TILE + 1) * tile)
    order = np.argsort(digits[mine], kind="stable")
    sorted_digits = digits[mine][order]
    own = counts(digits[mine])
    within = np.arange(tile) - (np.cumsum(own) - own)[sorted_digits]
    places = starts[sorted_digits] + counts(digits[: mine.start])[sorted_digits] + within
    right = (memory.words[keys_out + places] == keys[mine][order]).all() and memory.intact()
    if pairs:
        right = right and (memory.words[values_out + places] == values[mine][order]).all()
    if not right:
        raise toolchain.Failed("WRONG: CUB's onesweep")
    return Figures.of("onesweep", binary, block, ITEMS)


def histogram(arch):
    """Every second tile of the keys; fails where the counts are wrong."""
    binary, program = compiled("cub_histogram", arch)
    memory, rng = Global(), np.random.default_rng(2)
    tile = HISTOGRAM_THREADS * HISTOGRAM_ITEMS
    keys = rng.integers(0, 1 << 32, tile * HISTOGRAM_GRID * HISTOGRAM_ROUNDS, dtype=np.uint32)
    bins, source = memory.allocate(1024), memory.allocate(keys)
    parameter = words(memory.address(bins), memory.address(source), len(keys), 0, 32)
    block = Block(program, memory, HISTOGRAM_THREADS, (binary.parameter, parameter), 1, HISTOGRAM_GRID)
    block.run()
    mine = keys.reshape(-1, HISTOGRAM_GRID, tile)[:, 1].ravel()
    want = [np.bincount(mine >> np.uint32(8 * digit) & np.uint32(255), minlength=256) for digit in range(4)]
    if not (memory.words[bins : bins + 1024] == np.concatenate(want)).all() or not memory.intact():
        raise toolchain.Failed("WRONG: CUB's histogram")
    return Figures.of("histogram", binary, block, HISTOGRAM_ITEMS * HISTOGRAM_ROUNDS)
