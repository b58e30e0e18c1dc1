"""numpy's part of the tests in numpy.rs: with_numpy.py COMMAND DIRECTORY

  keys     writes arrays of every dtype that sort knows as NAME.keys.npy
  orders   writes the stable order of every *.keys.npy, as NAME.up.npy and NAME.down.npy
  values   writes arrays of all kinds with as many rows as values.keys.npy, as NAME.values.npy
  compare  checks every NAME.sorted.npy against NAME.values.npy in the order of values.up.npy
  tables   writes structures as NAME.table.npy, and their stable order by the fields in NAME.by.txt as NAME.order.npy
  sorted   checks every NAME.sorted.npy against NAME.keys.npy from the greatest to the least
"""

import sys
import warnings
from pathlib import Path

import numpy as np

ROWS = 3000
command, directory = sys.argv[1], Path(sys.argv[2])
random = np.random.default_rng(7)
warnings.filterwarnings("ignore", message="Stored array in format")


def keys():
    for name in "u1 i1 u2 i2 u4 i4 u8 i8".split():
        bounds = np.iinfo(name)
        wide = random.integers(bounds.min, bounds.max, ROWS, dtype=name, endpoint=True)
        few = random.integers(0, 9, ROWS).astype(name)
        np.save(directory / f"{name}.keys.npy", np.where(random.random(ROWS) < 0.5, wide, few))
    # numpy takes -0 and 0 for equal, as well as all NaNs, which it puts last.
    for name in "f2 f4 f8".split():
        wide = random.standard_normal(ROWS) * 10.0 ** random.integers(-4, 4, ROWS)
        few = np.round(random.standard_normal(ROWS))
        floats = np.where(random.random(ROWS) < 0.5, wide, few).astype(name)
        floats[:4] = [np.inf, -np.inf, np.finfo(name).tiny, -np.finfo(name).tiny]
        floats[4:400:4] = np.nan
        floats[5:400:4] = -np.nan
        floats[6:400:4] = -0.0
        floats[7:400:4] = 0.0
        floats = random.permutation(floats)
        np.save(directory / f"{name}.keys.npy", floats)
    np.save(directory / "values.keys.npy", random.integers(0, 50, ROWS).astype("u2"))


def orders():
    for path in directory.glob("*.keys.npy"):
        array = np.load(path)
        name = path.name.removesuffix(".keys.npy")
        up = np.argsort(array, kind="stable")
        # Backwards and back again, equal keys keep their order while all others change places.
        down = len(array) - 1 - np.argsort(array[::-1], kind="stable")[::-1]
        for direction, order in (("up", up), ("down", down)):
            np.save(directory / f"{name}.{direction}.npy", order.astype("u4"))


def values():
    count = len(np.load(directory / "values.keys.npy"))

    def rows(dtype, *shape):
        dtype = np.dtype(dtype)
        size = count * int(np.prod(shape, dtype=int)) * dtype.itemsize
        return np.frombuffer(random.bytes(size), dtype).reshape((count, *shape))

    aligned = np.dtype([("a", "u1"), ("b", "<f8"), ("c", "<i2")], align=True)
    nested = [("at", ">u4", (2, 2)), ("in", [("x", "<f4"), ("name", "S3"), ("flag", "?")], (2,))]
    arrays = {
        "bool": random.random(count) < 0.5,
        "half": rows("f2"),
        "long": rows(np.longdouble),
        "complex": rows("c8", 3),
        "dates": np.arange(count).astype("datetime64[25us]"),
        "bytes": rows("S20"),
        "text": np.array([f"\u00e9{row}" for row in range(count)], "U5"),
        "void": rows("V12"),
        "record": rows([("delay", "<i2"), ("distance", "<i2"), ("time", "<f4")]),
        "nested": rows(nested),
        "aligned": rows(aligned),
        "latin": rows([("caf\u00e9", "<i4")]),
        "utf": rows([("\u65e5\u672c", "<i4")]),
        "quoted": rows([("it's \"it\"", "<i4"), ("b\\", "<i4")]),
        "swapped": rows(">f8", 2, 2),
    }
    for name, array in arrays.items():
        np.save(directory / f"{name}.values.npy", array)


