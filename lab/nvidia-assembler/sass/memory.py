"""Loads, stores and atomics on constants, shared, local and global memory."""

import re

import numpy as np

from .lanes import M32, U, wide


def wavefronts(ad, m, width=4):
    """Wavefronts of an access: most different words that one bank has to give; wider ones in turns of fewer lanes."""
    total = 0
    step = 32 * 4 // width if width > 4 else 32
    for s in range(0, 32, step):
        sel = m[s : s + step]
        if not sel.any():
            continue
        words = ad[s : s + step][sel] >> U(2)
        if width > 4:
            words = np.unique((words[:, None] + np.arange(width // 4, dtype=np.uint32)[None, :]).ravel())
        else:
            words = np.unique(words)
        total += int(np.bincount(words & U(31)).max())
    return max(total, 1)


NARROW = ("U8", "S8", "U16", "S16")


class Memory:
    def caddr(self, s):
        m = re.match(r"c\[0x([0-9a-f])\]\[(.*)\]$", s)
        bank = int(m[1], 16)
        return bank, self.addr("[" + m[2] + "]")

    def op_LDC(self, n, a, i):
        d = self.reg(a[0])
        bank, ad = self.caddr(a[1])
        wide = "64" in n

        def run(w, m, g):
            mem = w.block.const if bank == 0 else w.block.banks[bank]
            k = np.where(m, ad(w) >> U(2), 0)
            np.copyto(w.R[d], mem[k], where=m)
            if wide:
                np.copyto(w.R[d + 1], mem[k + 1], where=m)

        return run

    def op_ULDC(self, n, a, i):
        d = self.ureg(a[0])
        m = re.match(r"c\[0x([0-9a-f])\]\[(0x[0-9a-f]+|(UR\d+)(?:\+(0x[0-9a-f]+))?)\]$", a[1])
        bank = int(m[1], 16)
        wide = "64" in n
        if m[3]:
            u, off = self.uni(m[3]), int(m[4] or "0", 16)
            o = lambda w: (u(w) + off) // 4
        else:
            k = int(m[2], 16) // 4
            o = lambda w: k

        def run(w, mm, g):
            mem = w.block.const if bank == 0 else w.block.banks[bank]
            w.UR[d] = int(mem[o(w)])
            if wide:
                w.UR[d + 1] = int(mem[o(w) + 1])

        return run

    op_LDCU = op_ULDC

    def op_LDS(self, n, a, i):
        d, ad = self.reg(a[0]), self.addr(a[1])
        words = 4 if "128" in n else 2 if "64" in n else 1
        half = [s for s in n if s in ("U16", "S16", "U8", "S8")]

        def run(w, m, g):
            x = ad(w)
            w.block.note_shared("LDS", x, m, 4 * words, i)
            if half:
                k = x >> U(2)
                v = w.block.shared[np.where(m, k, 0)] >> (U(8) * (x & U(3)))
                v = v & U(0xFFFF if "16" in half[0] else 0xFF)
                if half[0][0] == "S":
                    raise NotImplementedError("LDS.S")
                np.copyto(w.R[d], v, where=m)
                return
            assert not (x[m] & U(3)).any()
            k = np.where(m, x >> U(2), 0)
            for j in range(words):
                np.copyto(w.R[d + j if d != 256 else d], w.block.shared[k + U(j)], where=m)

        return run

    def op_STL(self, n, a, i):
        ad, s = self.addr(a[0]), a[1]
        words = 4 if "128" in n else 2 if "64" in n else 1
        r = 255 if s == "RZ" else self.reg(s)

        def run(w, m, g):
            x = ad(w)
            at = int(x[m][0])
            assert (x[m] == at).all()
            for j in range(words):
                cell = w.block.local.setdefault((w.index, at + 4 * j), np.zeros(32, np.uint32))
                np.copyto(cell, w.R[r + j if r != 255 else 255], where=m)

        return run

    def op_LDL(self, n, a, i):
        d, ad = self.reg(a[0]), self.addr(a[1])
        words = 4 if "128" in n else 2 if "64" in n else 1

        def run(w, m, g):
            x = ad(w)
            at = int(x[m][0])
            assert (x[m] == at).all()
            for j in range(words):
                # A register may be loaded before it is stored, where its value is not used.
                cell = w.block.local.get((w.index, at + 4 * j), np.full(32, 0xDEADBEEF, np.uint32))
                np.copyto(w.R[d + j if d != 256 else d], cell, where=m)

        return run

    def op_STS(self, n, a, i):
        ad, s = self.addr(a[0]), a[1]
        words = 4 if "128" in n else 2 if "64" in n else 1
        half = [t for t in n if t in ("U16", "U8")]
        if s == "RZ":
            src = [lambda w: w.R[255]] * words
        else:
            r = self.reg(s)
            src = [(lambda w, j=j: w.R[r + j]) for j in range(words)]

        def run(w, m, g):
            x = ad(w)[m]
            w.block.note_shared("STS", ad(w), m, 4 * words, i)
            if half:
                b = w.block.shared.view(np.uint16 if half[0] == "U16" else np.uint8)
                b[x >> U(1) if half[0] == "U16" else x] = src[0](w)[m].astype(b.dtype)
                return
            for j in range(words):
                w.block.shared[(x >> U(2)) + U(j)] = src[j](w)[m]

        return run

    def atomic(self, mem, op, k, v, c=None):
        old = mem[k]
        if op == "ADD":
            new = (int(old) + int(v)) & M32
        elif op == "INC1":
            new = (int(old) + 1) & M32
        elif op == "OR":
            new = int(old) | int(v)
        elif op == "AND":
            new = int(old) & int(v)
        elif op == "XOR":
            new = int(old) ^ int(v)
        elif op == "MAX":
            new = max(int(old), int(v))
        elif op == "MIN":
            new = min(int(old), int(v))
        elif op == "EXCH":
            new = int(v)
        elif op == "CAS":
            new = int(c) if old == v else int(old)
        else:
            raise NotImplementedError(op)
        mem[k] = new
        return old

    def op_ATOMS(self, n, a, i):
        if n[1] == "POPC":
            op, d, ad, x, y = "INC1", self.reg(a[0]), self.addr(a[1]), None, None
        else:
            op, d, ad, x = n[1], self.reg(a[0]), self.addr(a[1]), self.vec(a[2])
            if op == "CAST":
                raise NotImplementedError("ATOMS.CAST")
            y = self.vec(a[3]) if op == "CAS" else None

        def run(w, m, g):
            p = ad(w)
            w.block.note_shared("ATOMS", p, m, 4, i)
            v = wide(x(w)) if x else None
            c = wide(y(w)) if y else None
            r = w.R[d].copy()
            for l in np.nonzero(m)[0]:
                r[l] = self.atomic(w.block.shared, op, int(p[l]) >> 2, v[l] if x else 0, c[l] if y else None)
            np.copyto(w.R[d], r, where=m)

        return run

    def load_narrow(self, d, ad, kind):
        bits = int(kind[1:])

        def run(w, m, g):
            x = ad(w)
            w.block.note_global("LDG", x, m, bits // 8, 0)
            v = w.block.memory[w.block.gindex(x, m)] >> (U(8) * (x & np.uint64(3)).astype(np.uint32))
            v = v & U((1 << bits) - 1)
            if kind[0] == "S":
                v = (v ^ U(1 << bits - 1)) - U(1 << bits - 1)
            np.copyto(w.R[d], v, where=m)

        return run

    def store_narrow(self, ad, s, kind):
        bits = int(kind[1:])

        def run(w, m, g):
            x = ad(w)
            w.block.note_global("STG", x, m, bits // 8, 0)
            k, v = w.block.gindex(x, m), wide(s(w))
            for lane in np.nonzero(m)[0]:
                shift = 8 * (int(x[lane]) & 3)
                mask = (1 << bits) - 1 << shift
                w.block.memory[k[lane]] = int(w.block.memory[k[lane]]) & ~mask & M32 | int(v[lane]) << shift & mask

        return run

    def op_LDG(self, n, a, i):
        if re.match(r"P[0-9T]$", a[0]):
            a = a[1:]
        d, ad = self.reg(a[0]), self.gaddr(a[1])
        words = 4 if "128" in n else 2 if "64" in n else 1
        narrow = next((s for s in n if s in NARROW), None)
        if narrow:
            return self.load_narrow(d, ad, narrow)

        def run(w, m, g):
            x = ad(w)
            k = w.block.gindex(x, m)
            w.block.note_global("LDG", x, m, 4 * words, i)
            for j in range(words):
                np.copyto(w.R[d + j if d != 256 else d], w.block.memory[k + j], where=m)

        return run

    def op_STG(self, n, a, i):
        ad, s = self.gaddr(a[0]), a[1]
        words = 4 if "128" in n else 2 if "64" in n else 1
        narrow = next((s for s in n if s in NARROW), None)
        if narrow:
            return self.store_narrow(ad, self.vec(s), narrow)
        r = 255 if s == "RZ" else self.reg(s)

        def run(w, m, g):
            x = ad(w)
            k = w.block.gindex(x, m)[m]
            w.block.note_global("STG", x, m, 4 * words, i)
            for j in range(words):
                w.block.memory[k + j] = w.R[r + j if r != 255 else 255][m]

        return run

    def op_ATOMG(self, n, a, i):
        op = [s for s in n if s in ("ADD", "CAS", "OR", "AND", "MAX", "MIN", "EXCH")][0]
        d, ad, x = self.reg(a[1]), self.gaddr(a[2]), self.vec(a[3])
        y = self.vec(a[4]) if op == "CAS" else None

        def run(w, m, g):
            p = ad(w)
            k = w.block.gindex(p, m)
            w.block.note_global("ATOMG", p, m, 4, i)
            v = wide(x(w))
            c = wide(y(w)) if y else None
            r = w.R[d].copy()
            for l in np.nonzero(m)[0]:
                r[l] = self.atomic(w.block.memory, op, int(k[l]), v[l], c[l] if y else None)
            np.copyto(w.R[d], r, where=m)

        return run

    op_ATOM = op_ATOMG

    def op_REDG(self, n, a, i):
        op = [s for s in n if s in ("ADD", "OR", "AND", "MAX", "MIN")][0]
        ad, x = self.gaddr(a[0]), self.vec(a[1])

        def run(w, m, g):
            p = ad(w)
            k = w.block.gindex(p, m)
            w.block.note_global("RED", p, m, 4, i)
            v = wide(x(w))
            for l in np.nonzero(m)[0]:
                self.atomic(w.block.memory, op, int(k[l]), v[l])

        return run

    op_RED = op_REDG
