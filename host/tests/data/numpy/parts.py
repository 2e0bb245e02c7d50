"""Prints random arrays and the answers of NumPy for their parts, for `tests/api/suite/parts_by_numpy.rs`.

Run it with `python3 parts.py SEED CASES`. A line is an object:

    call      segments, axes, groups or runs
    dtype x   the items of the memory
    offsets                      of segments
    start shape strides axes     of axes: the index of the item at (0, 0, ..), and strides in items
    key keys                     of groups and runs, one for each item
    unique counts inverse        of groups, by numpy.unique; of runs, unique and counts
    sum min max                  of each part: numpy.add.reduceat, x.sum(axis), and so on; "-" for an empty part
    wide      sums of integers in 64 bits
    exact magnitude              of floats, instead of sums: math.fsum of the items, and of their absolute values
    argmin argmax                of each part, for some types

All numbers are strings.
"""

import json
import math
import sys

import numpy as np

DTYPES = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
}
KEYS = ["u32", "i64"]
# Those that argmin and argmax have kernels for.
INDEXED = ["i32", "i64", "u32", "u64", "f16", "f32", "f64"]


def text(values):
    """Numbers that Rust reads without an error."""
    return [repr(value.item() if hasattr(value, "item") else value) for value in values]


def items(rng, dtype, n):
    dtype = DTYPES[dtype]
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, n, dtype, endpoint=True)
        special = [info.min, info.max, 0, 1]
    else:
        most = 3 if dtype is np.float16 else 20
        x = (rng.uniform(-1, 1, n) * 2.0 ** rng.integers(-most, most, n)).astype(dtype)
        smallest = np.finfo(dtype).smallest_subnormal
        special = [0.0, -0.0, smallest, -smallest]
        if rng.random() < 0.5:
            special += [np.inf, -np.inf, np.nan, -np.nan]
    kind = rng.integers(4)
    if kind == 0 and n > 0:
        # Few different items, so that the first of several extrema matters.
        x = rng.choice(x[: rng.integers(1, 9)], n)
    elif kind == 1:
        at = rng.random(n) < rng.choice([0.001, 0.05, 0.5])
        x[at] = rng.choice(np.array(special, dtype), np.count_nonzero(at))
    return x


def exact(values):
    """The sum of floats, rounded once."""
    values = [float(value) for value in values]
    infinities = {value for value in values if math.isinf(value)}
    if len(infinities) > 1 or any(math.isnan(value) for value in values):
        return math.nan
    return math.fsum(values)


def answers(dtype, parts):
    """The answers that need no call of their own."""
    line = {}
    if dtype[0] == "f":
        line["exact"] = text(exact(part) for part in parts)
        line["magnitude"] = text(exact(np.abs(part)) for part in parts)
    if dtype in INDEXED:
        for name, arg in ("argmin", np.argmin), ("argmax", np.argmax):
            line[name] = [str(arg(part)) if len(part) else "-" for part in parts]
    return line


def segments(rng, dtype):
    n = int(rng.integers(0, rng.choice([5, 200, 5000])))
    x = items(rng, dtype, n)
    ends = np.sort(rng.integers(0, n, rng.integers(1, rng.choice([3, 60])), endpoint=True))
    if rng.random() < 0.5:
        ends[0], ends[-1] = 0, n
    parts = [x[a:b] for a, b in zip(ends, ends[1:])]
    line = {"call": "segments", "x": text(x), "offsets": text(ends)} | answers(dtype, parts)
    # `reduceat` takes an empty part as its first item, and needs one.
    some = [bool(len(part)) for part in parts]
    starts = ends[:-1][some]

    def at(function, **dtype):
        if not any(some):
            return ["-"] * len(parts)
        with np.errstate(invalid="ignore", over="ignore"):
            found = iter(text(function.reduceat(x[: ends[-1]], starts, **dtype)))
        return [next(found) if is_some else "-" for is_some in some]

    line |= {"min": at(np.minimum), "max": at(np.maximum)}
    if dtype[0] != "f":
        line |= {"sum": at(np.add, dtype=x.dtype), "wide": at(np.add)}
    return line


