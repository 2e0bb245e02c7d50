"""Times the reductions of PyTorch or CuPy for `warpfold-bench bench --peers torch,cupy`, `segments` and `axes`.

    python3 reductions.py torch|cupy DEVICE FLUSH_BYTES

Requests and responses are JSON, one per line. The first line of the output is {"version": ...} or
{"absent": reason}. Then come requests:

    {"load": [file, file], "element": "f32"}   loads both arrays; the second may be empty without dot products
    {"set": index, "bytes": hex}               overwrites an element of the first array
    {"op": "sum", "n": n, "cache": "cold", "timing": "device", "calls": 16}
    {"op": "sum", "shape": [2, 9], "axes": [1], "save": file, "rounds": [9, 3], "slow_us": 5e4}
    {"op": "sum", "offsets": file, "save": file, "rounds": [9, 3], "slow_us": 5e4}

The response is {} to the first two, {"us": time, "answers": [text, ...]} to the third, {"us": [time, ...]} to
the last two, and {"error": reason} to a request that fails. The last two reduce the first array along axes or
by offsets of u32, and save the results; an index is an i32. After a call that is not timed there are as many
rounds as the first number says, or the second if a call takes more than `slow_us`. Times are between events
on the stream:

    "device"    around all calls, divided by their number. Flushes of the caches before them keep the device
                busy while the host enqueues. "cold": each call reads its own copy, which nothing has read
                since, and has its own answer. "warm": all calls read one array, as does a call before them
    "launch"    around each call on an idle stream; the median
    "stream"    around each of several calls without a wait in between; the median
"""

import json
import os
import statistics
import sys

import_name, device, flush_bytes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

PAGE_BYTES = 2 << 20
MAX_FLUSHES = 16


