"""Branches, barriers, votes and shuffles."""

import re

import numpy as np

from .lanes import FULL, LANES, M32, U, to_mask, wide


class Control:
    def op_VOTE(self, n, a, i):
        if re.match(r"P[0-9T]$", a[0]):
            d, pd, p = None, self.pdst(a[0]), self.pred(a[1])
        else:
            d, pd, p = self.reg(a[0]), self.pdst(a[1]), self.pred(a[2])
        kind = n[1]

        def run(w, m, g):
            v = wide(p(w)) & m
            if d is not None:
                np.copyto(w.R[d], U(to_mask(v)), where=m)
            if pd is not None:
                np.copyto(w.P[pd], v.any() if kind == "ANY" else (v == m).all(), where=m)

        return run

    def op_VOTEU(self, n, a, i):
        if re.match(r"UP[0-9T]$", a[0]):
            d, pd, p = None, self.pdst(a[0]), self.pred(a[1])
        else:
            d, pd, p = self.ureg(a[0]), self.pdst(a[1]), self.pred(a[2])
        kind = n[1]

        def run(w, m, g):
            v = wide(p(w)) & m
            if d is not None:
                w.UR[d] = to_mask(v)
            if pd is not None:
                w.UP[pd] = bool(v.any() if kind == "ANY" else (v == m).all())

        return run

    def op_MATCH(self, n, a, i):
        assert n[1] == "ANY"
        k = 1 if re.match(r"P[0-9T]$", a[0]) else 0
        d, x = self.reg(a[k]), self.vec(a[k + 1])

        def run(w, m, g):
            v = x(w)
            r = np.zeros(32, np.uint32)
            for l in range(32):
                if m[l]:
                    r[l] = to_mask((v == v[l]) & m)
            np.copyto(w.R[d], r, where=m)

        return run

    def op_REDUX(self, n, a, i):
        d, x = self.ureg(a[0]), self.vec(a[1])
        kind = n[1] if len(n) > 1 else "SUM"
        signed = "S32" in n

        def run(w, m, g):
            v = wide(x(w))[m]
            if signed:
                v = v.view(np.int32)
            w.UR[d] = {
                "MAX": lambda: int(v.max()),
                "MIN": lambda: int(v.min()),
                "OR": lambda: int(np.bitwise_or.reduce(v)),
                "SUM": lambda: int(v.astype(np.uint64).sum()),
                "AND": lambda: int(np.bitwise_and.reduce(v)),
            }[kind]() & M32

        return run

    def op_SHFL(self, n, a, i):
        pd, d, x, y, c = self.pdst(a[0]), self.reg(a[1]), self.vec(a[2]), self.vec(a[3]), self.vec(a[4])
        kind = n[1]

        def run(w, m, g):
            v, b, k = wide(x(w)), wide(y(w)) & U(31), wide(c(w))
            seg, clamp = (k >> U(8) & U(31)).astype(int), (k & U(31)).astype(int)
            lane = LANES.astype(int)
            bb = b.astype(int)
            low = lane & seg
            top = low | (clamp & ~seg)
            if kind == "IDX":
                j = low | (bb & ~seg)
                ok = j <= top
            elif kind == "UP":
                j = lane - bb
                ok = j >= top
            elif kind == "DOWN":
                j = lane + bb
                ok = j <= top
            else:
                j = lane ^ bb
                ok = j <= top
            j = np.where(ok, j, lane)
            bad = m & ~m[j]
            if bad.any():
                raise RuntimeError("shuffle from an inactive lane")
            np.copyto(w.R[d], v[j], where=m)
            if pd is not None:
                np.copyto(w.P[pd], ok, where=m)

        return run

    def nothing(self, n, a, i):
        def run(w, m, g):
            pass

        return run

    op_NOP = op_YIELD = op_MEMBAR = op_ERRBAR = op_CCTL = op_PREEXIT = op_ACQBULK = op_NANOSLEEP = op_DEPBAR = (
        op_ENDCOLLECTIVE
    ) = op_CGAERRBAR = nothing

    def op_BRA(self, n, a, i):
        if "DIV" in n or "CONV" in n:  # whether the lanes have diverged, or run together
            target, together = self.at[int(a[-1], 16)], "CONV" in n

            def run(w, m, g):
                if (g[1] == w.live) == together:
                    return ("jump", target, g[1])

            return run
        p = self.pred(a[0]) if len(a) == 2 else None
        target = self.at[int(a[-1], 16)]

        def run(w, m, g):
            take = m if p is None else m & p(w)
            k = to_mask(take)
            if k:
                return ("jump", target, k)

        return run

    def op_CALL(self, n, a, i):  # without a return: a jump
        target = self.at[int(a[-1], 16)]

        def run(w, m, g):
            return ("jump", target, to_mask(m))

        return run

    def op_BSSY(self, n, a, i):
        b = a[0]

        def run(w, m, g):
            for l in range(32):
                if g[1] >> l & 1:
                    w.B.setdefault(b, [0] * 32)[l] = g[1]

        return run

    def op_BSYNC(self, n, a, i):
        b = a[0]

        def run(w, m, g):
            return ("sync", b)

        return run

    def op_BMOV(self, n, a, i):
        """Between a convergence barrier and a register, lane by lane."""
        if a[0].startswith("B"):
            b, s = a[0], self.vec(a[1])

            def run(w, m, g):
                v = wide(s(w))
                for lane in np.nonzero(m)[0]:
                    w.B.setdefault(b, [0] * 32)[lane] = int(v[lane])

            return run
        d, b, clear = self.reg(a[0]), a[1], "CLEAR" in n

        def run(w, m, g):
            masks = w.B.setdefault(b, [0] * 32)
            np.copyto(w.R[d], np.array(masks, np.uint32), where=m)
            if clear:
                for lane in np.nonzero(m)[0]:
                    masks[lane] = 0

        return run

    def op_BREAK(self, n, a, i):
        b = a[-1]

        def run(w, m, g):
            k = to_mask(m)
            old = set(w.B[b][l] for l in range(32) if k >> l & 1)
            for l in range(32):
                if w.B[b][l] in old:
                    w.B[b][l] &= ~k

        return run

    def op_WARPSYNC(self, n, a, i):
        if "COLLECTIVE" in n:

            def run(w, m, g):
                raise NotImplementedError("collective in divergent code")

            return run
        x = self.vec(a[0]) if a else None

        def run(w, m, g):
            mask = FULL if x is None else int(wide(x(w))[m][0])
            return ("warpsync", mask)

        return run

    def op_BAR(self, n, a, i):
        if "RED" in n:
            p = self.pred(a[-1])

            def run(w, m, g):
                w.block.votes.append(bool((wide(p(w)) & m).any()))
                return ("bar",)

            return run
        if n[1] != "SYNC":
            raise NotImplementedError(".".join(n))

        def run(w, m, g):
            return ("bar",)

        return run

    def op_B2R(self, n, a, i):
        pd = self.pdst(a[1])

        def run(w, m, g):
            np.copyto(w.P[pd], w.block.vote, where=m)

        return run

    def op_EXIT(self, n, a, i):
        def run(w, m, g):
            return ("exit", to_mask(m))

        return run
