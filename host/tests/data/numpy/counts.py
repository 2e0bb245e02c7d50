"""Writes counts.jsonl: histograms by NumPy, the answers for `count_by_key`.

Run it with `python3 counts.py`. A line is an object:

    type n cells multiplier modulus     key i is (i * i * multiplier + i) % modulus - 3, wrapped to the type
    rejected first                      the number of keys that have no cell, and the index of the first, or null
    counts                              numpy.bincount of the others: the counts that are not 0, as {cell: count}
"""

import json
from pathlib import Path

import numpy as np

TYPES = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"]
CASES = [
    (0, 4, 1, 5),
    (1, 4, 1, 5),
    (33, 0, 3, 9),
    (500, 1, 1, 4),
    (1000, 7, 5, 9),
    (4099, 256, 7, 250),
    (4099, 300, 7, 303),
    (5000, 100, 11, 1),
    (503, 9000, 13, 9001),
    (503, 70_000, 17, 70_001),
]


def line(kind, n, cells, multiplier, modulus):
    i = np.arange(n, dtype=np.int64)
    keys = ((i * i * multiplier + i) % modulus - 3).astype(f"<{kind[0]}{int(kind[1:]) // 8}")
    inside = np.array([0 <= int(key) < cells for key in keys], bool)
    # `bincount` accepts no u64.
    counts = np.bincount(keys[inside].astype(np.int64), minlength=cells)
    return {
        "type": kind,
        "n": n,
        "cells": cells,
        "multiplier": multiplier,
        "modulus": modulus,
        "rejected": int((~inside).sum()),
        "first": None if inside.all() else int(np.argmin(inside)),
        "counts": {int(cell): int(counts[cell]) for cell in np.flatnonzero(counts)},
    }


lines = [line(kind, *case) for kind in TYPES for case in CASES]
text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
Path(__file__).with_name("counts.jsonl").write_text(text)
print(f"NumPy {np.__version__}: {len(lines)} lines")