def respond(**line):
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
        self.ops = {
            "sum": torch.sum, "min": torch.amin, "max": torch.amax,
            "arg_min": torch.argmin, "arg_max": torch.argmax,
            "dot": torch.dot, "mean_variance": lambda x: torch.var_mean(x, correction=0),
        }
        self.flush_array = torch.ones(flush_bytes // 4, dtype=torch.int32, device="cuda")
        self.event = lambda: torch.cuda.Event(enable_timing=True)

    def load(self, file, element):
        size = os.path.getsize(file)
        if size == 0:
            return None
        array = self.torch.from_file(file, dtype=self.torch.uint8, size=size).cuda()
        return array.view(self.elements[element])

    def of_bytes(self, raw, like):
        return self.torch.frombuffer(bytearray(raw), dtype=self.torch.uint8).view(like.dtype).cuda()

    def empty(self, length, like):
        return self.torch.empty(length, dtype=like.dtype, device="cuda")

    def offsets(self, file):
        offsets = self.load(file, "i32")
        # PyTorch has no sums by offsets of u32. The last offset is the largest.
        return offsets if offsets[-1].item() >= 0 else offsets.to(self.torch.int64) & 0xFFFFFFFF

    def by_offsets(self, x, offsets):
        return self.torch.segment_reduce(x, "sum", offsets=offsets, axis=0, unsafe=True)

    def save(self, answer, file):
        answer = answer.to(self.torch.int32) if answer.dtype == self.torch.int64 else answer
        saved = self.torch.from_file(file, shared=True, size=answer.numel(), dtype=answer.dtype)
        saved.copy_(answer.reshape(-1))

    def wait(self):
        self.torch.cuda.synchronize()

    @staticmethod
    def is_done(event):
        return event.query()

    @staticmethod
    def elapsed_us(start, end):
        return start.elapsed_time(end) * 1e3

    @staticmethod
    def text(answer):
        if isinstance(answer, tuple):
            variance, mean = answer
            return f"{mean.item()!r} {variance.item()!r}"
        return repr(answer.item())


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
        self.ops = {
            "sum": self.sum, "min": cupy.min, "max": cupy.max, "arg_min": cupy.argmin, "arg_max": cupy.argmax,
            "dot": cupy.dot,
        }
        self.flush_array = cupy.ones(flush_bytes // 4, dtype="int32")
        self.event = cupy.cuda.Event

    def sum(self, x, axis=None):
        # By default CuPy rounds the partials of an f16 sum to f16; warpfold, CUB and PyTorch keep f32.
        return self.cupy.sum(x, axis, dtype="float32" if x.dtype == "float16" else None)

    def load(self, file, element):
        import numpy

        array = numpy.fromfile(file, dtype=self.elements[element])
        return self.cupy.asarray(array) if array.size else None

    def of_bytes(self, raw, like):
        import numpy

        return self.cupy.asarray(numpy.frombuffer(raw, dtype=like.dtype))

    def empty(self, length, like):
        return self.cupy.empty(length, dtype=like.dtype)

    def save(self, answer, file):
        answer = answer.astype("int32") if answer.dtype == "int64" else answer
        self.cupy.asnumpy(answer).tofile(file)

    def wait(self):
        self.cupy.cuda.Device().synchronize()

    @staticmethod
    def is_done(event):
        return event.done

    def elapsed_us(self, start, end):
        return self.cupy.cuda.get_elapsed_time(start, end) * 1e3

    @staticmethod
    def text(answer):
        return repr(answer.item())


class Bench:
    def __init__(self, library):
        self.library = library
        self.arrays = []
        self.events = []
        # Copies of the current arrays, by number of elements and of calls.
        self.copies = {}
        self.flushes = {}

    def load(self, load, element):
        self.copies.clear()
        # Frees the old arrays before the new ones are allocated.
        self.arrays = []
        if element not in self.library.elements:
            raise ValueError(f"has no {element}")
        self.arrays = [self.library.load(file, element) for file in load]

    def set(self, set, bytes):
        self.copies.clear()
        array = self.arrays[0]
        array[set : set + 1] = self.library.of_bytes(bytearray.fromhex(bytes), array)

    def inputs(self, op, n, count):
        """Makes `count` copies of the operator's arrays, each on its own pages."""
        arrays = self.arrays if op == "dot" else self.arrays[:1]
        if count == 1:
            return [[array[:n] for array in arrays]]
        key = (len(arrays), n, count)
        if key not in self.copies:
            self.copies.clear()
            self.copies[key] = [[] for _ in range(count)]
            for array in arrays:
                page = PAGE_BYTES // array.itemsize
                stride = (n + page - 1) // page * page
                memory = self.library.empty(stride * count, array)
                for index, copy in enumerate(self.copies[key]):
                    copy.append(memory[index * stride : index * stride + n])
                    copy[-1][:] = array[:n]
        return self.copies[key]

    def time(self, op, n, cache, timing, calls):
        reduce = self.library.ops[op]
        while len(self.events) < calls:
            self.events.append((self.library.event(), self.library.event()))
        if timing == "device":
            us, answers = self.batch(reduce, (op, n, cache), calls)
        else:
            us, answers = self.each(reduce, self.inputs(op, n, 1)[0], timing, calls)
        respond(us=us, answers=[self.library.text(answer) for answer in answers])

    def parts(self, op, save, rounds, slow_us, shape=None, axes=None, offsets=None):
        x = self.arrays[0]
        if offsets is None:
            x = x.reshape(shape)
            # Indices are along one axis.
            along = tuple(axes) if op == "sum" else axes[0]
            call = lambda: self.library.ops[op](x, axis=along)
        else:
            offsets = self.library.offsets(offsets)
            call = lambda: self.library.by_offsets(x, offsets)
        start, end = self.library.event(), self.library.event()
        times = []
        # The first call loads the kernels and makes room.
        for round in range(1 + max(rounds)):
            answer = None
            self.library.wait()
            start.record()
            answer = call()
            end.record()
            self.library.wait()
            if round > 0:
                times.append(self.library.elapsed_us(start, end))
                if len(times) >= rounds[times[-1] > slow_us]:
                    break
        self.library.save(answer, save)
        respond(us=times)

    def batch(self, reduce, what, calls):
        op, n, cache = what
        is_warm = cache == "warm"
        inputs = self.inputs(op, n, 1) * calls if is_warm else self.inputs(op, n, calls)
        flushes = self.flushes.setdefault((what, calls), 1)
        start, end = self.events[0]
        for _ in range(flushes):
            self.library.flush_array.max()
        if is_warm:
            reduce(*inputs[0])
        start.record()
        answers = [reduce(*arrays) for arrays in inputs]
        end.record()
        if self.library.is_done(start):
            # The device reached the batch before the host had enqueued it.
            self.flushes[(what, calls)] = min(2 * flushes, MAX_FLUSHES)
        self.library.wait()
        return self.library.elapsed_us(start, end) / calls, answers

    def each(self, reduce, arrays, timing, calls):
        for start, end in self.events[:calls]:
            if timing == "launch":
                self.library.wait()
            start.record()
            answer = reduce(*arrays)
            end.record()
        self.library.wait()
        times = [self.library.elapsed_us(start, end) for start, end in self.events[:calls]]
        return statistics.median(times), [answer]


def main():
    try:
        bench = Bench({"torch": Torch, "cupy": Cupy}[import_name]())
    except Exception as error:
        respond(absent=f"{type(error).__name__}: {error}")
        return
    respond(version=bench.library.version)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "load" in request:
                bench.load(**request)
                respond()
            elif "set" in request:
                bench.set(**request)
                respond()
            elif "save" in request:
                bench.parts(**request)
            else:
                bench.time(**request)
        except Exception as error:
            respond(error=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
