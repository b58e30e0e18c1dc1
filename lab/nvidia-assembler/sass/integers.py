"""Integer, logical and predicate instructions."""

import re

import numpy as np

from .lanes import BITS, BOOL, CMP, LANES, M32, U, lut, wide, wide64


def put_with_carry(w, m, register, predicate, v):
    """Sets a register to the low words of sums, and a predicate, if any, to what is above them."""
    np.copyto(w.R[register], v.astype(np.uint32), where=m)
    if predicate is not None:
        np.copyto(w.P[predicate], (v >> np.uint64(32)) != 0, where=m)


class Integers:
    def op_MOV(self, n, a, i):
        s = self.vec(a[1])
        return self.simple(a[0], s)

    def op_IMAD(self, n, a, i):
        mods = n[1:]
        if mods[:1] == ["MOV"]:
            s = self.vec(a[3])
            return self.simple(a[0], s)
        if "WIDE" in mods or "HI" in mods:
            d, x, y, c = self.reg(a[0]), self.vec(a[1]), self.vec(a[2]), self.pair(a[3])
            unsigned, hi = "U32" in mods, "HI" in mods

            def run(w, m, g):
                p, q = wide(np.asarray(x(w), np.uint32)), wide(np.asarray(y(w), np.uint32))
                if unsigned:
                    v = p.astype(np.uint64) * q.astype(np.uint64)
                else:
                    v = (p.astype(np.int32).astype(np.int64) * q.astype(np.int32).astype(np.int64)).astype(np.uint64)
                v = v + c(w)
                if hi:
                    np.copyto(w.R[d], (v >> np.uint64(32)).astype(np.uint32), where=m)
                else:
                    np.copyto(w.R[d], v.astype(np.uint32), where=m)
                    if d != 256:
                        np.copyto(w.R[d + 1], (v >> np.uint64(32)).astype(np.uint32), where=m)

            return run
        x, y, c = self.vec(a[1]), self.vec(a[2]), self.vec(a[3])
        if "X" in mods:
            p = self.pred(a[4])
            return self.simple(a[0], lambda w: x(w) * y(w) + c(w) + np.asarray(p(w)).astype(np.uint32))
        return self.simple(a[0], lambda w: x(w) * y(w) + c(w))

    def op_HFMA2(self, n, a, i):
        # only as a way to make a constant: HFMA2.MMA R, -RZ, RZ, hi, lo (two halves)
        halves = [np.float16(float(v)) for v in a[3:5]]
        v = U(int(halves[0].view(np.uint16)) << 16 | int(halves[1].view(np.uint16)))
        assert a[1].lstrip("-") == "RZ" and a[2].lstrip("-") == "RZ"
        return self.simple(a[0], lambda w: v)

    def op_IADD3(self, n, a, i):
        d = a[0]
        k = 1
        carry = []
        while re.match(r"P[0-9T]$", a[k]):
            carry.append(a[k])
            k += 1
        x, y, z = (self.vec(s) for s in a[k : k + 3])
        k += 3
        cin = [self.pred(s) for s in a[k:]] if "X" in n else []
        if not carry and not cin:
            return self.simple(d, lambda w: x(w) + y(w) + z(w))
        assert all(not s.startswith("-") for s in a[1:4]) or not carry
        dd = self.reg(d)
        cp = self.pdst(carry[0]) if carry else None

        def run(w, m, g):
            v = wide64(x(w)) + wide64(y(w)) + wide64(z(w))
            for c in cin:
                v = v + np.asarray(c(w)).astype(np.uint64)
            put_with_carry(w, m, dd, cp, v)

        return run

    def op_VIADD(self, n, a, i):
        x, y = self.vec(a[1]), self.vec(a[2])
        return self.simple(a[0], lambda w: x(w) + y(w))

    def mnmx(self, n, p, a):
        unsigned = "U32" in n

        def f(w, x, y):
            if not unsigned:
                x, y = (
                    np.asarray(x).astype(np.uint32).view(np.int32)
                    if isinstance(x, np.ndarray)
                    else np.int32(int(x) - (1 << 32) if int(x) >> 31 else int(x))
                ), (
                    np.asarray(y).view(np.int32)
                    if isinstance(y, np.ndarray)
                    else np.int32(int(y) - (1 << 32) if int(y) >> 31 else int(y))
                )
            r = np.where(p(w), np.minimum(x, y), np.maximum(x, y))
            return wide(r).astype(np.int64).astype(np.uint32)

        return f

    def op_VIMNMX(self, n, a, i):
        x, y, p = self.vec(a[1]), self.vec(a[2]), self.pred(a[3])
        f = self.mnmx(n, p, a)
        return self.simple(a[0], lambda w: f(w, x(w), y(w)))

    op_IMNMX = op_VIMNMX

    def op_VIMNMX3(self, n, a, i):
        x, y, z, p = self.vec(a[1]), self.vec(a[2]), self.vec(a[3]), self.pred(a[4])
        f = self.mnmx(n, p, a)
        return self.simple(a[0], lambda w: f(w, f(w, x(w), y(w)), z(w)))

    def op_VIADDMNMX(self, n, a, i):
        x, y, z, p = self.vec(a[1]), self.vec(a[2]), self.vec(a[3]), self.pred(a[4])
        f = self.mnmx(n, p, a)
        return self.simple(a[0], lambda w: f(w, x(w) + y(w), z(w)))

    def op_LEA(self, n, a, i):
        d = a[0]
        k = 1
        cp = None
        if re.match(r"P[0-9T]$", a[1]):
            cp = self.pdst(a[1])
            k = 2
        rest = a[k:]
        x, y = self.vec(rest[0]), self.vec(rest[1])
        dd = self.reg(d)
        if "HI" in n:
            c, s = self.vec(rest[2]), int(rest[3], 16)
            cin = self.pred(rest[4]) if "X" in n else None
            sx = "SX32" in n

            def run(w, m, g):
                lo = wide64(x(w))
                hi = np.asarray(c(w)).astype(np.uint64)
                if sx:
                    hi = np.where(lo >> np.uint64(31) != 0, np.uint64(M32), np.uint64(0))
                v = ((hi << np.uint64(32) | lo) << np.uint64(s)) >> np.uint64(32)
                v = v + np.asarray(y(w)).astype(np.uint64)
                if cin:
                    v = v + np.asarray(cin(w)).astype(np.uint64)
                np.copyto(w.R[dd], v.astype(np.uint32), where=m)

            return run
        s = int(rest[2], 16)

        def run(w, m, g):
            v = (wide64(x(w)) << np.uint64(s)) & np.uint64(M32)
            v = v + np.asarray(y(w)).astype(np.uint64)
            put_with_carry(w, m, dd, cp, v)

        return run

    def op_LOP3(self, n, a, i):
        k = 0
        pd = None
        if re.match(r"P[0-9T]$", a[0]):
            pd = self.pdst(a[0])
            k = 1
        d = self.reg(a[k])
        x, y, z = (self.vec(s) for s in a[k + 1 : k + 4])
        t = int(a[k + 4], 16)
        fast = {
            0xC0: lambda p, q, r: p & q,
            0xFC: lambda p, q, r: p | q,
            0x3C: lambda p, q, r: p ^ q,
            0x33: lambda p, q, r: ~q,
            0x30: lambda p, q, r: p & ~q,
            0x60: lambda p, q, r: p & (q ^ r),
            0x80: lambda p, q, r: p & q & r,
            0xFE: lambda p, q, r: p | q | r,
        }.get(t)
        f = fast or (lambda p, q, r: lut(t, p, q, r))

        def run(w, m, g):
            v = f(x(w), y(w), z(w))
            np.copyto(w.R[d], v, where=m)
            if pd is not None:
                np.copyto(w.P[pd], v != 0, where=m)

        return run

    def op_PLOP3(self, n, a, i):
        pd = [self.pdst(a[0]), self.pdst(a[1])]
        src = [self.pred(s) for s in a[2:5]]
        luts = [int(s, 16) for s in a[5:7]]

        def run(w, m, g):
            p = [wide(s(w)) for s in src]
            idx = p[0].astype(int) * 4 + p[1].astype(int) * 2 + p[2].astype(int)
            for d, t in zip(pd, luts):
                if d is not None:
                    np.copyto(w.P[d], (t >> idx & 1) != 0, where=m)

        return run

    def op_ISETP(self, n, a, i):
        mods = n[1:]
        cmp, comb = CMP[mods[0]], BOOL[[s for s in mods if s in BOOL][0]]
        unsigned, ex = "U32" in mods, "EX" in mods
        d0, d1 = self.pdst(a[0]), self.pdst(a[1])
        x, y, p = self.vec(a[2]), self.vec(a[3]), self.pred(a[4])
        low = self.pred(a[5]) if ex else None
        name = mods[0]

        def run(w, m, g):
            u, v = wide(x(w)), wide(y(w))
            if not unsigned:
                u, v = u.astype(np.uint32).view(np.int32), v.astype(np.uint32).view(np.int32)
            r = cmp(u, v)
            if ex:
                l = low(w)
                if name == "NE":
                    r = (u != v) | l
                elif name == "EQ":
                    r = (u == v) & l
                else:
                    r = (u < v if name in ("LT", "LE") else u > v) | ((u == v) & l)
            c = p(w)
            if d1 is not None:
                np.copyto(w.P[d1], comb(~r, c), where=m)
            if d0 is not None:
                np.copyto(w.P[d0], comb(r, c), where=m)

        return run

    def op_SEL(self, n, a, i):
        x, y, p = self.vec(a[1]), self.vec(a[2]), self.pred(a[3])
        return self.simple(a[0], lambda w: np.where(p(w), x(w), y(w)))

    def op_SHF(self, n, a, i):
        lo, s, hi = self.vec(a[1]), self.vec(a[2]), self.vec(a[3])
        mods = n[1:]
        left, wrap = mods[0] == "L", "W" in mods
        signed = "S32" in mods or "S64" in mods
        wide = "U64" in mods or "S64" in mods
        high = "HI" in mods

        def f(w):
            l = wide64(lo(w))
            h = wide64(hi(w))
            k = wide64(s(w))
            limit = 63 if wide else 32
            k = k & np.uint64(63 if wide else 31) if wrap else np.minimum(k, np.uint64(limit))
            v = h << np.uint64(32) | l
            if left:
                r = v << k
                return ((r >> np.uint64(32)) if high else r).astype(np.uint32)
            if signed:
                r = (v.view(np.int64) >> k.astype(np.int64)).view(np.uint64)
            else:
                r = v >> k
            return ((r >> np.uint64(32)) if high else r).astype(np.uint32)

        return self.simple(a[0], f)

    def op_SGXT(self, n, a, i):
        x, y = self.vec(a[1]), self.vec(a[2])
        if "W" in n:
            raise NotImplementedError("SGXT.W")
        signed = "U32" not in n

        def f(w):
            k = np.minimum(wide(y(w)), 32).astype(np.int64)
            v = wide(x(w)).astype(np.int64) & ((np.int64(1) << k) - 1)
            negative = signed & (k > 0) & (v >> np.maximum(k - 1, 0) & 1 != 0)
            return np.where(negative, v - (np.int64(1) << k), v).astype(np.uint32)

        return self.simple(a[0], f)

    def op_BMSK(self, n, a, i):
        x, y = self.vec(a[1]), self.vec(a[2])

        def f(w):
            p = np.minimum(wide(x(w)), 32).astype(np.uint64)
            k = np.minimum(wide(y(w)), 32).astype(np.uint64)
            return (((np.uint64(1) << k) - np.uint64(1)) << p).astype(np.uint32)

        return self.simple(a[0], f)

    def op_BREV(self, n, a, i):
        x = self.vec(a[1])

        def f(w):
            v = x(w)
            for k, mk in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF)):
                v = (v >> U(k)) & U(mk) | (v & U(mk)) << U(k)
            return v >> U(16) | v << U(16)

        return self.simple(a[0], f)

    @staticmethod
    def top(v):
        r = np.full(32, -1, np.int64)
        v = wide(v)
        nz = v != 0
        r[nz] = np.floor(np.log2(v[nz].astype(np.float64))).astype(np.int64)
        return r

    def op_FLO(self, n, a, i):
        x = self.vec(a[1])
        sh = "SH" in n

        def f(w):
            t = self.top(x(w))
            return (np.where(t < 0, -1, 31 - t) if sh else t).astype(np.uint32)

        return self.simple(a[0], f)

    def op_POPC(self, n, a, i):
        x = self.vec(a[1])

        def f(w):
            v = wide(x(w))
            v = v - (v >> U(1) & U(0x55555555))
            v = (v & U(0x33333333)) + (v >> U(2) & U(0x33333333))
            v = v + (v >> U(4)) & U(0x0F0F0F0F)
            return (v * U(0x01010101)) >> U(24)

        return self.simple(a[0], f)

    def op_PRMT(self, n, a, i):
        x, s, y = self.vec(a[1]), self.vec(a[2]), self.vec(a[3])

        def f(w):
            v = wide64(x(w)) | wide64(y(w)) << np.uint64(32)
            k = wide(s(w)).astype(np.uint64)
            r = np.zeros(32, np.uint64)
            for b in range(4):
                sel = k >> np.uint64(4 * b) & np.uint64(15)
                byte = v >> (np.uint64(8) * (sel & np.uint64(7))) & np.uint64(255)
                byte = np.where(
                    sel & np.uint64(8) != 0, np.where(byte & np.uint64(128) != 0, np.uint64(255), np.uint64(0)), byte
                )
                r |= byte << np.uint64(8 * b)
            return r.astype(np.uint32)

        return self.simple(a[0], f)

    def op_R2P(self, n, a, i):
        x, mk = self.vec(a[1]), int(a[2], 16)

        def run(w, m, g):
            v = x(w)
            for k in range(7):
                if mk >> k & 1:
                    np.copyto(w.P[k], (v >> U(k) & U(1)) != 0, where=m)

        return run

    def op_P2R(self, n, a, i):
        assert a[1] == "PR" and "B1" not in a[0]
        x, mk = self.vec(a[2]), int(a[3], 16)

        def f(w):
            v = np.zeros(32, np.uint32)
            for k in range(7):
                v |= w.P[k].astype(np.uint32) << U(k)
            return v & U(mk) | x(w) & U(~mk & M32)

        return self.simple(a[0], f)

    def op_MUFU(self, n, a, i):
        assert n[1] == "RCP"
        x = self.vec(a[1])
        return self.simple(a[0], lambda w: (np.float32(1) / x(w).view(np.float32)).astype(np.float32).view(np.uint32))

    def op_I2F(self, n, a, i):
        x = self.vec(a[1])
        up = "RP" in n

        def f(w):
            v = wide(x(w)).astype(np.float64)
            r = v.astype(np.float32)
            if up:
                r = np.where(r.astype(np.float64) < v, np.nextafter(r, np.float32(np.inf)), r)
            return r.astype(np.float32).view(np.uint32)

        return self.simple(a[0], f)

    def op_F2I(self, n, a, i):
        x = self.vec(a[1])
        return self.simple(
            a[0],
            lambda w: np.clip(
                np.trunc(np.nan_to_num(x(w).view(np.float32).astype(np.float64), posinf=4294967295.0)), 0, 4294967295
            )
            .astype(np.uint64)
            .astype(np.uint32),
        )

    def special(self, s):
        table = {
            "SR_TID.X": lambda w: LANES + U(32 * w.index),
            "SR_TID.Y": lambda w: U(0),
            "SR_TID.Z": lambda w: U(0),
            "SR_LANEID": lambda w: LANES,
            "SR_CTAID.X": lambda w: U(w.block.ctaid),
            "SR_CTAID.Y": lambda w: U(0),
            "SR_CTAID.Z": lambda w: U(0),
            "SR_CgaCtaId": lambda w: U(0),
            "SRZ": lambda w: U(0),
            "SR_LTMASK": lambda w: BITS - U(1),
            "SR_LEMASK": lambda w: (BITS - U(1)) | BITS,
            "SR_GEMASK": lambda w: ~(BITS - U(1)),
            "SR_GTMASK": lambda w: ~((BITS - U(1)) | BITS),
            "SR_EQMASK": lambda w: BITS,
        }
        return table[s]

    def op_S2R(self, n, a, i):
        f = self.special(a[1])
        return self.simple(a[0], f)

    def op_CS2R(self, n, a, i):
        d, f = self.reg(a[0]), self.special(a[1])
        wide = "32" not in n

        def run(w, m, g):
            np.copyto(w.R[d], f(w), where=m)
            if wide:
                np.copyto(w.R[d + 1], U(0), where=m)

        return run

    def op_S2UR(self, n, a, i):
        d, f = self.ureg(a[0]), self.special(a[1])

        def run(w, m, g):
            w.UR[d] = int(wide(f(w))[0])

        return run

    def op_R2UR(self, n, a, i):
        pd = self.pdst(a[0]) if re.match(r"P[0-9T]$", a[0]) else None  # whether the lanes agree
        if re.match(r"P[0-9T]$", a[0]):
            a = a[1:]
        d, x = self.ureg(a[0]), self.vec(a[1])

        def run(w, m, g):
            v = wide(x(w))[m]
            w.UR[d] = int(v[0])
            if pd is not None:
                np.copyto(w.P[pd], (v == v[0]).all(), where=m)

        return run
