"""Sums by math.fsum, NumPy and PyTorch for `warpfold-bench accuracy`.

    python3 accuracy.py DEVICE|none

DEVICE is the index of PyTorch's CUDA device. Requests and responses are JSON, one per line. The first line of the
output says which libraries there are, {"fsum": {"version": ...}, "torch": {"absent": reason}, ...}. Then come
requests:

    {"file": path, "element": "f32", "authors": ["numpy", ...]}

The response has for each author {"bits": hexadecimal digits of the sum} or {"error": reason}.
"""

import array
import json
import math
import os
import struct
import sys

CODES = {"f32": ("f", "<I"), "f64": ("d", "<Q")}


class Absent(Exception):
    """A reason in words."""


def described(error):
    return str(error) if isinstance(error, Absent) else f"{type(error).__name__}: {error}"


class Fsum:
    def __init__(self):
        self.version = "Python " + sys.version.split()[0]

    def sum(self, file, element):
        elements = array.array(CODES[element][0])
        with open(file, "rb") as source:
            elements.frombytes(source.read())
        return math.fsum(elements)


class Numpy:
    def __init__(self):
        import numpy

        self.numpy = numpy
        self.version = f"NumPy {numpy.__version__}"

    def sum(self, file, element):
        elements = self.numpy.fromfile(file, dtype={"f32": "<f4", "f64": "<f8"}[element])
        return float(self.numpy.sum(elements))


class Torch:
    def __init__(self):
        if sys.argv[1] == "none":
            raise Absent("no CUDA device is used")
        import torch

        self.torch = torch
        torch.cuda.set_device(int(sys.argv[1]))
        self.elements = {"f32": torch.float32, "f64": torch.float64}
        self.version = f"PyTorch {torch.__version__}"

    def sum(self, file, element):
        size = os.path.getsize(file)
        array = self.torch.from_file(file, dtype=self.torch.uint8, size=size).cuda()
        return self.torch.sum(array.view(self.elements[element])).item()


def started(library):
    try:
        return library(), None
    except Exception as error:
        return None, described(error)


def summed(library, file, element):
    try:
        kind, bits = CODES[element]
        total = struct.pack("<" + kind, library.sum(file, element))
        return {"bits": f"0x{struct.unpack(bits, total)[0]:0{2 * len(total)}x}"}
    except Exception as error:
        return {"error": described(error)}


def main():
    libraries, hello = {}, {}
    for name, library in {"fsum": Fsum, "numpy": Numpy, "torch": Torch}.items():
        libraries[name], absent = started(library)
        hello[name] = {"absent": absent} if absent else {"version": libraries[name].version}
    print(json.dumps(hello), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        file, element = request["file"], request["element"]
        sums = {name: summed(libraries[name], file, element) for name in request["authors"]}
        print(json.dumps(sums), flush=True)


if __name__ == "__main__":
    main()
