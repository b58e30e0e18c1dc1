"""Compiled kernels in the emulator, against numpy."""

import os
import unittest

import toolchain

try:
    import numpy as np

    import cub
    import glsl2cu
    import sort
    from sass import Block, Global, Program
except ImportError:
    np = None

HERE = os.path.dirname(os.path.realpath(__file__))
ARCHS = (75, 80, 90)


def lanes(values):
    """A value of each lane, by subgroup."""
    return values.reshape(-1, 32)


@unittest.skipUnless(np and toolchain.cuda(), "NVIDIA's compiler or numpy is not here")
class Emulator(unittest.TestCase):
    def test_built_ins_give_what_glsl_says(self):
        for arch in ARCHS:
            with self.subTest(arch=arch):
                self.check_built_ins(arch)

    def check_built_ins(self, arch):
        threads, offset, shift, pair = 128, 5, 9, (3, 8)
        kernel = glsl2cu.translate(os.path.join(HERE, "builtins.comp"), HERE, {}, {"WORKGROUP_SIZE": threads})
        binary = toolchain.compile(kernel.text, kernel.name, arch)
        program = Program(binary.sass, kernel.name, binary.banks)
        memory = Global()
        source = np.random.default_rng(3).integers(0, 1 << 32, threads + offset, dtype=np.uint32)
        at, idle, out, head = (memory.allocate(content) for content in (source, 4, 40 * threads, 16))
        pointers = [memory.address(buffer) for buffer in (at, idle, out, head)]
        words = cub.words(*pointers, offset, *pair, shift)
        block = Block(program, memory, threads, (binary.parameter, words))
        block.run()

        value = source[offset:]
        wide = value.astype(np.int64)
        signed = lambda low, bits: (wide >> low & (1 << bits) - 1 ^ 1 << bits - 1) - (1 << bits - 1)
        bit = lambda set: lanes(set).astype(np.int64) << np.arange(32)
        ballot = lambda set: np.repeat(bit(set).sum(1), 32)
        below = (1 << np.tile(np.arange(32), threads // 32)) - 1
        low = lanes(wide & 0xFFFF)
        group = np.arange(threads) // 32
        same = (value[:, None] & 7 == value[None, :] & 7) & (group[:, None] == group[None, :])
        product = wide.astype(object) ** 2
        sums = [int(v) + int(p & 0xFFFFFFFF) for v, p in zip(wide, product)]
        cleared = lambda v: v & ~255
        expected = [
            ballot(value & 1 != 0),
            ballot(value > 0x80000000) & below,
            wide >> 4 & 0xFFF,
            signed(shift, 1),
            signed(0, 5),
            signed(7, 5),
            low.cumsum(1).ravel(),
            (low.cumsum(1) - low).ravel(),
            np.repeat(low.sum(1), 32),
            np.repeat(lanes(wide).max(1), 32),
            np.repeat(lanes(wide)[:, 0], 32),
            lanes(wide)[:, np.arange(32) ^ 5].ravel(),
            lanes(wide)[:, np.maximum(np.arange(32) - 1, 0)].ravel(),
            lanes(wide)[:, np.arange(32) ^ 9].ravel(),
            [bin(v).count("1") for v in ballot(value & 2 != 0) & below],
            np.tile(np.arange(32) == 0, threads // 32),
            [((v | 256) & -(v | 256)).bit_length() - 1 << 8 | (v | 1).bit_length() - 1 for v in wide.tolist()],
            np.where(np.arange(threads) == 63, 1000, 0) + 2 * offset,
            wide + 1,
            cleared(wide) ^ 0 ^ cleared(wide),
            [int(p >> 32) for p in product],
            [(s & 0xFFFFFFFF) ^ (s >> 32) for s in sums],
            same.sum(1),
            np.full(threads, wide.max()),
        ]
        got = memory.words[out : out + 40 * threads].reshape(40, threads)
        for row, (found, want) in enumerate(zip(got, expected)):
            self.assertEqual(found.tolist(), [int(v) & 0xFFFFFFFF for v in want], f"answer {row}")
        self.assertFalse(got[len(expected) :].any())
        self.assertEqual(memory.words[head : head + 6].tolist(), [0, 0, 0, 0, 2, 77])
        self.assertTrue(memory.intact())
        self.assertGreater(block.executed.sum(), 4 * 100)

    def test_cub_sorts_and_takes_what_it_is_known_to_take(self):
        figures = cub.onesweep(90, False)
        self.assertAlmostEqual(figures.executed, 67.7, delta=3)
        self.assertEqual(figures.spill_bytes, 0)

    def test_a_write_past_a_buffer_is_seen(self):
        memory = Global()
        at = memory.allocate(10)
        self.assertTrue(memory.intact())
        memory.words[at + 10] = 1
        self.assertFalse(memory.intact())

    def test_a_wrong_sort_is_seen(self):
        pipelines = sort.Pipelines(90)
        case = sort.Case.parse("keys")
        emulate, real = sort.emulate, sort.emulate

        def swapped(*arguments):
            keys, values, ran = real(*arguments)
            keys[[100, 5000]] = keys[[5000, 100]]
            return keys, values, ran

        try:
            sort.emulate = swapped
            with self.assertRaisesRegex(toolchain.Failed, "WRONG: keys"):
                sort.sort(pipelines, case, tiles=1)
        finally:
            sort.emulate = emulate
