"""The cost model of docs/many.md: fits it to records of `warpfold-bench many`, prints its tables.

    python3 docs/many.py benches/records/h200/2026-11-26/many/*.json

A call of P ranks on n elements of 4 bytes, in microseconds:

    time(n, P) = launch + 4 n / P / bandwidth + gather(P)
    gather(P)  = first + step * log2(P)       within a node, up to 8 GPUs
               + network * log2(nodes)        between nodes
               + P * (1 KiB / link + combine) what each rank receives and combines

`launch` and `bandwidth` are fitted to the calls on one GPU, by least squares of the relative error; `first + step` is the gather
that was measured on 2 GPUs. What two GPUs of one host cannot tell is assumed: `step`, `network`, `link` and `combine`, below.
"""

import json
import math
import sys

# Assumed: a step over NVLink is a store and a flag (NCCL's low-latency protocol); between nodes a message over InfiniBand and its
# way through the host's adapters.
STEP_US = 2.5
NETWORK_US = 8.0
LINK = 25e3  # bytes per us: a network adapter of 200 Gb/s
COMBINE_US = 0.1  # reading a message of 1 KiB and combining a few partials on one core
GPUS_OF_NODE = 8


def fit(rows):
    """Launch (us) and bandwidth (bytes per us) that minimise the squared relative error of launch + bytes / bandwidth."""
    points = [(4.0 * row["n"], row["one_us"]) for row in rows]
    # Relative errors: each equation divided by its time. Linear in launch and 1 / bandwidth.
    a = sum(1 / t**2 for b, t in points)
    b = sum(s / t**2 for s, t in points)
    d = sum(s * s / t**2 for s, t in points)
    e = sum(1 / t for _, t in points)
    f = sum(s / t for s, t in points)
    det = a * d - b * b
    launch, inverse = (e * d - b * f) / det, (a * f - b * e) / det
    return launch, 1 / inverse


def gather(ranks, measured):
    """The gather of 1 KiB of each rank."""
    if ranks == 1:
        return 0.0
    inside = min(ranks, GPUS_OF_NODE)
    nodes = ranks / inside
    steps = STEP_US * (math.log2(inside) - 1) + NETWORK_US * math.log2(nodes)
    return measured + steps + (ranks - 2) * (1024 / LINK + COMBINE_US)


def gather_by_node(ranks, measured):
    """The same in two steps: in each node, whose first rank joins the partials, then between these ranks, and back."""
    inside = min(ranks, GPUS_OF_NODE)
    nodes = ranks / inside
    if nodes == 1:
        return gather(ranks, measured)
    between = NETWORK_US * math.log2(nodes) + nodes * (1024 / LINK + COMBINE_US)
    return gather(inside, measured) + between + measured


def main(files):
    for name in files:
        with open(name) as file:
            record = json.load(file)
        for engine, ranks, measured in record["gather_us"]:
            rows = [row for row in record["rows"] if row["engine"] == engine and row["op"] == "sum"]
            if len(rows) < 3:
                continue
            launch, bandwidth = fit(rows)
            print(f"{name}: {engine}, {record['device']}, {record['date']}")
            print(f"launch {launch:.1f} us, bandwidth {bandwidth / 1e6:.3f} TB/s, gather of {ranks} ranks {measured:.1f} us\n")
            print("| n | one GPU, us | model | 2 GPUs, us | model |")
            print("|---|---|---|---|---|")
            for row in rows:
                one = launch + 4 * row["n"] / bandwidth
                two = launch + 4 * row["n"] / ranks / bandwidth + gather(ranks, measured)
                print(f"| 2^{math.log2(row['n']):g} | {row['one_us']:.1f} | {one:.1f} | {row['all_us']:.1f} | {two:.1f} |")
            print("\n| ranks | gather, us | by node, us | 2^33: us | speed-up | 2^40: us | efficiency |")
            print("|---|---|---|---|---|---|---|")
            for exponent in [1, 3, 4, 6, 8, 10, 12]:
                ranks_here = 2**exponent
                times = []
                for n in [2**33, 2**40]:
                    times.append(launch + 4 * n / ranks_here / bandwidth + gather(ranks_here, measured))
                speed = (launch + 4 * 2**33 / bandwidth) / times[0]
                efficiency = (launch + 4 * 2**40 / bandwidth) / times[1] / ranks_here
                print(
                    f"| {ranks_here} | {gather(ranks_here, measured):.0f} "
                    f"| {gather_by_node(ranks_here, measured):.0f} | {times[0]:.0f} | {speed:.1f} "
                    f"| {times[1]:.0f} | {100 * efficiency:.0f} % |"
                )
            print()


if __name__ == "__main__":
    main(sys.argv[1:])
