"""NumPy's answers to what the operators promise alike: numpy_answers.txt.

    python3 numpy_answers.py > numpy_answers.txt
"""

import warnings

import numpy as np

NAN, INF = float("nan"), float("inf")

FLOATS = [
    [1, 2, 3],
    [NAN],
    [NAN, 1],
    [1, NAN],
    [3, NAN, 2, NAN, 1],
    [NAN, NAN],
    [INF, -INF],
    [INF, NAN, -INF],
    [INF, INF],
    [-INF, -INF, NAN],
    [-0.0, 0.0],
    [0.0, -0.0],
    [1, -0.0, 0.0, 1],
    [2, 1, 1, 2],
    [-1, -2, -2, -1, NAN],
]
FLOAT_OPS = {
    "min": np.min,
    "max": np.max,
    "nan_min": np.nanmin,
    "nan_max": np.nanmax,
    "arg_min": np.argmin,
    "arg_max": np.argmax,
}
INTEGER_OPS = {
    "sum": lambda x: np.add.reduce(x, dtype=x.dtype),
    "product": lambda x: np.multiply.reduce(x, dtype=x.dtype),
    "min": np.min,
    "max": np.max,
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
    "arg_min": np.argmin,
    "arg_max": np.argmax,
}


def integers(dtype):
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return [[1, 2, 3], [high, 1], [low, high, 2], [high, high, high], [3, low, low, 3], [7, 5, 5, 7]]


def write(ops, element, dtype, arrays):
    for name, op in ops.items():
        for values in arrays:
            x = np.array(values, dtype=dtype)
            print(name, element, *x.tolist(), "=", op(x).item())


print(f"# NumPy {np.__version__}, by numpy_answers.py: operator, element type, elements = answer")
warnings.simplefilter("ignore")
for bits in [16, 32, 64]:
    write(FLOAT_OPS, f"f{bits}", f"float{bits}", FLOATS)
for bits in [8, 16, 32, 64]:
    for kind, letter in [("int", "i"), ("uint", "u")]:
        write(INTEGER_OPS, f"{letter}{bits}", f"{kind}{bits}", integers(f"{kind}{bits}"))
