"""The canonical order of docs/order.md, version 1, in NumPy, and the bits of its results.

    echo "sum f32 1000 7" | python3 order.py

Each line is an operator, an element type, a number of elements and a seed. For each, it prints the line and the bits of
the result in hexadecimal.
"""

import sys

import numpy as np

ROWS, LANES = 8, 32


def reduce(lifted, combine, identity, vector):
    """Combines the accumulators of all items; those of item `i` are `lifted[i]`. A vector has `vector` items."""
    tile = ROWS * LANES * vector
    tiles = max(-(-len(lifted) // tile), 1)
    rows = np.full((tiles * tile, *lifted.shape[1:]), identity, lifted.dtype)
    rows[: len(lifted)] = lifted
    rows = rows.reshape(tiles, ROWS, LANES, vector, *lifted.shape[1:])
    if vector * lifted[:1].nbytes <= 64:
        slots = rows[:, 0]
        for row in range(1, ROWS):
            slots = combine(slots, rows[:, row])
        lanes = halve(slots, combine, axis=2)
    else:
        lanes = rows[:, 0, :, 0]
        for row, slot in np.ndindex(ROWS, vector):
            if (row, slot) != (0, 0):
                lanes = combine(lanes, rows[:, row, :, slot])
    return pair(halve(lanes, combine, axis=1), combine)


def halve(values, combine, axis):
    """Combines the first and the second half of an axis until one value is left, and removes the axis."""
    while values.shape[axis] > 1:
        values = combine(*np.split(values, 2, axis))
    return values.squeeze(axis)


def pair(values, combine):
    """Combines adjacent values until one is left. The last value without a neighbour is passed on unchanged."""
    while len(values) > 1:
        even = len(values) // 2 * 2
        values = np.concatenate([combine(values[0:even:2], values[1:even:2]), values[even:]])
    return values[0]


def moments(x, vector):
    """Count, mean and squared distances of `f64`, absorbed in groups of four rows."""
    group = 4
    tile = ROWS * LANES * vector
    tiles = -(-len(x) // tile)
    shape = (tiles, ROWS // group, group, LANES, vector)
    items, exist = np.zeros(tiles * tile), np.zeros(tiles * tile, bool)
    items[: len(x)], exist[: len(x)] = x, True
    items, exist = (a.reshape(shape).transpose(1, 2, 4, 0, 3) for a in (items, exist))
    lanes = np.zeros((tiles, LANES, 3))
    for rows, there in zip(items, exist):
        whole = there.all(axis=(0, 1))
        together = absorb(lanes, rows.reshape(-1, *whole.shape))
        singly = lanes
        for item, is_there in zip(rows.reshape(-1, *whole.shape), there.reshape(-1, *whole.shape)):
            singly = np.where(is_there[..., None], absorb(singly, item[None]), singly)
        lanes = np.where(whole[..., None], together, singly)
    return pair(halve(lanes, chan, axis=1), chan)


def absorb(acc, items):
    """Welford's update for several items, one after another."""
    count, mean, squares = np.moveaxis(acc, -1, 0)
    near = np.where(count == 0, items[0], mean)
    distances, of_squares = np.zeros_like(mean), np.zeros_like(mean)
    for item in items:
        distance = item - near
        distances = distances + distance
        of_squares = of_squares + distance * distance
    total = count + len(items)
    shift = distances / total
    return np.stack([total, near + shift, squares + (of_squares - distances * shift)], -1)


def chan(a, b):
    """The update of Chan, Golub and LeVeque, from the lower mean towards the higher one."""
    count = a[..., 0] + b[..., 0]
    of_a, of_b = (np.divide(x[..., 0], count, where=count > 0, out=np.zeros_like(count)) for x in (a, b))
    a_is_low = a[..., 1] <= b[..., 1]
    low, high = np.where(a_is_low, a[..., 1], b[..., 1]), np.where(a_is_low, b[..., 1], a[..., 1])
    apart = high - low
    mean = low + apart * np.where(a_is_low, of_b, of_a)
    between = apart * apart * (of_a * of_b * count)
    both = np.stack([count, mean, a[..., 2] + b[..., 2] + between], -1)
    return np.where(a[..., :1] == 0, b, np.where(b[..., :1] == 0, a, both))


def draw(n, seed):
    """`n` random words of 64 bits: SplitMix64."""
    z = np.uint64(seed) + np.arange(1, n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


BITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
SPREAD = {"f16": 8, "bf16": 16, "f32": 32, "f64": 64}


def floats(element, words):
    """A float from each word: an integer of the significand's bits, divided by a power of two. Exact in `f64`."""
    bits = BITS[element]
    integers = (words >> np.uint64(64 - bits)).astype(np.int64) - (1 << bits - 1)
    return np.ldexp(integers.astype(np.float64), -(words % np.uint64(SPREAD[element])).astype(np.int64))


def near_one(element, words):
    """A float between 0.5 and 1.5 from each word, so that products stay finite. Exact in `f64`."""
    bits = BITS[element] - 1
    return 0.5 + np.ldexp((words >> np.uint64(64 - bits)).astype(np.float64), -bits)


def result(op, element, n, seed):
    """The result, as a NumPy scalar or array whose bits are the library's."""
    words, vector = draw(n, seed), 16 // BYTES[element]
    wide = (near_one if op == "product" else floats)(element, words)
    own = wide.astype(np.float64 if element == "f64" else np.float32)
    match op:
        case "sum":
            return reduce(own, np.add, -0.0, vector)
        case "product":
            return reduce(own, np.multiply, 1.0, vector)
        case "sum_wide":
            return reduce(wide, np.add, -0.0, vector)
        case "sum_abs":
            return reduce(np.abs(wide), np.add, -0.0, vector)
        case "sum_squares":
            return reduce(wide * wide, np.add, -0.0, vector)
        case "dot":
            return reduce(wide * floats(element, draw(n, seed + 1)), np.add, -0.0, vector)
        case "weighted_mean":
            weights = floats(element, draw(n, seed + 1))
            return reduce(np.stack([wide * weights, weights], -1), np.add, -0.0, vector)
        case "mean_variance":
            return moments(wide, vector)


def main():
    for line in sys.stdin:
        op, element, n, seed = line.split()
        with np.errstate(all="ignore"):
            bits = np.atleast_1d(result(op, element, int(n), int(seed)))
        print(line.strip(), *(value.tobytes()[::-1].hex() for value in bits))


main()
