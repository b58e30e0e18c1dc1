"""A workgroup that runs a program: warps, their convergence and the counts of what they issue."""

import collections

import numpy as np

from .lanes import FULL, U, to_bool, to_mask
from .memory import wavefronts


class Warp:
    """Registers of 32 lanes, and where their groups are in the program."""

    def __init__(self, block, index):
        self.block, self.index = block, index
        self.R = np.zeros((258, 32), np.uint32)
        self.UR = [0] * 66
        self.P = np.zeros((8, 32), bool)
        self.P[7] = True
        self.UP = [False] * 8
        self.UP[7] = True
        self.B = {}
        self.live = FULL
        self.groups = [[0, FULL, None]]  # pc (index), mask, what it waits for


class Global:
    """Global memory in words: buffers with guard words around them, which nobody may change."""

    BASE = 0x7F0000000000
    GUARD = 64

    def __init__(self):
        self.words = np.zeros(0, np.uint32)
        self.buffers = []

    def allocate(self, content):
        """The index of the first word of a new buffer; `content` is its words, or how many of them."""
        words = np.zeros(content, np.uint32) if isinstance(content, int) else np.asarray(content, np.uint32)
        at = len(self.words) + self.GUARD
        tail = -(at + len(words)) % 64 + self.GUARD
        guards = np.full(self.GUARD, 0xFEEDFACE, np.uint32), np.full(tail, 0xFEEDFACE, np.uint32)
        self.words = np.concatenate([self.words, guards[0], words, guards[1]])
        self.buffers.append((at, len(words)))
        return at

    def address(self, at):
        return self.BASE + 4 * at

    def intact(self):
        """Whether all guard words are as they were."""
        outside = np.ones(len(self.words), bool)
        for at, size in self.buffers:
            outside[at : at + size] = False
        return bool((self.words[outside] == 0xFEEDFACE).all())


