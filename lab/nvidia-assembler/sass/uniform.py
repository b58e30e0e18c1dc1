"""Instructions on uniform registers: one value for a warp."""

import re

from .lanes import BOOL, CMP, M32, U, lut


class Uniform:
    def op_UMOV(self, n, a, i):
        s = self.uni(a[1])
        return self.usimple(a[0], s)

    def op_UIADD3(self, n, a, i):
        k = 1
        cp = None
        while re.match(r"UP[0-9T]$", a[k]):
            cp = self.pdst(a[k])
            k += 1
        x, y, z = (self.uni(s) for s in a[k : k + 3])
        cin = [self.upred(s) for s in a[k + 3 :]] if "X" in n else []
        d = self.ureg(a[0])

        def run(w, m, g):
            v = x(w) + y(w) + z(w) + sum(int(c(w)) for c in cin)
            w.UR[d] = v & M32
            if cp is not None:
                w.UP[cp] = v >> 32 != 0

        return run

    def op_UIMAD(self, n, a, i):
        x, y, z = (self.uni(s) for s in a[1:4])
        if "WIDE" in n:
            d = self.ureg(a[0])
            c = self.ureg(a[3]) if a[3] != "URZ" else None
            signed = "U32" not in n
            sg = lambda v: v - (1 << 32) if signed and v >> 31 else v

            def run(w, m, g):
                v = sg(x(w)) * sg(y(w)) + ((w.UR[c] | w.UR[c + 1] << 32) if c is not None else 0)
                w.UR[d], w.UR[d + 1] = v & M32, v >> 32 & M32

            return run
        if "HI" in n:
            raise NotImplementedError("UIMAD.HI")
        if "MOV" in n:
            return self.usimple(a[0], z)
        return self.usimple(a[0], lambda w: x(w) * y(w) + z(w))

    def op_ULEA(self, n, a, i):
        to, *rest = a
        carry = self.pdst(rest.pop(0)) if re.match(r"UP[0-9T]$", rest[0]) else None
        x, y, d = self.uni(rest[0]), self.uni(rest[1]), self.ureg(to)
        if "HI" in n:
            assert carry is None and "SX32" not in n
            z, s = self.uni(rest[2]), int(rest[3], 16)
            more = self.upred(rest[4]) if "X" in n else lambda w: False
            return self.usimple(to, lambda w: (((z(w) << 32 | x(w)) << s) >> 32) + y(w) + int(more(w)))
        s = int(rest[2], 16)

        def run(w, m, g):
            v = ((x(w) << s) & M32) + y(w)
            w.UR[d] = v & M32
            if carry is not None:
                w.UP[carry] = v >> 32 != 0

        return run

    def op_ULOP3(self, n, a, i):
        k = 0
        pd = None
        if re.match(r"UP[0-9T]$", a[0]):
            pd = self.pdst(a[0])
            k = 1
        d = self.ureg(a[k])
        x, y, z = (self.uni(s) for s in a[k + 1 : k + 4])
        t = int(a[k + 4], 16)

        def run(w, m, g):
            v = int(lut(t, U(x(w)), U(y(w)), U(z(w))))
            w.UR[d] = v
            if pd is not None:
                w.UP[pd] = v != 0

        return run

    def op_UISETP(self, n, a, i):
        mods = n[1:]
        cmp, comb = CMP[mods[0]], BOOL[[s for s in mods if s in BOOL][0]]
        unsigned, ex = "U32" in mods, "EX" in mods
        d0, d1 = self.pdst(a[0]), self.pdst(a[1])
        x, y, p = self.uni(a[2]), self.uni(a[3]), self.upred(a[4])
        low = self.upred(a[5]) if ex else None
        name = mods[0]
        sg = lambda v: v if unsigned or not v >> 31 else v - (1 << 32)

        def run(w, m, g):
            u, v = sg(x(w)), sg(y(w))
            r = bool(cmp(u, v))
            if ex:
                l = low(w)
                r = (
                    (u != v or l)
                    if name == "NE"
                    else (
                        (u == v and l)
                        if name == "EQ"
                        else ((u < v if name in ("LT", "LE") else u > v) or (u == v and l))
                    )
                )
            c = p(w)
            if d1 is not None:
                w.UP[d1] = bool(comb(not r, c))
            if d0 is not None:
                w.UP[d0] = bool(comb(r, c))

        return run

    def op_UPLOP3(self, n, a, i):
        d0, d1 = self.pdst(a[0]), self.pdst(a[1])
        src = [self.upred(s) for s in a[2:5]]
        luts = [int(s, 16) for s in a[5:7]]

        def run(w, m, g):
            k = src[0](w) * 4 + src[1](w) * 2 + src[2](w)
            if d0 is not None:
                w.UP[d0] = bool(luts[0] >> k & 1)
            if d1 is not None:
                w.UP[d1] = bool(luts[1] >> k & 1)

        return run

    def op_UP2UR(self, n, a, i):
        x, mask = self.uni(a[2]), int(a[3], 16)

        def f(w):
            predicates = sum(int(w.UP[k]) << k for k in range(7))
            return predicates & mask | x(w) & ~mask

        return self.usimple(a[0], f)

    def op_R2UP(self, n, a, i):
        x, mask = self.uni(a[1]), int(a[2], 16)

        def run(w, m, g):
            for k in range(7):
                if mask >> k & 1:
                    w.UP[k] = bool(x(w) >> k & 1)

        return run

    def op_USEL(self, n, a, i):
        x, y, p = self.uni(a[1]), self.uni(a[2]), self.upred(a[3])
        return self.usimple(a[0], lambda w: x(w) if p(w) else y(w))

    def op_USHF(self, n, a, i):
        lo, s, hi = self.uni(a[1]), self.uni(a[2]), self.uni(a[3])
        left, high, signed = n[1] == "L", "HI" in n, "S32" in n or "S64" in n
        wide = "U64" in n or "S64" in n

        def f(w):
            v = hi(w) << 32 | lo(w)
            k = min(s(w), 63 if wide else 32)
            if signed and v >> 63:
                v -= 1 << 64
            r = v << k if left else v >> k
            return r >> 32 if high else r

        return self.usimple(a[0], f)

    def op_UFLO(self, n, a, i):
        x = self.uni(a[1])
        sh = "SH" in n
        return self.usimple(a[0], lambda w: (32 - x(w).bit_length() if sh else x(w).bit_length() - 1) if x(w) else M32)

    def op_UPRMT(self, n, a, i):
        x, selectors, y = self.uni(a[1]), self.uni(a[2]), self.uni(a[3])

        def f(w):
            both, chosen = y(w) << 32 | x(w), 0
            for at in range(4):
                selector = selectors(w) >> 4 * at & 15
                byte = both >> 8 * (selector & 7) & 255
                if selector & 8:
                    byte = 255 if byte & 128 else 0
                chosen |= byte << 8 * at
            return chosen

        return self.usimple(a[0], f)

    def op_UBMSK(self, n, a, i):
        first, bits = self.uni(a[1]), self.uni(a[2])
        return self.usimple(a[0], lambda w: ((1 << min(bits(w), 32)) - 1) << min(first(w), 32) & M32)

    def op_USGXT(self, n, a, i):
        x, bits = self.uni(a[1]), self.uni(a[2])
        signed = "U32" not in n

        def f(w):
            mask = (1 << min(bits(w), 32)) - 1
            value = x(w) & mask
            return (value | ~mask) & M32 if signed and value > mask >> 1 else value

        return self.usimple(a[0], f)

    def op_UPOPC(self, n, a, i):
        x = self.uni(a[1])
        return self.usimple(a[0], lambda w: bin(x(w)).count("1"))