def compare():
    order = np.load(directory / "values.up.npy")
    for path in directory.glob("*.values.npy"):
        given, sorted_ = np.load(path), np.load(str(path).replace(".values.", ".sorted."))
        assert sorted_.dtype == given.dtype, f"{path}: dtype {sorted_.dtype}, needed is {given.dtype}"
        assert sorted_.dtype.descr == given.dtype.descr, f"{path}: fields {sorted_.dtype.descr}"
        assert sorted_.shape == given.shape, f"{path}: shape {sorted_.shape}, needed is {given.shape}"
        # As bytes, for indexing leaves the gaps between fields behind.
        rows = np.frombuffer(given.tobytes(), "u1").reshape(len(given), -1)
        assert sorted_.tobytes() == rows[order].tobytes(), f"{path}: the rows differ from those in numpy's order"


def tables():
    def integers(name):
        bounds = np.iinfo(name)
        wide = random.integers(bounds.min, bounds.max, ROWS, dtype=name, endpoint=True)
        return np.where(random.random(ROWS) < 0.5, wide, random.integers(0, 4, ROWS).astype(name))

    def floats(name):
        few = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1.5, -2.0], name)
        return np.where(random.random(ROWS) < 0.5, random.standard_normal(ROWS).astype(name), random.choice(few, ROWS))

    def times(name):
        return random.choice(np.array(["NaT", "1969-01-01", "1970-01-01", "2026-11-26"], "M8[D]"), ROWS).astype(name)

    kinds = {"f": floats, "i": integers, "u": integers, "M": times}
    tables = {
        "draws": ([("depth", "<f4"), ("material", "<u2"), ("mesh", "<u2")], "material,-depth"),
        "aligned": (np.dtype([("a", "u1"), ("b", "<f8"), ("c", "<i2")], align=True), "a,-b,c"),
        "swapped": ([("a", ">f8"), ("b", ">i2"), ("c", ">M8[s]")], "-c,b"),
        "odd": ([("a", "i1"), ("b", "<f2"), ("c", "<i8"), ("d", "u1")], "a,b,-d,c"),
        "nested": ([("x", [("y", "<f4"), ("z", "<i4")]), ("k", "<u4"), ("s", "<f4", (2,))], "k"),
        "accents": ([("caf\u00e9", "<i4"), ("\u65e5 \u672c", "<i2")], "\u65e5 \u672c,-caf\u00e9"),
    }
    for name, (dtype, by) in tables.items():
        dtype = np.dtype(dtype)
        table = np.frombuffer(random.bytes(ROWS * dtype.itemsize), dtype).copy()
        for field in dtype.names:
            if dtype[field].kind in kinds:
                table[field] = kinds[dtype[field].kind](dtype[field].newbyteorder("="))
        order = np.arange(ROWS)
        for field in reversed(by.split(",")):
            column = table[field.lstrip("-")][order]
            if field.startswith("-"):
                order = order[ROWS - 1 - np.argsort(column[::-1], kind="stable")[::-1]]
            else:
                order = order[np.argsort(column, kind="stable")]
        np.save(directory / f"{name}.table.npy", table)
        np.save(directory / f"{name}.order.npy", order.astype("u4"))
        (directory / f"{name}.by.txt").write_text(by, "utf-8")


def sorted_():
    for path in directory.glob("*.keys.npy"):
        given, found = np.load(path), np.load(str(path).replace(".keys.", ".sorted."))
        down = len(given) - 1 - np.argsort(given[::-1], kind="stable")[::-1]
        assert found.dtype == given.dtype, f"{path}: dtype {found.dtype}, needed is {given.dtype}"
        assert found.tobytes() == given[down].tobytes(), f"{path}: the keys differ from those in numpy's order"


{"keys": keys, "orders": orders, "values": values, "compare": compare, "tables": tables, "sorted": sorted_}[command]()
