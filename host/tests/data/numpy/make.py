"""Writes answers.jsonl: arrays, and NumPy's answers for parts of them.

    python make.py          # with numpy; the file is the same every time

The first line has NumPy's version. Every other line is either an array, {"type", "set", "elements"}, or an
answer for the part start..start+n of the last array before it. Numbers are their bits in hexadecimal, or
"nan". A result that does not exist for an empty part is null.

Keys of an answer, all in the type of the elements unless stated otherwise:

    sum prod min max nan_min nan_max    integers wrap; nan_min by np.fmin
    and or xor                          integers only
    argmin argmax                       the first index; that of the first NaN if there is one
    nan_sum nan_argmin nan_argmax       floats only
    nan_mean nan_var                    floats only, f64; of the elements that are not NaN, or null
    weighted_mean                       f64, floats only: the weights are 0, 1, 2, 3, 4, 0, ...
    sum_wide                            i64, u64 or f64
    all any nonzero nan                 nonzero and nan are counts
    value equal less greater            counts of x == value, x < value, x > value
    least in_range                      the count of least <= x < value
    mean var0 var1 norm_1 norm_2 norm_inf    f64; var1 divides by n - 1
    dot                                 of the part and the reversed part; in the type of sum_wide
    cells_sum cells_min cells_max dropped    by the keys (i * i + 3 * i) % 7 - 1 into five cells;
                                        dropped is the number of keys that are -1 or 5

A key with the suffix "_exact" has the exact result, rounded once to f64: for floats, and for f64 results of
integers. It is null for a product that can overflow or underflow in some order of the factors, and if squares
overflow.

NumPy has no bf16. The arrays of bf16 are f32 whose lower half is zero; their answers are those of the f32,
rounded to bf16.
"""

import json
import math
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np

INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]
FLOATS = ["f16", "bf16", "f32", "f64"]
SIZES = [0, 1, 2, 31, 32, 33, 255, 256, 257, 1000]
CELLS = 5
RNG = np.random.default_rng(20240229)


def numpy_dtype(kind):
    if kind == "bf16":
        return np.dtype("<f4")
    return np.dtype(f"<{kind[0]}{int(kind[1:]) // 8}")


def to_bf16(values):
    """The nearest bf16 values, ties to even, as f32."""
    values = np.asarray(values, "<f4")
    bits = values.view("<u4").astype("<u8")
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16
    rounded = np.where(np.isnan(values), 0x7FC0_0000, rounded).astype("<u4")
    return rounded.view("<f4")


def bits(value, kind):
    if value is None:
        return None
    if kind[0] in "iu":
        size = int(kind[1:]) // 4
        return format(int(value) % (1 << (4 * size)), f"0{size}x")
    value = float(value)
    if math.isnan(value):
        return "nan"
    if kind == "bf16":
        return format(int(to_bf16(value).view("<u4")) >> 16, "04x")
    dtype = numpy_dtype(kind)
    with np.errstate(over="ignore"):
        raw = dtype.type(value).view(f"<u{dtype.itemsize}")
    return format(int(raw), f"0{2 * dtype.itemsize}x")


