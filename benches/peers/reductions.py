"""Times the reductions of PyTorch or CuPy for `warpfold-bench bench --peers torch,cupy`.

    python3 reductions.py torch|cupy DEVICE FLUSH_BYTES

Speaks JSON, a line each way. It begins with {"version": ...} or {"absent": reason}. Then it answers

    {"load": file, "element": "f32"}           with {}: the file's elements are the array from now on
    {"set": index, "bytes": hex}               with {}: so is this element
    {"op": "sum", "n": n, "cold": bool, "busy": bool}
                                               with {"us": time, "answer": text}

or with {"error": reason}, and goes on. A time is the device's own, between two events: `cold` empties the
caches first, `busy` keeps the device busy while the host enqueues.
"""

import json
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
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]

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

    def record(self, which):
        self.events[which].record()

    def elapsed_us(self):
        self.events[1].synchronize()
        return self.events[0].elapsed_time(self.events[1]) * 1e3


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
        self.events = [cupy.cuda.Event() for _ in range(2)]

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

    def record(self, which):
        self.events[which].record()

    def elapsed_us(self):
        self.events[1].synchronize()
        return self.cupy.cuda.get_elapsed_time(*self.events) * 1e3


def timed(library, op, n, cold, busy):
    reduce, part = library.ops[op], library.array[:n]
    if busy:
        library.flush()
        if not cold:
            reduce(part)
    else:
        # The device may have been another process's, and takes its time to change.
        reduce(part)
        library.wait()
    library.record(0)
    answer = reduce(part)
    library.record(1)
    us = library.elapsed_us()
    say(us=us, answer=repr(answer.item()))


def main():
    try:
        library = {"torch": Torch, "cupy": Cupy}[import_name]()
    except Exception as error:
        say(absent=f"{type(error).__name__}: {error}")
        return
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
                timed(library, order["op"], order["n"], order["cold"], order["busy"])
        except Exception as error:
            say(error=f"{type(error).__name__}: {error}")


main()
