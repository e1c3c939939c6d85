#!/usr/bin/env python3
"""instructions.py UNIT_WORK [GAMBREL TABLE.csv]: instructions for one unit of work, counted by valgrind's callgrind.

Each kind of work runs twice with different amounts; the difference leaves out start-up. With a second and third argument it also
counts one row of the table through `gambrel predict --layers TABLE.csv --csv -`, the start of `gambrel --version`, and whole commands
that predict or simulate one product.
"""
import re
import subprocess
import sys
import tempfile

WORK = {
    "fp32_prediction": (1000, 3000),
    "bf16_prediction": (1000, 3000),
    # What designs share has been met by then.
    "evaluation_of_fastest_tile": (8000, 16000),
    "evaluation_of_one_tile": (8000, 16000),
    "simulated_sector": (128, 512),
}


def counted(command):
    """Instructions that a command took, and what it printed."""
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command], capture_output=True, text=True, check=True
    )
    return int(re.search(r"Collected : (\d+)", run.stderr)[1]), run.stdout


def head(table, rows):
    with open(table, encoding="utf-8") as source:
        lines = [line for _, line in zip(range(rows + 1), source)]
    part = tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False)
    with part:
        part.writelines(lines)
    return part.name


def product(size):
    """A table with one product of size x size x size."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as one:
        one.write(f"op,precision,M,N,K\ngemm,fp32,{size},{size},{size}\n")
    return one.name


def main(unit_work, gambrel=None, table=None):
    for name, (few, many) in WORK.items():
        (start, first), (end, last) = (counted([unit_work, name, str(n)]) for n in (few, many))
        print(f"{name:30} {(end - start) / (int(last) - int(first)):12.0f}")
    if gambrel and table:
        few, many = 500, 1500
        start, end = (counted([gambrel, "predict", "-q", "--layers", head(table, n), "--csv", "-"])[0] for n in (few, many))
        print(f"{'csv_row':30} {(end - start) / (many - few):12.0f}")
        print(f"{'gambrel --version':30} {counted([gambrel, '--version'])[0]:12}")
        for command, size in (["predict"], 64), (["simulate", "--threads", "1"], 64), (["simulate", "--threads", "1"], 512):
            whole = [gambrel, *command, "-q", "--layers", product(size), "--gpu", "v100", "--csv", "-"]
            print(f"{command[0] + f' one product of {size}^3':30} {counted(whole)[0]:12}")


if __name__ == "__main__":
    main(*sys.argv[1:])