def sets(kind):
    """The names and elements of the arrays."""
    dtype = numpy_dtype(kind)
    if kind in INTEGERS:
        info = np.iinfo(dtype)
        extremes = {info.min, info.max, 0, 1, info.max // 2 + 1, info.min + info.max}
        extremes = np.array(sorted(extremes), dtype)
        yield "rough", RNG.integers(info.min, info.max, 1003, dtype, endpoint=True)
        yield "extremes", RNG.choice(extremes, 260)
        yield "ties", RNG.choice(np.array([0, 2, 3], dtype), 260)
        yield "zeros", np.zeros(33, dtype)
        return
    narrow = to_bf16 if kind == "bf16" else lambda values: np.asarray(values, dtype)

    def rough(n):
        return narrow(RNG.normal(size=n) * 2.0 ** RNG.integers(-4, 5, n))

    if kind == "bf16":
        largest, least, subnormal = 2.0**128 - 2.0**120, 2.0**-126, 2.0**-133
    else:
        info = np.finfo(dtype)
        largest, least, subnormal = info.max, info.tiny, info.smallest_subnormal
    yield "rough", rough(1003)
    yield "ties", narrow(RNG.choice([-1.5, 0.25, 2.0], 260))
    yield "near_one", narrow(1 + RNG.normal(size=260) / 64)
    yield "zeros", narrow(RNG.choice([0.0, -0.0], 33))
    nans = rough(66)
    nans[[5, 40]] = np.nan, -np.nan
    yield "nan", nans
    yield "all_nan", narrow(np.full(33, np.nan))
    infinities = rough(66)
    infinities[[7, 20, 45]] = np.inf, np.inf, -np.inf
    yield "infinite", infinities
    # One largest number of each sign, so that no order overflows.
    extremes = narrow(RNG.choice([1.0, -1.0, 0.0], 66))
    extremes[1:9] = least, -least, subnormal, -subnormal, largest, -0.0, -largest, subnormal
    yield "extremes", extremes


def parts(n):
    """The starts and sizes of the parts: many for a long array, few for the others."""
    if n > 1000:
        return [(0, size) for size in SIZES] + [(3, size) for size in [1, 31, 257, 1000]]
    return [(0, 2), (3, 30), (0, n)]


def rational(values):
    """The values as fractions; None if one is infinite or NaN."""
    if not all(math.isfinite(value) for value in values):
        return None
    return [Fraction(value) for value in values]


def rounded(fraction):
    """The nearest f64; None if it overflows."""
    try:
        return float(fraction)
    except OverflowError:
        return None


def root(fraction):
    """The square root, computed with 200 bits and rounded to f64."""
    if fraction == 0:
        return 0.0
    shift = max(0, 200 - fraction.numerator.bit_length() + fraction.denominator.bit_length()) // 2
    scaled = (fraction.numerator << (2 * shift)) // fraction.denominator
    return rounded(Fraction(math.isqrt(scaled), 1 << shift))


def product_is_safe(values, kind):
    """Whether all partial products, in any order, are normal numbers of the type they are computed in."""
    if any(value == 0 for value in values):
        return False
    logs = [math.log2(abs(value)) for value in values]
    high, low = sum(x for x in logs if x > 0), sum(x for x in logs if x < 0)
    limit = {"f16": 13, "bf16": 125, "f32": 125, "f64": 1021}
    accumulator = {"f16": 125, "bf16": 125, "f32": 125, "f64": 1021}[kind]
    return high < accumulator and low > -accumulator and abs(high + low) < limit[kind]


def cells(x, kind):
    keys = np.arange(len(x), dtype="<i8")
    keys = (keys * keys + 3 * keys) % 7 - 1
    inside = (keys >= 0) & (keys < CELLS)
    keys, values = keys[inside], x[inside]
    integer = kind in INTEGERS
    low, high = (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max) if integer else (-np.inf, np.inf)
    answer = {"dropped": int((~inside).sum())}
    for name, start, ufunc in [("sum", 0, np.add), ("min", high, np.minimum), ("max", low, np.maximum)]:
        cell = np.full(CELLS, start, x.dtype)
        ufunc.at(cell, keys, values)
        answer[f"cells_{name}"] = [bits(value, kind) for value in cell]
    if not integer:
        exact = [rational(values[keys == cell].tolist()) for cell in range(CELLS)]
        sums = np.zeros(CELLS)
        np.add.at(sums, keys, values.astype("<f8"))
        answer["cells_sum_exact"] = [
            bits(own if fractions is None else rounded(sum(fractions)), "f64")
            for own, fractions in zip(sums, exact)
        ]
    return answer


def without_nan(x, kind):
    """The results of NumPy's functions that ignore NaN, and the weighted mean."""
    f64 = x.astype("<f8")
    numbers = f64[~np.isnan(f64)]
    some = len(numbers) > 0
    exact = rational(numbers.tolist())
    finite = exact is not None and some
    mean = sum(exact) / len(exact) if finite else None
    var = sum((value - mean) ** 2 for value in exact) / len(exact) if finite else None
    weights = np.arange(len(x)) % 5
    weighted = None
    if weights.sum() > 0:
        weighted = np.average(f64, weights=weights)
        if (values := rational(x.tolist())) is not None:
            products = [int(weight) * value for weight, value in zip(weights, values)]
            weighted = rounded(sum(products) / int(weights.sum()))
    return {
        "nan_sum": bits(np.nansum(x, dtype=x.dtype), kind),
        "nan_sum_exact": bits(np.nansum(f64) if exact is None else rounded(sum(exact)), "f64"),
        "nan_argmin": int(np.nanargmin(x)) if some else None,
        "nan_argmax": int(np.nanargmax(x)) if some else None,
        "nan_mean_exact": bits(rounded(mean) if finite else np.nanmean(f64) if some else None, "f64"),
        "nan_var_exact": bits(rounded(var) if finite else np.nanvar(f64) if some else None, "f64"),
        "weighted_mean_exact": bits(weighted, "f64"),
    }


def answers(x, kind):
    """NumPy's answers for one part."""
    n, integer = len(x), kind in INTEGERS
    some = n > 0
    wide_kind = {"i": "i64", "u": "u64"}.get(kind[0], "f64")
    wide = x.astype(numpy_dtype(wide_kind))
    f64 = x.astype("<f8")
    answer = {
        "sum": bits(x.sum(dtype=x.dtype), kind),
        "prod": bits(x.prod(dtype=x.dtype), kind),
        "sum_wide": bits(wide.sum(), wide_kind),
        "min": bits(x.min() if some else None, kind),
        "max": bits(x.max() if some else None, kind),
        "argmin": int(x.argmin()) if some else None,
        "argmax": int(x.argmax()) if some else None,
        "all": bool(x.all()),
        "any": bool(x.any()),
        "nonzero": int(np.count_nonzero(x)),
        "dot": bits(wide @ wide[::-1], wide_kind),
        "mean": bits(f64.mean() if some else None, "f64"),
        "var0": bits(f64.var() if some else None, "f64"),
        "var1": bits(f64.var(ddof=1) if n > 1 else None, "f64"),
        "norm_1": bits(np.linalg.norm(f64, 1), "f64"),
        "norm_2": bits(np.linalg.norm(f64, 2), "f64"),
        "norm_inf": bits(np.linalg.norm(f64, np.inf) if some else 0.0, "f64"),
    }
    value = x[n // 2] if some else x.dtype.type(0)
    answer["value"] = bits(value, kind)
    for name, ufunc in [("equal", np.equal), ("less", np.less), ("greater", np.greater)]:
        answer[name] = int(np.count_nonzero(ufunc(x, value)))
    least = x[n // 3] if some else x.dtype.type(0)
    answer["least"] = bits(least, kind)
    answer["in_range"] = int(np.count_nonzero((least <= x) & (x < value)))
    if integer:
        answer["and"] = bits(np.bitwise_and.reduce(x), kind)
        answer["or"] = bits(np.bitwise_or.reduce(x), kind)
        answer["xor"] = bits(np.bitwise_xor.reduce(x), kind)
    else:
        answer["nan"] = int(np.count_nonzero(np.isnan(x)))
        answer["nan_min"] = bits(np.fmin.reduce(x) if some else None, kind)
        answer["nan_max"] = bits(np.fmax.reduce(x) if some else None, kind)
        answer |= without_nan(x, kind)
    exact = rational(x.tolist())
    results = exact_results(exact, kind)
    for name in ["sum", "prod", "dot", "mean", "var0", "var1", "norm_1", "norm_2"]:
        if integer and name in ["sum", "prod", "dot"]:
            continue
        if results is None:
            # An element is infinite or NaN: NumPy's result in f64.
            own = {"sum": f64.sum(), "prod": f64.prod()}
            exact_bits = bits(own[name], "f64") if name in own else answer[name]
        else:
            exact_bits = bits(results[name], "f64")
        answer[f"{name}_exact"] = exact_bits
    answer.update(cells(x, kind))
    return answer


def exact_results(exact, kind):
    if exact is None:
        return None
    n = len(exact)
    total = sum(exact)
    mean = total / n if n else None
    spread = sum((x - mean) ** 2 for x in exact) if n else None
    squares = sum(x * x for x in exact)
    squarable = rounded(squares) is not None
    safe = kind in FLOATS and product_is_safe(exact, kind)
    return {
        "sum": rounded(total),
        "prod": rounded(math.prod(exact)) if safe else None,
        "dot": rounded(sum(x * y for x, y in zip(exact, reversed(exact)))) if squarable else None,
        "mean": rounded(mean) if n else None,
        "var0": rounded(spread / n) if n else None,
        "var1": rounded(spread / (n - 1)) if n > 1 else None,
        "norm_1": rounded(sum(map(abs, exact))),
        "norm_2": root(squares) if squarable else None,
    }


def main():
    lines = [{"numpy": np.__version__}]
    for kind in INTEGERS + FLOATS:
        for name, x in sets(kind):
            elements = " ".join(bits(value, kind) for value in x)
            lines.append({"type": kind, "set": name, "elements": elements})
            for start, n in parts(len(x)):
                lines.append({"start": start, "n": n} | answers(x[start : start + n], kind))
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    Path(__file__).with_name("answers.jsonl").write_text(text)
    print(f"NumPy {np.__version__}: {len(lines)} lines")


with np.errstate(all="ignore"), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    main()
