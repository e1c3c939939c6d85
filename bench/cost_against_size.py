#!/usr/bin/env python3
"""cost_against_size.py GAMBREL [CHART.svg]: CPU time and memory of gambrel over three decades of input.

Prints a Markdown table; with a second argument it also draws CPU time against size. Both axes are logarithmic, so cost that is
linear in size is a line as steep as the dashed ones. CPU time, not time by the clock: other programs on the machine matter less.
"""
import os
import subprocess
import sys
import tempfile
from math import log10

SHAPES = [(1024, 512, 768), (4096, 1024, 256), (128, 8192, 2048), (333, 777, 1111), (64, 64, 4096), (2048, 2048, 2048)]
GPUS = ["v100", "a100", "h100", "t4"]


def rows_of(count, folder):
    path = os.path.join(folder, "rows.csv")
    # Line by line: a program that is started is charged the memory of the one that starts it, so this one stays small.
    with open(path, "w", encoding="utf-8") as out:
        out.write("name,op,gpu,precision,M,N,K\n")
        for i in range(count):
            m, n, k = SHAPES[i % len(SHAPES)]
            out.write(f"layer {i},gemm,{GPUS[i % len(GPUS)]},fp32,{m + i % 97},{n},{k + i % 31}\n")
    return ["predict", "-q", "--layers", path, "--csv", "-"]


def multiplications_of(count, folder):
    path = os.path.join(folder, "one.csv")
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"op,precision,M,N,K\ngemm,fp32,{512 * count},512,512\n")
    return ["simulate", "-q", "--layers", path, "--gpu", "v100", "--csv", "-"]


def designs_of(count, _):
    space = "macs=1:4,l1.bandwidth=1:4,l2.bandwidth=1:4,l2.capacity=1:8,dram.bandwidth=1:4,clock=0.8:1.5"
    return ["explore", "resnet50", "--gpu", "v100", "--vary", space, "--search", "random", "--samples", str(count), "-q", "--json", "-"]


SERIES = [
    ("predict, rows of a table", rows_of, [200, 2_000, 20_000, 200_000]),
    ("explore, designs", designs_of, [200, 2_000, 20_000, 200_000]),
    ("simulate, multiples of a 512 x 512 x 512 product", multiplications_of, [1, 10, 100, 1_000]),
]


def cost(command):
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        process = subprocess.Popen(command, stdout=nowhere)
        _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)}: ended with status {status}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def drawn(results):
    width, height, left, bottom = 640, 400, 60, 350
    x_of = lambda decade: left + 180 * decade
    y_of = lambda seconds: bottom - 75 * (log10(seconds) + 2.5)
    colors = ["#1f6fb4", "#c4541b", "#2f7d32"]
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        '<text x="60" y="20" font-size="14">CPU time against size of input (both axes logarithmic)</text>',
    ]
    for power in range(-2, 2):
        y = y_of(10.0**power)
        out.append(f'<line x1="{left}" x2="620" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g} s</text>')
    for decade in range(4):
        out.append(f'<text x="{x_of(decade)}" y="{bottom + 18}" text-anchor="middle">x {10**decade}</text>')
    for (name, _, _), color, costs in zip(SERIES, colors, results):
        points = [(x_of(i), y_of(max(seconds, 0.004))) for i, (seconds, _) in enumerate(costs)]
        (x, y), rise = points[-1], 75 * 3
        out.append(f'<line x1="{x - 540}" x2="{x}" y1="{y + rise:.1f}" y2="{y:.1f}" stroke="{color}" stroke-dasharray="3 4" opacity="0.5"/>')
        out.append(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3.5" fill="{color}"/>' for a, b in points]
    for i, ((name, _, sizes), color) in enumerate(zip(SERIES, colors)):
        out.append(f'<rect x="80" y="{40 + 18 * i}" width="12" height="3" fill="{color}"/>')
        out.append(f'<text x="98" y="{46 + 18 * i}">{name}, from {sizes[0]:,}</text>')
    out.append(f'<text x="340" y="{bottom + 38}" text-anchor="middle">size; dashed: proportional to the last point</text></svg>')
    return "\n".join(out) + "\n"


def main(gambrel, chart=None):
    results = []
    print("| work | size | CPU time | memory |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, command_of, sizes in SERIES:
            results.append([])
            for size in sizes:
                results[-1].append(cost([gambrel, *command_of(size, folder)]))
                seconds, memory = results[-1][-1]
                print(f"| {name} | {size:,} | {seconds:.3f} s | {memory:.0f} MB |", flush=True)
    if chart:
        with open(chart, "w", encoding="utf-8") as out:
            out.write(drawn(results))


if __name__ == "__main__":
    main(*sys.argv[1:])
