"""What all parts of the emulator share: 32 lanes as numpy arrays, and masks of them as integers."""

import numpy as np

# Wrapping around is what registers do.
np.seterr(all="ignore")
U = np.uint32
M32 = 0xFFFFFFFF
FULL = M32
LANES = np.arange(32, dtype=np.uint32)
BITS = (U(1) << LANES).astype(np.uint32)

CMP = {
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
}
BOOL = {"AND": lambda a, b: a & b, "OR": lambda a, b: a | b, "XOR": lambda a, b: a ^ b}


def to_mask(b):
    return int(np.dot(b.astype(np.uint64), BITS.astype(np.uint64)))


def to_bool(m):
    return (U(m) & BITS) != 0


def wide(v):
    """A value of each lane, of one that all lanes may share."""
    return v if getattr(v, "ndim", 0) else np.full(32, v)


def wide64(v):
    """The same in 64 bits."""
    return wide(v).astype(np.uint64)


def lut(t, a, b, c):
    """Three inputs by a truth table, bit by bit."""
    r = U(0)
    for k in range(8):
        if t >> k & 1:
            r = r | ((a if k & 4 else ~a) & (b if k & 2 else ~b) & (c if k & 1 else ~c))
    return r