class Block:
    """One workgroup on its way through a program, and what it has issued."""

    def __init__(self, program, memory, threads, parameter, index=0, grid=1, backwards=False):
        """`parameter` is where the kernel's parameter starts in the first constant bank, and its words. The last warp comes
        first between barriers where they run `backwards`, which shows some barriers that are missing."""
        self.program, self.threads, self.ctaid = program, threads, index
        self.memory = memory.words
        self.shared = np.full(57 * 1024, 0xDEADBEEF, np.uint32)
        self.const = np.zeros(1024, np.uint32)
        self.const[:6] = [threads, 1, 1, grid, 1, 1]
        offset, words = parameter
        self.const[offset // 4 : offset // 4 + len(words)] = np.array(words, np.uint32)
        self.banks = program.banks
        self.local = {}
        self.warps = [Warp(self, k) for k in range(threads // 32)]
        self.order = self.warps[::-1] if backwards else self.warps
        self.executed = np.zeros(len(program.ops), np.int64)
        self.predicated_off = 0
        self.waves = collections.Counter()
        self.accesses = collections.Counter()
        self.sectors = collections.Counter()
        self.votes, self.vote = [], False

    def gindex(self, x, m):
        """Indices of the words at some addresses, for the lanes in `m`."""
        k = (x - np.uint64(Global.BASE)) >> np.uint64(2)
        if (k[m] >= len(self.memory)).any():
            raise RuntimeError(f"global access outside: {[hex(int(v)) for v in x[m]][:4]}")
        return np.where(m, k, 0).astype(np.int64)

    def note_shared(self, kind, x, m, width, i):
        if not m.any():
            return
        w = x[m]
        if (w >> U(2) >= len(self.shared)).any():
            raise RuntimeError("shared access outside")
        if kind == "ATOMS":  # lanes on one word take turns
            words = w >> U(2)
            _, c = np.unique(words, return_counts=True)
            n = int(c.max())
            n = max(n, wavefronts(x, m))
        else:
            n = wavefronts(x, m, width)
        self.waves[kind] += n
        self.accesses[kind] += 1

    def note_global(self, kind, x, m, width, i):
        if m.any():
            self.sectors[kind] += len(np.unique(x[m] >> np.uint64(5)))
            self.accesses[kind] += 1

    def run(self, limit=1_000_000):
        """Runs to the end. A warp that issues more than `limit` instructions between barriers hangs."""
        while True:
            progress = False
            for w in self.order:
                n = self.run_warp(w, limit)
                progress |= n > 0
            if all(not w.live for w in self.warps):
                return
            # barrier: every live lane waits at one
            if all(all(g[2] and g[2][0] == "bar" for g in w.groups) for w in self.warps if w.live):
                self.vote = any(self.votes)
                self.votes = []
                for w in self.warps:
                    for g in w.groups:
                        g[2] = None
                    self.merge(w)
                progress = True
            if not progress:
                stuck = next(w for w in self.warps if w.live)
                at = [(hex(self.program.code[g[0]][0]), hex(g[1]), g[2]) for g in stuck.groups]
                raise RuntimeError(f"deadlock: the lanes of warp {stuck.index} are at {at}")

    def merge(self, w):
        by = {}
        for g in w.groups:
            if g[2] is None:
                by.setdefault(g[0], []).append(g)
        for pc, gs in by.items():
            if len(gs) > 1:
                for g in gs[1:]:
                    gs[0][1] |= g[1]
                    w.groups.remove(g)

    def run_warp(self, w, limit):
        n = 0
        ops, executed = self.program.ops, self.executed
        while w.live:
            ready = [g for g in w.groups if g[2] is None]
            if not ready:
                return n
            g = min(ready, key=lambda g: g[0])
            m0 = to_bool(g[1])
            while True:
                pc = g[0]
                guard, f, base, text = ops[pc]
                m = m0
                executed[pc] += 1
                n += 1
                if n > limit:
                    raise RuntimeError("too many instructions")
                if guard is not None:
                    m = m0 & guard(w)
                    if not m.any():
                        self.predicated_off += 1
                        g[0] += 1
                        continue
                r = f(w, m, g)
                if r is None:
                    g[0] += 1
                    continue
                kind = r[0]
                if kind == "jump":
                    if r[2] == g[1]:
                        g[0] = r[1]
                        continue
                    w.groups.append([r[1], r[2], None])
                    g[1] &= ~r[2]
                    g[0] += 1
                    break
                if kind == "exit":
                    w.live &= ~r[1]
                    g[1] &= ~r[1]
                    if not g[1]:
                        w.groups.remove(g)
                    else:
                        g[0] += 1
                    self.release(w)
                    break
                if kind == "sync":
                    l = (g[1] & -g[1]).bit_length() - 1
                    g[2] = ("sync", r[1], w.B[r[1]][l])
                    g[0] += 1
                    self.release(w)
                    if g[2] is None and g in w.groups and to_mask(m0) == g[1]:
                        continue
                    break
                if kind == "warpsync":
                    g[2] = ("warpsync", r[1])
                    g[0] += 1
                    self.release(w)
                    if g in w.groups and g[2] is None and to_mask(m0) == g[1]:
                        continue
                    break
                if kind == "bar":
                    g[2] = ("bar",)
                    g[0] += 1
                    break
        return n

    def release(self, w):
        """Lets go groups at convergence barriers whose lanes have all come."""
        for g in list(w.groups):
            if g not in w.groups or g[2] is None or g[2][0] not in ("sync", "warpsync"):
                continue
            same = [
                h
                for h in w.groups
                if h[2] is not None
                and h[2][0] == g[2][0]
                and h[0] == g[0]
                and (g[2][0] == "warpsync" or h[2][1] == g[2][1])
            ]
            have = 0
            for h in same:
                have |= h[1]
            if g[2][0] == "sync":
                need = 0
                for h in same:
                    l = (h[1] & -h[1]).bit_length() - 1
                    need |= w.B[g[2][1]][l]
            else:
                need = g[2][1]
            need &= w.live
            if need & ~have == 0:
                same[0][1] = have
                same[0][2] = None
                for h in same[1:]:
                    w.groups.remove(h)
