"""Times the reductions of PyTorch or CuPy for `warpfold-bench bench --peers torch,cupy`.

    python3 reductions.py torch|cupy DEVICE FLUSH_BYTES

Speaks JSON, a line each way. It begins with {"version": ...} or {"absent": reason}. Then it answers

    {"load": file, "element": "f32"}           with {}: the file's elements are the array from now on
    {"set": index, "bytes": hex}               with {}: so is this element
    {"op": "sum", "n": n, "cache": "cold", "timing": "device", "calls": 1}
                                               with {"us": time, "answer": text}

or with {"error": reason}, and goes on. A time is between two events around a call, in the median of all calls:

    "device"    behind a flush of the caches, which keeps the device busy while the host enqueues; and behind
                a call that is not timed, if the cache is "warm"
    "launch"    each on an idle stream
    "stream"    one after another on the stream, without a wait
"""

import json
import statistics
import sys

import_name, device, flush_bytes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def say(**line):
    print(json.dumps(line), flush=True)


class Torch:
    def __init__(self):
        import torch

        self.torch = torch
        torch.cuda.set_device(device)
        self.version = f"PyTorch {torch.__version__}"
        self.elements = {
            "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8,
            "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
        }
        self.ops = {"sum": torch.sum, "min": torch.amin, "max": torch.amax}
        self.elsewhere = torch.ones(flush_bytes // 4, dtype=torch.int32, device="cuda")
        self.event = lambda: torch.cuda.Event(enable_timing=True)

    def load(self, file, element):
        self.array = self.torch.from_file(file, dtype=self.torch.uint8, size=self.size(file)).cuda()
        self.array = self.array.view(self.elements[element])

    @staticmethod
    def size(file):
        import os

        return os.path.getsize(file)

    def set(self, index, raw):
        part = self.torch.frombuffer(bytearray(raw), dtype=self.torch.uint8).view(self.array.dtype)
        self.array[index : index + 1] = part.cuda()

    def flush(self):
        self.elsewhere.max()

    def wait(self):
        self.torch.cuda.synchronize()

    @staticmethod
    def elapsed_us(start, end):
        return start.elapsed_time(end) * 1e3


class Cupy:
    def __init__(self):
        import cupy

        self.cupy = cupy
        cupy.cuda.Device(device).use()
        self.version = f"CuPy {cupy.__version__}"
        self.elements = {
            "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
            "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64",
        }
        self.ops = {"sum": cupy.sum, "min": cupy.min, "max": cupy.max}
        self.elsewhere = cupy.ones(flush_bytes // 4, dtype="int32")
        self.event = cupy.cuda.Event

    def load(self, file, element):
        import numpy

        self.array = self.cupy.asarray(numpy.fromfile(file, dtype=self.elements[element]))

    def set(self, index, raw):
        import numpy

        self.array[index] = numpy.frombuffer(raw, dtype=self.array.dtype)[0]

    def flush(self):
        self.elsewhere.max()

    def wait(self):
        self.cupy.cuda.Device().synchronize()

    def elapsed_us(self, start, end):
        return self.cupy.cuda.get_elapsed_time(start, end) * 1e3


def timed(library, events, op, n, cache, timing, calls):
    reduce, part = library.ops[op], library.array[:n]
    while len(events) < calls:
        events.append((library.event(), library.event()))
    if timing == "device":
        library.flush()
        if cache == "warm":
            reduce(part)
    for start, end in events[:calls]:
        if timing == "launch":
            library.wait()
        start.record()
        answer = reduce(part)
        end.record()
    library.wait()
    us = statistics.median(library.elapsed_us(start, end) for start, end in events[:calls])
    say(us=us, answer=repr(answer.item()))


def main():
    try:
        library = {"torch": Torch, "cupy": Cupy}[import_name]()
    except Exception as error:
        say(absent=f"{type(error).__name__}: {error}")
        return
    events = []
    say(version=library.version)
    for line in sys.stdin:
        order = json.loads(line)
        try:
            if "load" in order:
                library.load(order["load"], order["element"])
                say()
            elif "set" in order:
                library.set(order["set"], bytes.fromhex(order["bytes"]))
                say()
            else:
                timed(library, events, **order)
        except Exception as error:
            say(error=f"{type(error).__name__}: {error}")


main()
