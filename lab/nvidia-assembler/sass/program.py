"""Reads machine code as cuobjdump prints it, and makes a function of each instruction."""

import re

import numpy as np

from .control import Control
from .integers import Integers
from .lanes import M32, U
from .memory import Memory
from .uniform import Uniform


def split(s):
    out, depth, cur = [], 0, ""
    for c in s:
        if c == "[":
            depth += 1
        if c == "]":
            depth -= 1
        if c == "," and depth == 0:
            out.append(cur.strip())
            cur = ""
        else:
            cur += c
    if cur.strip():
        out.append(cur.strip())
    return out


def load(path, kernel=None):
    """The instructions of the function whose name contains `kernel`: a list of (address, text)."""
    out, on = [], False
    with open(path) as f:
        lines = f.readlines()
    for line in lines:
        if m := re.search(r"Function : (\S+)", line):
            on = kernel is None or kernel in m[1]
        elif on and (m := re.match(r"\s+/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", line)):
            t = m[2].lstrip("{ ").rstrip("} ").replace(".reuse", "")
            out.append((int(m[1], 16), t))
    return out


class Program(Integers, Uniform, Memory, Control):
    """Machine code, of which each instruction has become a function of a warp."""

    def __init__(self, path, kernel, banks=None):
        """The function whose name contains `kernel`; `banks` are its constant banks but the first, as bytes."""
        self.code = code = load(path, kernel)
        if not code:
            raise RuntimeError(f"{path} has no function {kernel}")
        self.banks = {n: np.frombuffer(data + bytes(-len(data) % 4), np.uint32) for n, data in (banks or {}).items()}
        self.at = {a: i for i, (a, _) in enumerate(code)}
        self.ops = [self.compile(i, a, t) for i, (a, t) in enumerate(code)]

    def vec(self, s):
        """A getter of a 32-bit source: an array of 32, or a scalar."""
        neg = s.startswith("-") and not s.startswith("-0x")
        if neg:
            s = s[1:]
        inv = s.startswith("~")
        if inv:
            s = s[1:]
        if s.startswith("|"):
            raise NotImplementedError(s)
        if m := re.match(r"R(\d+)$", s):
            n = int(m[1])
            g = lambda w: w.R[n]
        elif m := re.match(r"R(\d+)\.B(\d)$", s):
            n, sh = int(m[1]), U(8 * int(m[2]))
            g = lambda w: w.R[n] >> sh
        elif s == "RZ":
            g = lambda w: w.R[255]
        elif m := re.match(r"UR(\d+)$", s):
            n = int(m[1])
            g = lambda w: U(w.UR[n])
        elif s == "URZ":
            g = lambda w: U(0)
        elif re.match(r"-?0x[0-9a-f]+$", s):
            v = U(int(s, 16) & M32)
            g = lambda w: v
        elif m := re.match(r"c\[0x0\]\[(0x[0-9a-f]+)\]$", s):
            o = int(m[1], 16) // 4
            g = lambda w: w.block.const[o]
        elif m := re.match(r"c\[0x([1-9])\]\[(0x[0-9a-f]+)\]$", s):
            b = int(m[1])
            o = int(m[2], 16) // 4
            g = lambda w: w.block.banks[b][o]
        else:
            raise NotImplementedError("operand " + s)
        if neg:
            return lambda w: (U(0) - g(w)).astype(np.uint32)
        if inv:
            return lambda w: ~g(w)
        return g

    def pair(self, s):
        """64 bits: registers n and n + 1."""
        if s == "RZ":
            return lambda w: np.uint64(0)
        if m := re.match(r"R(\d+)(\.64)?$", s):
            n = int(m[1])
            return lambda w: w.R[n].astype(np.uint64) | w.R[n + 1].astype(np.uint64) << np.uint64(32)
        if m := re.match(r"UR(\d+)$", s):
            n = int(m[1])
            return lambda w: np.uint64(w.UR[n] | w.UR[n + 1] << 32)
        if m := re.match(r"c\[0x0\]\[(0x[0-9a-f]+)\]$", s):
            o = int(m[1], 16) // 4
            return lambda w: np.uint64(int(w.block.const[o]) | int(w.block.const[o + 1]) << 32)
        if m := re.match(r"c\[0x([1-9])\]\[(0x[0-9a-f]+)\]$", s):
            b, o = int(m[1]), int(m[2], 16) // 4
            return lambda w: np.uint64(int(w.block.banks[b][o]) | int(w.block.banks[b][o + 1]) << 32)
        raise NotImplementedError("pair " + s)

    def pred(self, s):
        """A getter of a predicate: array of 32 or a scalar."""
        inv = s.startswith("!")
        if inv:
            s = s[1:]
        if s == "PT" or s == "UPT":
            return (lambda w: np.False_) if inv else (lambda w: np.True_)
        if s.startswith("UP"):
            n = int(s[2:])
            return (lambda w: np.bool_(not w.UP[n])) if inv else (lambda w: np.bool_(w.UP[n]))
        n = int(s[1:])
        return (lambda w: ~w.P[n]) if inv else (lambda w: w.P[n])

    def reg(self, s):
        return 256 if s == "RZ" else int(re.match(r"R(\d+)$", s)[1])

    def ureg(self, s):
        return 65 if s == "URZ" else int(re.match(r"UR(\d+)$", s)[1])

    def pdst(self, s):
        return None if s in ("PT", "UPT") else int(s.lstrip("UP"))

    def uni(self, s):
        neg = s.startswith("-") and not s.startswith("-0x")
        if neg:
            s = s[1:]
        inv = s.startswith("~")
        if inv:
            s = s[1:]
        if s == "URZ":
            g = lambda w: 0
        elif m := re.match(r"UR(\d+)$", s):
            n = int(m[1])
            g = lambda w: w.UR[n]
        elif re.match(r"-?0x[0-9a-f]+$", s):
            v = int(s, 16) & M32
            g = lambda w: v
        elif m := re.match(r"c\[0x0\]\[(0x[0-9a-f]+)\]$", s):
            o = int(m[1], 16) // 4
            g = lambda w: int(w.block.const[o])
        else:
            raise NotImplementedError("uniform operand " + s)
        if neg:
            return lambda w: -g(w) & M32
        if inv:
            return lambda w: ~g(w) & M32
        return g

    def upred(self, s):
        inv = s.startswith("!")
        s = s.lstrip("!")
        if s in ("UPT", "PT"):
            return lambda w: not inv
        n = int(s[2:])
        return lambda w: w.UP[n] != inv

    def sum_of(self, s, kind, register, dtype):
        """The sum of an address's terms, array of 32; `register` makes a function of a term that is no number, or None."""
        terms, offset = [], 0
        for term in s.strip("[]").replace("+-", "-").replace("-", "+-").split("+"):
            term = term.strip()
            if not term or term in ("RZ", "URZ"):
                continue
            if re.match(r"-?0x", term):
                offset += int(term, 16)
                continue
            terms.append(register(term))
            if terms[-1] is None:
                raise NotImplementedError(f"{kind} {s}")
        offset = dtype(offset & np.iinfo(dtype).max)

        def get(w):
            total = np.full(32, offset, dtype)
            for term in terms:
                total = total + term(w)
            return total

        return get

    def addr(self, s):
        """[R1+UR2+0x10] as shared address, array of 32."""

        def register(term):
            if m := re.match(r"R(\d+)\.X(\d+)$", term):
                return lambda w, n=int(m[1]), k=U(int(m[2])): w.R[n] * k
            if m := re.match(r"R(\d+)$", term):
                return lambda w, n=int(m[1]): w.R[n]
            if m := re.match(r"UR(\d+)$", term):
                return lambda w, n=int(m[1]): U(w.UR[n])
            return None

        return self.sum_of(s, "address", register, np.uint32)

    def gaddr(self, s):
        """desc[UR4][R2.64+0x10] or [R2.64+UR4+0x10] as global address, array of 32 in 64 bits."""

        def register(term):
            if m := re.match(r"R(\d+)\.U32$", term):
                return lambda w, n=int(m[1]): w.R[n].astype(np.uint64)
            if m := re.match(r"R(\d+)(\.64)?$", term):
                return lambda w, n=int(m[1]): w.R[n].astype(np.uint64) | w.R[n + 1].astype(np.uint64) << np.uint64(32)
            if m := re.match(r"UR(\d+)$", term):
                return lambda w, n=int(m[1]): np.uint64(w.UR[n] | w.UR[n + 1] << 32)
            return None

        return self.sum_of(re.sub(r"^desc\[UR\d+\]", "", s), "global address", register, np.uint64)

    def compile(self, index, address, text):
        t = text
        guard = None
        if m := re.match(r"@(!?)(U?P[0-9T]) ", t):
            guard = m[1] + m[2]
            t = t[m.end() :]
        name, _, rest = t.partition(" ")
        a = split(rest)
        parts = name.split(".")
        base = parts[0]
        try:
            f = getattr(self, "op_" + base)(parts, a, index)
        except (AttributeError, AssertionError, KeyError, NotImplementedError, ValueError, IndexError, TypeError) as e:

            def f(w, m, g, text=text, e=e):
                raise NotImplementedError(f"{address:#x} {text}: {e!r}")

        return (self.pred(guard) if guard else None, f, base, text)

    @staticmethod
    def put(w, d, v, m):
        np.copyto(w.R[d], v, where=m)

    def simple(self, d, f):
        d = self.reg(d)

        def run(w, m, g):
            np.copyto(w.R[d], f(w), where=m)

        return run

    def usimple(self, d, f):
        d = self.ureg(d)

        def run(w, m, g):
            w.UR[d] = f(w) & M32

        return run