def view(rng, x, shape):
    """An array of this shape, whose memory is `x`, and a view of it."""
    array = x.reshape(shape).transpose(rng.permutation(len(shape)))
    for axis in range(array.ndim):
        step = int(rng.choice(STEPS))
        cut = [slice(None)] * array.ndim
        first, end = sorted(rng.integers(0, array.shape[axis], 2, endpoint=True))
        if rng.random() < 0.7:
            first, end = 0, array.shape[axis]
        cut[axis] = slice(first, end)
        array = array[tuple(cut)]
        cut[axis] = slice(None, None, step)
        array = array[tuple(cut)]
    if rng.random() < 0.1 and array.ndim < 5:
        array = np.broadcast_to(array, (int(rng.integers(1, 4)), *array.shape))
    return array


STEPS = [1, 1, 1, 2, 3, -1, -1, -2]


def axes(rng, dtype):
    while True:
        dims = int(rng.integers(0, 5))
        shape = [int(2 ** rng.uniform(0, 9 / max(dims, 1)) * 1.5) for _ in range(dims)]
        x = items(rng, dtype, math.prod(shape))
        array = view(rng, x, shape) if rng.random() < 0.7 else x.reshape(shape)
        if array.size > 0:
            break
    start = (array.__array_interface__["data"][0] - x.ctypes.data) // x.itemsize
    along = rng.permutation(array.ndim)[: rng.integers(0, array.ndim, endpoint=True)]
    along = tuple(int(axis) for axis in along)
    kept = [axis for axis in range(array.ndim) if axis not in along]
    columns = math.prod(array.shape[axis] for axis in kept)
    parts = list(array.transpose(kept + sorted(along)).reshape(columns, -1))
    line = {
        "call": "axes",
        "x": text(x),
        "start": str(start),
        "shape": text(array.shape),
        "strides": [str(stride // x.itemsize) for stride in array.strides],
        "axes": text(along),
        "min": text(np.min(array, axis=along).ravel()),
        "max": text(np.max(array, axis=along).ravel()),
    } | answers(dtype, parts)
    if dtype[0] != "f":
        line["sum"] = text(np.sum(array, axis=along, dtype=x.dtype).ravel())
        line["wide"] = text(np.sum(array, axis=along).ravel())
    if dtype in INDEXED and len(along) == 1:
        line["argmin"] = text(array.argmin(axis=along[0]).ravel())
        line["argmax"] = text(array.argmax(axis=along[0]).ravel())
    return line


def by_key(dtype, x, parts):
    """What groups and runs have in common; no part is empty."""
    with np.errstate(invalid="ignore"):
        line = {
            "x": text(x),
            "min": text(np.min(part) for part in parts),
            "max": text(np.max(part) for part in parts),
        } | answers(dtype, parts)
    if dtype[0] != "f":
        line["sum"] = text(np.sum(part, dtype=x.dtype) for part in parts)
        line["wide"] = text(np.sum(part) for part in parts)
    return line


def some_keys(rng, n):
    kind = str(rng.choice(KEYS))
    keys = items(rng, kind, n)
    if rng.random() < 0.7 and n > 0:
        keys = rng.choice(keys[: rng.integers(1, 300)], n)
    return kind, keys


def groups(rng, dtype):
    n = int(rng.integers(0, rng.choice([5, 200, 3000])))
    kind, keys = some_keys(rng, n)
    x = items(rng, dtype, n)
    unique, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    parts = [x[inverse == group] for group in range(len(unique))]
    return {
        "call": "groups",
        "key": kind,
        "keys": text(keys),
        "unique": text(unique),
        "inverse": text(inverse),
        "counts": text(counts),
    } | by_key(dtype, x, parts)


def runs(rng, dtype):
    n = int(rng.integers(0, rng.choice([5, 200, 3000])))
    kind, keys = some_keys(rng, n)
    if rng.random() < 0.7:
        keys = np.sort(keys)
    x = items(rng, dtype, n)
    starts = np.flatnonzero(keys[1:] != keys[:-1]) + 1
    starts = np.concatenate([[0], starts]) if n > 0 else np.array([], int)
    ends = np.append(starts, n)
    return {
        "call": "runs",
        "key": kind,
        "keys": text(keys),
        "unique": text(keys[starts]),
        "counts": text(np.diff(ends)),
    } | by_key(dtype, x, [x[a:b] for a, b in zip(ends, ends[1:])])


def main(seed, cases):
    rng = np.random.default_rng(seed)
    for case in range(cases):
        call = [segments, axes, groups, runs][case % 4]
        dtype = str(rng.choice(list(DTYPES)))
        print(json.dumps({"dtype": dtype} | call(rng, dtype)))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
